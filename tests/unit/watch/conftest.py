"""What the tests of the watcher share."""

import gc
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def what_other_tests_left_is_not_searched():
    """The watcher looks at all objects at the end of each program, and one test collects garbage for each: those that
    are there now need not be looked at.

    What PyTorch imports for the first optimizer or compiler is more than all that a program makes.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture
def watched_script(monkeypatch, capsys):
    """watched_script(*arguments): what `python -m lab.watch` prints with them.

    It runs in this process: one of its own takes 4 s of processor time to import PyTorch, and test_command_line has one.
    """
    import torch  # not installed everywhere

    from lab.watch.__main__ import main

    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", sys.argv)  # both are set for the script, and set back here
    monkeypatch.setattr(sys, "path", [*sys.path])

    def run(*arguments):
        with torch.enable_grad():  # set back, should the script leave it off
            main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return said.out + said.err

    return run
