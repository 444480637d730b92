"""Settings of what keeps people and secrets safe."""
