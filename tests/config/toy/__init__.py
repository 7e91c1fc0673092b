"""A drawn cloud, for the test of the seam: two machines, one rule."""
