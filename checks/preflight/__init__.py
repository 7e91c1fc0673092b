"""`preflight`: whether an account in a cloud has room, rights and names for a stack, before money
is spent (ADR 28)."""
