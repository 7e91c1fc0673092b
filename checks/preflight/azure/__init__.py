"""AKS' questions before the first `up`."""
