"""The report of a change for its reviewers: the effects on every stack as data, and as one Markdown
page."""
