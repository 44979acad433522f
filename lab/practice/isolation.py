"""Hides everything from a learner's code but Python and NumPy, with bubblewrap where that works.

Where it does not, the kernel's filter (lab/practice/syscalls.py) still refuses every write and connection, but the code
can read what its user can read.
"""

from __future__ import annotations

import functools
import glob
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

from lab.config import ONE_THREAD, ROOT, hosted
from lab.practice import driver, syscalls

IMPORTED_FROM = ROOT.parents[0] if __name__.count(".") > 2 else ROOT  # the folder in which the names of modules begin
LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", f"{sys.base_prefix}/lib")
PYTORCH = ("torch", "torchgen", "functorch", "sympy", "mpmath", "typing_extensions.py")  # with what it imports
# Python unbuffered, without this project and without site-packages
PYTHON = (os.path.realpath(sys.executable), "-s", "-S", "-P", "-B", "-u", "-X", "utf8")

NO_PROCESS = (
    "Your code cannot run here: that needs Linux or macOS (on Windows, the Windows Subsystem for Linux). "
    "Download the files and check them there."
)
NO_BUBBLEWRAP = (
    "Your code cannot run here: this server is for several people and lacks bubblewrap, which would isolate the code. "
    "Download the files and check them on your own machine."
)
UNCONFINED = (
    "Here nothing would keep the code from changing your files or using the network. That needs Linux on x86-64 or "
    "ARM, or bubblewrap."
)
ISOLATED = "Your code runs in a process of its own, without network and without access to your files."
OWN_RIGHTS = (
    "Your code runs in a process of its own, on this machine and with your rights: it can read what you can read."
)


def unavailable() -> str:
    """Return why no learner's code can run here, in words for the page; "" if it can."""
    if os.name != "posix":
        return NO_PROCESS
    return NO_BUBBLEWRAP if hosted() and not bubblewrap_works() else ""


def isolation() -> str:
    """Describe in a sentence for the page how the code is isolated."""
    return ISOLATED if bubblewrap_works() else OWN_RIGHTS


def unconfined() -> str:
    """Return why only limits would hold a learner's code on this machine; "" if bubblewrap or the kernel does."""
    return "" if bubblewrap_works() or syscalls.instructions() else UNCONFINED


@functools.cache
def bubblewrap_works() -> bool:
    """Return whether bubblewrap works here. It is then always used, also on a learner's own machine: it costs only a
    few milliseconds and protects learners from their own mistakes."""
    if not shutil.which("bwrap"):
        return False
    command = [*bubblewrap(), *PYTHON, "-c", "import numpy"]
    try:
        return subprocess.run(command, env=environment(), capture_output=True, timeout=90).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def environment(watches: str = "") -> dict[str, str]:
    """Return all that the process is told: where its modules are, and that arithmetic has one thread."""
    places = os.pathsep.join(map(str, [_packages(), IMPORTED_FROM] if watches else [_packages()]))
    # Optimizers of PyTorch load its compiler, which looks for a folder that exists and never writes to it here
    return {"PYTHONPATH": places, "TORCHINDUCTOR_CACHE_DIR": "/"} | ONE_THREAD


def _packages() -> Path:
    return Path(np.__file__).resolve().parents[1]


def bubblewrap(watches: str = "") -> list[str]:
    """Return the command prefix that isolates a command: no network, no other processes, no rights, no /proc, and
    read-only access to nothing but the system's libraries, Python's own modules, NumPy and the driver; for one that
    watches, also PyTorch and what records its passes. Other packages and this project are hidden where they lie among
    the libraries."""
    shown = ["/etc/ld.so.cache", "/etc/alternatives", PYTHON[0]]
    shown += ["/proc/cpuinfo"] if watches == driver.TORCH else []  # else PyTorch would round otherwise than outside
    packages = ("numpy", "numpy.libs", *(PYTORCH if watches == driver.TORCH else ()))
    own = [str(ROOT / name) for name in ("__init__.py", "model.py", "nn.py", "lab")] if watches else [driver.__file__]
    needed = [*(str(_packages() / name) for name in packages), *own]
    kept = [os.path.realpath(library) for library in LIBRARIES]
    hidden = {os.path.realpath(path) for library in kept for path in glob.glob(f"{library}/python*/*-packages")}
    hidden |= {str(ROOT)} if any(ROOT.is_relative_to(library) for library in kept) else set()
    command = [shutil.which("bwrap") or "bwrap", "--unshare-all", "--unshare-user", "--uid", "65534", "--gid", "65534"]
    command += ["--new-session", "--die-with-parent", "--cap-drop", "ALL", "--hostname", "practice"]
    for file in (*LIBRARIES, *shown):
        if os.path.islink(file):
            command += ["--symlink", os.readlink(file), file]
        else:
            command += ["--ro-bind-try", file, file]
    command += [word for path in sorted(hidden) for word in ("--tmpfs", path)]
    command += [word for file in needed for word in ("--ro-bind-try", file, file)]
    devices = ["/dev/null", *(["/dev/urandom"] if watches == driver.TORCH else [])]
    command += [word for device in devices for word in ("--dev-bind", device, device)]
    return [*command, "--dir", "/.practice", "--chdir", "/.practice", "--remount-ro", "/"]
