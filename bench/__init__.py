"""Measures the times and sizes the README reports; asserts nothing."""
