"""The engine: contract, state machines, loop, courier and store."""
