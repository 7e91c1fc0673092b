"""Defaults and guard of pods' placement, quotas, and the contract with users' tools."""
