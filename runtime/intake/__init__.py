"""The way in: signals taken in, lanes dispatched, files fetched."""
