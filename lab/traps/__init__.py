"""Common traps: writes in place, cut graphs, states of a parameter in training; faults/ has engines with one fault."""

from lab.traps.fingerprints import detect_mutation

__all__ = ["detect_mutation"]
