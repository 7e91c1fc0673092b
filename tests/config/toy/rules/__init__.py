"""Checks that are about the drawn cloud only."""
