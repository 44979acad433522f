"""no_grad and the guard: for whom they hold, and how they end."""

import asyncio
import contextlib
import functools
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from model import Tensor, allow_mutation, no_grad


def in_a_loop_of_its_own(coroutine):
    """Run it in a fresh thread: the browser tests leave an event loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(coroutine())).result()


def test_trap_16_one_no_grad_object_can_be_entered_again():
    x, block = Tensor(2.0), no_grad()
    with block, block:
        assert not (x * x).requires_grad
    assert (x * x).requires_grad


def test_trap_16_no_grad_as_decorator_with_and_without_parentheses():
    @no_grad()
    def with_parentheses(x):
        """Doc."""
        return x * x

    @no_grad
    def without(x):
        return with_parentheses(x) + x

    x = Tensor(2.0)
    assert not with_parentheses(x).requires_grad
    assert not without(x).requires_grad
    assert (x * x).requires_grad
    assert with_parentheses.__name__ == "with_parentheses"
    assert with_parentheses.__doc__ == "Doc."

    @no_grad
    def recursive(n, x):
        return x * x if n == 0 else recursive(n - 1, x)

    assert not recursive(5, x).requires_grad
    assert (x * x).requires_grad


def test_trap_16_an_exception_inside_no_grad_restores_the_mode():
    x = Tensor(2.0)
    with pytest.raises(KeyError), no_grad():
        raise KeyError("inside")

    @no_grad
    def fails():
        raise KeyError("inside")

    with pytest.raises(KeyError):
        fails()
    assert (x * x).requires_grad


def generator():
    yield


async def coroutine():
    pass


async def async_generator():
    yield


def object_with(call):
    """An object whose call runs as this function does."""
    return type("Called", (), {"__call__": staticmethod(call)})()


RUN_LATER = [generator, coroutine, async_generator]


@pytest.mark.parametrize("decorate", [no_grad, no_grad(), allow_mutation()])
@pytest.mark.parametrize("function", [*RUN_LATER, *map(object_with, RUN_LATER), functools.partial(generator)])
def test_trap_16_what_runs_after_the_call_cannot_be_decorated(decorate, function):
    with pytest.raises(TypeError, match=r"generator or async function.*`with no_grad\(\):`.*no `yield`"):
        decorate(function)


def test_trap_16_blocks_that_end_out_of_order_leave_no_mode_behind():
    x = Tensor(2.0)

    def without():
        with no_grad():
            yield

    first, second = without(), without()
    next(first), next(second)
    first.close(), second.close()
    assert (x * x).requires_grad


def mode():
    """What holds for a computation that is followed by a write."""
    x = Tensor([2.0])
    y = (x * x).sum()
    if not y.requires_grad:
        return "not recorded"
    x.data[0] = 5.0
    y.backward()
    return "guarded" if x.grad == 4.0 else "not guarded"


@contextlib.contextmanager
def another_thread_in(*blocks):
    """Another thread is inside these blocks, and leaves them at the end.

    Gives the mode that holds there before and after that.
    """
    inside, done, seen = threading.Event(), threading.Event(), []

    def visitor():
        with contextlib.ExitStack() as stack:
            for block in blocks:
                stack.enter_context(block)
            inside.set()
            done.wait(5)
            seen.append(mode())
        seen.append(mode())

    thread = threading.Thread(target=visitor)
    thread.start()
    assert inside.wait(5)
    try:
        yield seen
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize(("block", "there"), [(no_grad(), "not recorded"), (allow_mutation(), "not guarded")])
def test_trap_16_modes_are_per_thread(block, there):
    with another_thread_in(block) as seen:
        assert mode() == "guarded"
    assert seen == [there, "guarded"]


def test_trap_16_one_block_may_be_used_by_several_threads_at_once():
    block = no_grad()
    with another_thread_in(allow_mutation(), block) as seen:
        with block:
            assert mode() == "not recorded"
        assert mode() == "guarded"
    assert seen == ["not recorded", "guarded"]


def test_trap_16_no_grad_is_per_task():
    x = Tensor(2.0)

    async def without():
        with no_grad():
            await asyncio.sleep(0.01)
            return (x * x).requires_grad

    async def recording():
        await asyncio.sleep(0.005)
        return (x * x).requires_grad

    async def both():
        return await asyncio.gather(without(), recording())

    assert in_a_loop_of_its_own(both) == [False, True]
