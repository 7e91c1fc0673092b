"""Fixed policies beside a stack's settings, and the search for settings that cost least."""
