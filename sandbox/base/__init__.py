"""Home, locks, files, errors, notices."""
