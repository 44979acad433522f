"""Gradient checks to be watched: what the step h does, what a cotangent sees, and each operation checked live."""
