"""HTTP of operators: API, health checks, connections."""
