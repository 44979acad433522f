"""What people fall into: writes in place, names and arrays, cuts of the graph, the life of a tensor, messages."""

from lab.traps.fingerprints import detect_mutation

__all__ = ["detect_mutation"]
