"""The real Pulumi engine over the unmodified program and the emulated clouds."""
