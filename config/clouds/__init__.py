"""One folder a cloud: settings, traits, machines, rules. Only the registry knows the clouds."""
