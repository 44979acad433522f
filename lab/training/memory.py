"""Memory of a process: what a training step frees is kept for the next step."""

import contextlib
import ctypes
import sys

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # names of two settings in the GNU C library's malloc.h
MAX_KEPT = 256 << 20  # bytes that stay with the process although nothing uses them
MAX_KEPT_ARRAY = 32 << 20  # bytes of the largest array whose memory can stay: the largest that mallopt takes


def keep_freed_memory() -> None:
    """Let this process keep freed memory; call it in a process that only trains. It does nothing without GNU's malloc.

    Every step makes new arrays and frees those of the step before. As soon as a few 100 kB at the end of the heap are
    free, malloc returns them to the system, and the next step gets them back page by page: whether that happens depends
    on where the arrays happen to lie, and it doubles the time of a step of a network of 784-128-10.
    """
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError, OSError):  # another C library
            mallopt = ctypes.CDLL(None).mallopt
            mallopt(M_TRIM_THRESHOLD, MAX_KEPT)
            mallopt(M_MMAP_THRESHOLD, MAX_KEPT_ARRAY)
