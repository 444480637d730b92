"""The Matrix channel's package, without a homeserver; `make cuts` runs its contract on a real one."""
