"""The machinery of every emulated cloud: contract of providers, memory, resource types, rules, quotas, operations, node groups."""
