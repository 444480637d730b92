"""Commands in containers of docker or podman."""
