"""Settings of parts that keep people and secrets safe."""
