"""Reads a stack file: settings in, a checked spec or all problems out."""
