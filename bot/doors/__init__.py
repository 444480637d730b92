"""Doors for programs: tokens, the REST API, and what speaks as other APIs do. Loaded with the first request to one."""
