"""Pictures and pages, made of text alone."""
