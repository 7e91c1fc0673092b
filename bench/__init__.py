"""Measures the times and sizes of docs/reference/figures.md; asserts nothing."""
