"""Settings of this installation: whether the server is open to other machines, and where its training runs are kept."""

from __future__ import annotations

import ipaddress
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

ROOT = Path(__file__).resolve().parents[1]  # the project's folder, whatever folder it was started from
HOSTED = "TENSOR_LAB_HOSTED"  # environment variable
MAX_OPEN_FILES = 4096
# For the environment of processes that share the processors: NumPy's arithmetic takes one thread in each
ONE_THREAD = MappingProxyType({f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")})


def start_process(module: str) -> subprocess.Popen[bytes]:
    """Start a process that runs a module of the lab, which one reads from and writes to; Ctrl-C does not reach it."""
    return subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env=os.environ | ONE_THREAD,
        start_new_session=True,
    )


def hosted() -> bool:
    """Return whether this server is open to people who do not own the machine.

    Such a server runs learners' code only in bubblewrap. TENSOR_LAB_HOSTED=1 or 0 decides; without it,
    `detect_hosted` decides at the start.
    """
    return os.environ.get(HOSTED, "").strip().lower() not in ("", "0", "false", "no", "off")


def detect_hosted(address: str | None, allowed_hosts: Sequence[str] = ()) -> None:
    """Make this a hosted server if other machines can reach it, unless TENSOR_LAB_HOSTED already says yes or no.

    address: what the server listens on, None for every network; allowed_hosts: other names it answers to.
    """
    names = [address or "0.0.0.0", *allowed_hosts]
    if not os.environ.get(HOSTED, "").strip() and not all(is_this_machine(name) for name in names):
        os.environ[HOSTED] = "1"  # in the environment, so that child processes read it too


def is_this_machine(name: str) -> bool:
    """Return whether only programs on this machine can reach an address or host name: localhost, 127.0.0.1, ::1."""
    try:
        return ipaddress.ip_address(name.strip().strip("[]")).is_loopback
    except ValueError:
        return name.strip().lower() == "localhost"


def allow_open_files() -> None:
    """Let this process open as many files as the system allows, up to MAX_OPEN_FILES.

    A server keeps some open for each visitor, and for a while after they leave; the default on macOS is 256.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    limit, max_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_OPEN_FILES if max_limit == resource.RLIM_INFINITY else min(max_limit, MAX_OPEN_FILES)
    if limit != resource.RLIM_INFINITY and limit < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, max_limit))
