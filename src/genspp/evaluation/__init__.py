"""Metrics and tests, each defined once."""
