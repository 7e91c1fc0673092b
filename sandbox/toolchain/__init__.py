"""The real programs the sandbox runs, and how they are built."""
