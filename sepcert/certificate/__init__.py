"""Certificates: their parts, and their strict JSON."""
