"""The fair queue: one place for each visitor before anybody's second, in the order in which they ask."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from lab.training.fair_queue import FairQueue

# The tickets that ask, in this order: their visitor is the first letter.
CROWDS = [
    # places, asking, those that have a place if they ask again and again, and if they hold it
    (2, "a1 a2", "a1 a2", "a1"),  # who holds a place cannot give it to a newcomer
    (2, "a1 a2 a3", "a1 a2", "a1"),
    (2, "a1 a2 b1", "a1 b1", "a1 b1"),  # nobody has two while another has none
    (2, "a1 a2 a3 b1 b2 c1", "a1 b1", "a1 b1"),
    (2, "a1 b1 c1 a2", "a1 b1", "a1 b1"),
    (1, "b1 a1", "b1", "b1"),
]


@pytest.mark.parametrize(("places", "asking", "running", "holding"), CROWDS)
def test_who_asks_again_and_again_may_have_two_until_another_has_none(places, asking, running, holding):
    queue = FairQueue(places)
    for _ in range(2):
        positions = {ticket: queue.ask(ticket, ticket[0], 1000) for ticket in asking.split()}
    assert " ".join(ticket for ticket, position in positions.items() if not position) == running
    assert sorted(filter(None, positions.values())) == [*range(1, len(positions) - places + 1)]


def test_the_place_of_one_that_ends_or_no_longer_asks_goes_to_the_next():
    queue = FairQueue(1)
    assert [queue.ask(visitor, visitor, 1000) for visitor in "abc"] == [0, 1, 2]
    queue.release("a")
    assert [queue.ask(visitor, visitor, 1000) for visitor in "bc"] == [0, 1]
    queue.ask("b", "b", -1)  # has not asked again in time
    assert queue.ask("c", "c", 1000) == 0


@pytest.mark.parametrize(("places", "asking", "running", "holding"), CROWDS)
def test_who_holds_a_place_has_one_at_a_time(places, asking, running, holding):
    queue, leave = FairQueue(places), threading.Event()
    having, left, came = [], [], threading.Semaphore(0)

    def ask(ticket):
        with queue.place(ticket[0], 20):
            having.append(ticket)
            came.release()
            leave.wait(20)
            left.append(ticket)

    with ThreadPoolExecutor(len(asking.split())) as visitors:
        work = []
        for number, ticket in enumerate(asking.split()):
            work.append(visitors.submit(ask, ticket))
            while len(having) + queue.waiting <= number:
                pass
        for _ in holding.split():
            assert came.acquire(timeout=20)
        assert (having, queue.waiting) == (holding.split(), len(work) - len(having))
        leave.set()
        for one in work:
            one.result()
    assert sorted(left) == sorted(asking.split())


def test_who_waits_too_long_is_told_and_holds_up_nobody():
    queue = FairQueue(1)
    with queue.place("a", 1):
        for visitor in "ab":
            with pytest.raises(TimeoutError), queue.place(visitor, 0.01):
                pass
    with queue.place("b", 1):
        pass


def test_a_place_is_free_again_after_an_exception():
    queue = FairQueue(1)
    for _ in range(2):
        with pytest.raises(ValueError, match="this"), queue.place("a", 1):
            raise ValueError("this")
