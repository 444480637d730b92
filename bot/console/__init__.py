"""What operators see and use in a browser and by API, and the health checks."""
