"""A process that trains keeps the memory that a step frees."""

import ctypes
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
GNU = sys.platform == "linux" and hasattr(ctypes.CDLL(None), "mallopt")
pytestmark = pytest.mark.skipif(not GNU, reason="only the GNU C library returns so little memory so often")
STEPS, ARRAYS = 50, 10
PAGES = ARRAYS * 400_000 // 4096  # of the arrays that a step makes and frees
HERE = "print(fresh_pages())"
USUAL = {
    "process": HERE,
    "process of a pool": """from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
with ProcessPoolExecutor(1, get_context("spawn")) as pool:
    print(pool.submit(fresh_pages).result())""",
}
TRAINS = {
    "train.py": f"from lab.training import cli; cli.main(['doctor', 'gone'])\n{HERE}",
    "page": f"""import sys
from lab.training import worker
out, sys.stdin = sys.stdout, open("/dev/null")
worker.main()
sys.stdout = out
{HERE}""",
    "sweep": """from lab.training.sweep import local_workers
with local_workers(1) as workers:
    print(workers.submit(fresh_pages).result())""",
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


def printed(program: str) -> int:
    """Run a program in a process of its own, where no test has freed memory or made another module `__main__`."""
    command = [sys.executable, "-c", f"from tests.unit.training.test_memory import fresh_pages\n{program}"]
    return int(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()[-1])


@pytest.mark.exhaustive
@pytest.mark.parametrize("program", USUAL.values(), ids=USUAL)
def test_a_usual_process_gets_its_memory_anew_at_each_step(program):
    """Else the tests below could not fail."""
    assert printed(program) > STEPS * PAGES / 4


@pytest.mark.sample(1)
@pytest.mark.parametrize("program", TRAINS.values(), ids=TRAINS)
def test_a_process_that_trains_keeps_it(program):
    assert printed(program) < PAGES
