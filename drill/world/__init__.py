"""The world of a drill as data: scenario, capacity, work, and the record of what happened."""
