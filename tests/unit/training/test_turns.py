"""The fair queue: one place for each visitor, in the order in which they ask."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from lab.training.turns import NoTurn, Turns


@pytest.mark.parametrize(
    ("places", "asking", "served"),
    [
        (2, "aab", "ab"),  # the second of a visitor waits, even if nobody else could use the place
        (3, "aaaaaaaab", "ab"),
        (2, "abcab", "ab"),
        (1, "ba", "b"),
        (3, "", ""),
    ],
)
def test_each_visitor_has_one_place(places, asking, served):
    turns, leave = Turns(places), threading.Event()
    having, asked = [], threading.Semaphore(0)

    def ask(visitor):
        with turns.turn(visitor, 20):
            having.append(visitor)
            asked.release()
            leave.wait(20)

    with ThreadPoolExecutor(len(asking) or 1) as visitors:
        work = []
        for number, visitor in enumerate(asking):
            work.append(visitors.submit(ask, visitor))
            while len(having) + turns.waiting <= number:
                pass
        for _ in served:
            asked.acquire(timeout=20)
        assert "".join(having) == served
        leave.set()
        for one in work:
            one.result()
    assert sorted(having) == sorted(asking)


def test_who_waits_too_long_is_told_and_holds_up_nobody():
    turns = Turns(1)
    with turns.turn("a", 1):
        for visitor in "ab":
            with pytest.raises(NoTurn), turns.turn(visitor, 0.01):
                pass
    with turns.turn("b", 1):
        pass


def test_a_place_is_free_again_after_an_exception():
    turns = Turns(1)
    for _ in range(2):
        with pytest.raises(ValueError, match="this"), turns.turn("a", 1):
            raise ValueError("this")
