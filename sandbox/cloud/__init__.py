"""What every emulated cloud is made of."""
