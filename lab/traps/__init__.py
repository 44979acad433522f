"""Common traps: writes in place, cut graphs, states of a parameter in training; faults/ has engines with one fault."""

from lab.traps.write_detection import MutationError, detect_mutation

__all__ = ["MutationError", "detect_mutation"]
