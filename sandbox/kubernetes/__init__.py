"""The Pulumi `kubernetes` provider over a real API server, and the sandbox's own access to that server."""
