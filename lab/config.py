"""How this installation is set up: who may use the server, and where its runs lie. Every other part asks here."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]  # of the project, whatever folder it was started from
HOSTED, RUNS = "TENSOR_LAB_HOSTED", "TENSOR_LAB_RUNS"  # environment variables
MAX_OPEN_FILES = 4096


def hosted() -> bool:
    """True on a server for visitors who do not own the machine.

    Such a server runs a learner's code in bubblewrap or not at all, takes no paths of its folders from a visitor, and
    lets nobody rename or delete the runs that all see. TENSOR_LAB_HOSTED=1 or 0 decides; without it, `detect_hosted`
    has decided when the server started.
    """
    return os.environ.get(HOSTED, "").strip().lower() not in ("", "0", "false", "no", "off")


def detect_hosted(address: str | None, allowed_hosts: Sequence[str] = ()) -> None:
    """Make this a hosted server if other machines can reach it, unless TENSOR_LAB_HOSTED already says yes or no.

    address: what the server listens on, None for every network; allowed_hosts: further names it answers to.
    """
    names = [address or "0.0.0.0", *allowed_hosts]
    if not os.environ.get(HOSTED, "").strip() and not all(is_this_machine(name) for name in names):
        os.environ[HOSTED] = "1"  # the processes that this one starts read it, too


def is_this_machine(name: str) -> bool:
    """True for an address or host name that only programs on this machine can reach: localhost, 127.0.0.1, ::1."""
    try:
        return ipaddress.ip_address(name.strip().strip("[]")).is_loopback
    except ValueError:
        return name.strip().lower() == "localhost"


def allow_open_files() -> None:
    """Let this process open as many files as the system allows, up to MAX_OPEN_FILES.

    A server has some for each visitor, also for a while after they have left; macOS allows 256 if nobody asks.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_OPEN_FILES if most == resource.RLIM_INFINITY else min(most, MAX_OPEN_FILES)
    if now != resource.RLIM_INFINITY and now < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def runs_folder() -> Path:
    """The folder with the runs that the app shows and keeps: TENSOR_LAB_RUNS, or `runs` next to the code."""
    return Path(os.environ.get(RUNS) or ROOT / "runs")
