"""One file a resource type of Google Cloud, and the rules that belong to it."""
