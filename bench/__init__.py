"""Measures the times and sizes of docs/figures.md; asserts nothing."""
