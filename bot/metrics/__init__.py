"""What the process tells about its work, for Prometheus."""
