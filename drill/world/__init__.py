"""The world of a drill as data: scenario, capacity, work and record."""
