"""One folder a channel: wire to Signal, Delivery to wire."""
