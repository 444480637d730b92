"""Traces for an OpenTelemetry collector. Nothing here is imported unless they are turned on."""
