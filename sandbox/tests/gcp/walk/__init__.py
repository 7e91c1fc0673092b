"""The rows of the walk over the rules of Google Cloud, by what they are about."""
