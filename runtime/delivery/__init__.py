"""The way out: couriers that show deliveries exactly once."""
