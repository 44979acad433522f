"""The benchmarks' own parts."""

import asyncio
import time

import pytest

from benchmarks import server


@pytest.mark.parametrize("thinking", [0.001, 1000])  # seconds on average: much shorter than the visit, and much longer
def test_a_visitor_acts_at_least_once_however_short_the_visit(monkeypatch, thinking):
    monkeypatch.setattr(server, "THINKING", thinking)
    acted = []

    async def act():
        acted.append(time.monotonic())

    start = time.monotonic()
    asyncio.run(server.visit(act, seconds=0.05))
    assert acted
    assert acted[-1] - start < 5
