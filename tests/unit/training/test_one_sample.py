"""One sample through a network: recorded, it is the loss and the gradients of the network itself."""

import numpy as np
import pytest

from lab.trace.recording import record
from lab.training.predictions import loss_of_sample
from model import cross_entropy
from nn import ACTIVATIONS, MLP


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_record_is_the_network(activation):
    model = MLP((2, 4, 3), activation, rng=0)
    x = np.array([0.5, -1.5])
    trace = record(*loss_of_sample(model, x, 2))
    loss = cross_entropy(model(x.reshape(1, -1)), [2])
    loss.backward()
    assert trace.nodes[trace.output]["value"] == pytest.approx(loss.item())
    for parameter in model.parameters():
        assert np.allclose(trace.gradients[parameter.label], parameter.grad)


def test_float32_weights_are_recorded_too():
    model = MLP((2, 2), rng=0, dtype=np.float32)
    trace = record(*loss_of_sample(model, np.zeros(2, np.float32), 0))
    assert set(trace.gradients) == {"W1", "b1"}
