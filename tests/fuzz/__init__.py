"""Mutated stack files: the loader and the emulated clouds must come to terms with each."""
