"""Home, locks, files, errors."""
