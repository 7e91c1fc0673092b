"""A policy pack: rules that every stack keeps, whatever its file and its program say (docs/policy.md).

It reads what is declared to the engine and shares no code with the program that declares it.
"""
