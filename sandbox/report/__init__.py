"""What a change would do to every stack, for whoever reviews it: found, written as data, and drawn as one Markdown page."""
