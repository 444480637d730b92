"""The conformance suite of the protocol against our client."""
