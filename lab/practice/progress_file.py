"""The file of a learner's progress, as static/progress/file.js reads and writes it."""

from __future__ import annotations


def hashed(text: str) -> str:
    """Return the 32-bit FNV-1a hash of a text in hexadecimal, as static/progress/hash.js computes it."""
    hash_ = 0x811C9DC5
    # A browser sends half a character (a lone surrogate) as U+FFFD.
    for byte in text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode():
        hash_ = (hash_ ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{hash_:08x}"
