"""A policy pack: rules that every stack keeps, whatever its file and program say (docs/delivery.md).

It reads what is declared to the engine and shares no code with the program.
"""
