"""A process that trains keeps the memory that a step frees."""

import ctypes
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from lab.training.sweep import local_workers

ROOT = Path(__file__).resolve().parents[3]
GNU = sys.platform == "linux" and hasattr(ctypes.CDLL(None), "mallopt")
pytestmark = pytest.mark.skipif(not GNU, reason="only the GNU C library returns so little memory so often")
STEPS, ARRAYS = 50, 10
PAGES = ARRAYS * 400_000 // 4096  # of the arrays that a step makes and frees
BEGINNINGS = {
    "train.py": "import train; train.main(['doctor', 'gone'])",
    "page": "import sys; from lab.training import worker; out = sys.stdout; sys.stdin = open('/dev/null'); "
    "worker.main(); sys.stdout = out",
}


def fresh_pages(_: object = None) -> int:
    """How many pages the system gives this process during some steps, after the first."""
    import resource  # which only Unix has

    def step() -> None:
        [np.ones(100_000, np.float32) for _ in range(ARRAYS)]

    step()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(STEPS):
        step()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def fresh_pages_after(begin: str) -> int:
    program = f"{begin}\nfrom tests.unit.training.test_memory import fresh_pages\nprint(fresh_pages())"
    command = [sys.executable, "-c", program]
    return int(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()[-1])


def test_a_usual_process_gets_its_memory_anew_at_each_step():
    """Else the tests below could not fail."""
    assert fresh_pages_after("") > STEPS * PAGES / 4
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        assert pool.submit(fresh_pages).result() > STEPS * PAGES / 4


@pytest.mark.parametrize("begin", BEGINNINGS.values(), ids=BEGINNINGS)
def test_a_process_that_trains_keeps_it(begin):
    assert fresh_pages_after(begin) < PAGES


def test_the_processes_of_a_sweep_keep_it():
    with local_workers(1) as workers:
        assert workers.submit(fresh_pages).result() < PAGES
