"""One file an algorithm, named as in the literature."""
