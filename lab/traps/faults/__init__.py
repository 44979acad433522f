"""Engines and training loops that are each broken in exactly one way, compared with the healthy ones."""
