"""The settings: read, checked and explained."""
