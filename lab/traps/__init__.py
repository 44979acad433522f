"""What people fall into: writes in place, cuts, the life of a tensor; in faults/, engines and loops with one fault."""

from lab.traps.fingerprints import detect_mutation

__all__ = ["detect_mutation"]
