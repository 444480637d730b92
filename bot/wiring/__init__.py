"""Settings turned into the parts that use them."""
