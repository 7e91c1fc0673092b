"""The reference of the stack file: its page and its JSON Schema, both generated from the models."""
