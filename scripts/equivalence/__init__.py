"""Comparison of a compiled program with the one-rank program of its graph (scripts/check)."""
