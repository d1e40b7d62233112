"""From the floating-point engine to proposals for the exact stage: what is tried, in which order, and why."""
