"""What turns a floating-point proposal into exact evidence."""
