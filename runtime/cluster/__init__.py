"""Nodes: leases, wake-ups and the poller of due work."""
