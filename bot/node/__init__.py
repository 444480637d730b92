"""This node on its machine: lock, membership, watchdog, service manager."""
