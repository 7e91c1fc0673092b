"""The emulated resource types, one file a family, and the table of them."""
