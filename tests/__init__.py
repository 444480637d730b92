"""Tests: unit, contract, wire, faults, e2e; and the fakes they talk to."""
