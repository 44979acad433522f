"""Checkpointing gives the same gradients for less memory and more work."""

import math

import numpy as np
import pytest

from lab.designs.checkpoint import LayerChain, checkpointed, costs
from model import Tensor


def test_the_gradients_are_those_of_a_plain_pass():
    for layers, width, rows in ((4, 5, 3), (9, 8, 16), (16, 4, 1)):
        found = costs(layers, width, rows)
        assert [cost.segments for cost in found] == [*range(1, layers + 1)]
        assert all(cost.difference <= 1e-12 for cost in found)


def test_one_segment_is_a_plain_pass():
    chain, inputs = LayerChain(6, 4), np.ones((2, 4))
    checkpointed(chain, inputs, 1)
    found, x = chain.gradients(), Tensor(inputs)
    for weight, bias in chain.weights:
        x = (x @ weight + bias).tanh()
    (x**2).mean().backward()
    for gradient, due in zip(found, chain.gradients(), strict=True):
        np.testing.assert_array_equal(gradient, due)


def test_memory_is_least_between_few_segments_and_many():
    whole, *found = costs(24, 16, 32)
    kept = [cost.kept for cost in found]
    best = found[int(np.argmin(kept))].segments
    assert math.sqrt(24) <= best <= 3 * math.sqrt(24)
    assert min(kept) < kept[0] < whole.kept
    assert min(kept) < kept[-1]
    assert min(kept) < whole.kept / 4


def test_all_but_the_last_segment_run_twice():
    whole, *found = costs(12, 4, 4)
    assert whole.runs == 12
    assert [cost.runs for cost in found if cost.segments in (2, 3, 12)] == [18, 20, 23]


def test_a_wrong_gradient_would_be_seen(monkeypatch):
    right = LayerChain.gradients
    monkeypatch.setattr(LayerChain, "gradients", lambda chain: [g + (chain.runs > 6) for g in right(chain)])
    assert [cost.difference for cost in costs(6, 4, 2)] == pytest.approx([0.0] + [1.0] * 5)
