"""What the tests of training share."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from lab.training import summary_picture, sweep


@pytest.fixture
def workers_in_this_process(monkeypatch):
    """A sweep trains its runs in this process, one after the other: for tests of what it leaves behind.

    Each worker process takes 2 s of processor time to begin, and test_sweep.py tests them.
    """
    monkeypatch.setattr(sweep, "local_workers", lambda runs: ThreadPoolExecutor(1))


@pytest.fixture
def pictures_once(monkeypatch):
    """The pictures of runs of the same kind are drawn once: for tests of what else a run prints and leaves behind.

    Each takes 0.4 s of processor time. test_summary_picture.py tests what is drawn.
    """
    monkeypatch.setattr(summary_picture, "run_picture", _drawn_once)


_draw = summary_picture.run_picture
_pictures: dict[tuple[object, ...], bytes] = {}


def _drawn_once(records, title, *drawn):
    last = records[-1]
    finite = [last[name] is not None for name in ("train_loss", "val_loss", "train_accuracy", "val_accuracy")]
    kind = (len(records) > 3, title.isascii(), *last["grad_norm"], *finite, *drawn)
    if kind not in _pictures:
        _pictures[kind] = _draw(records, title, *drawn)
    return _pictures[kind]
