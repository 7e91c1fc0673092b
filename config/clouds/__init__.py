"""One folder a cloud: settings, traits, machines and rules. Only the registry knows which clouds exist."""
