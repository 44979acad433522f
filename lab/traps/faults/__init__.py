"""Engines and training loops that are broken in exactly one way each, and the healthy one beside them."""
