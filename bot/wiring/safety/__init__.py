"""What keeps people and secrets safe, made of settings."""
