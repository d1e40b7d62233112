"""Use cases above `check`, one a file; the command line only words their results."""
