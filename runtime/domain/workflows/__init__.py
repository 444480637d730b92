"""Workflows: steps that run in an order, one after another or side by side. Pure: nothing here is called or stored."""
