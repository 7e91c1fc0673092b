"""Checks of a record: each module judges one side of it, and all of them read it through `View`."""
