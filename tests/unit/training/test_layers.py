"""Layers made of the engine's operations: against numerical differences, and against PyTorch's pass, node by node."""

import numpy as np
import pytest

from lab.expression.parser import parse
from lab.gradcheck import gradcheck
from lab.trace import record
from lab.training.layers import attention, convolution, embedding, layer_norm
from lab.ui.expression_box import presets
from lab.watch import watch
from model import Tensor

IDS = np.array([[2, 0, 2], [1, 2, 3]])


def draw(**shapes):
    """Leaf name -> random numbers. At most 64 of each, so that a recorded pass keeps them all."""
    rng = np.random.default_rng(3)
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


def look_up(table):
    return embedding(table, IDS)


def masked(queries, keys, values):
    return attention(queries, keys, values, causal=True)


ROWS = draw(queries=(2, 4, 3), keys=(2, 4, 3), values=(2, 4, 2))
CASES = {
    "embedding": (look_up, draw(table=(4, 3))),
    "layer_norm": (layer_norm, draw(x=(2, 3, 4), gain=(4,), bias=(4,))),
    "attention": (attention, ROWS),
    "masked": (masked, ROWS),
    "convolution": (convolution, draw(images=(1, 2, 3, 4), kernels=(2, 2, 2, 3), bias=(2,))),
    "two images": (convolution, draw(images=(2, 1, 3, 4), kernels=(3, 1, 2, 2), bias=(3,))),
}
each = pytest.mark.parametrize(("layer", "leaves"), CASES.values(), ids=CASES)


@each
def test_every_gradient_is_that_of_differences(layer, leaves):
    assert gradcheck(layer, [*leaves.values()])
    for leaf, value in leaves.items():
        rest = {name: Tensor(other, requires_grad=False) for name, other in leaves.items() if name != leaf}
        assert gradcheck(lambda moved, rest=rest, leaf=leaf: layer(**rest, **{leaf: moved}), [value])


@each
def test_float32_stays_float32(layer, leaves):
    assert layer(**{name: Tensor(value.astype(np.float32)) for name, value in leaves.items()}).dtype == np.float32


def pytorch_layers():
    torch = pytest.importorskip("torch")
    functional = torch.nn.functional
    ids = torch.tensor(IDS)
    return torch, {
        "embedding": lambda table: functional.embedding(ids, table),
        "layer_norm": lambda x, gain, bias: functional.layer_norm(x, (4,), gain, bias),
        "attention": functional.scaled_dot_product_attention,
        "masked": lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True),
        "convolution": functional.conv2d,
        "two images": functional.conv2d,
    }


@pytest.mark.parametrize("name", CASES)
@pytest.mark.exhaustive
def test_pytorch_s_own_layer_has_the_same_output_and_leaf_gradients(name):
    torch, functions = pytorch_layers()
    layer, leaves = CASES[name]
    ours = [Tensor(value) for value in leaves.values()]
    theirs = [torch.tensor(value, requires_grad=True) for value in leaves.values()]
    output, wanted = layer(*ours), functions[name](*theirs)
    upstream = np.random.default_rng(5).normal(size=output.shape)
    output.backward(upstream)
    wanted.backward(torch.tensor(upstream))
    np.testing.assert_allclose(output.data, wanted.detach().numpy(), rtol=1e-12, atol=1e-13)
    for our, their in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(our.grad, their.grad.numpy(), rtol=1e-12, atol=1e-13)


def computed(trace):
    """Of each result that a gradient reaches: its value and its gradient."""
    gradients = trace.gradients_after()
    return [
        (np.array(node["value"]), np.array(gradients[node["id"]]))
        for node in trace.nodes
        if node["op"] and node["id"] in gradients
    ]


def same(left, right):
    return left.shape == right.shape and np.allclose(left, right, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", [name for name in CASES if name != "masked"])  # `where` is the engine's own
def test_each_node_of_pytorch_s_pass_is_one_of_the_engine_s(name):
    """The very same function, called with tensors of PyTorch, whose pass is recorded, too."""
    torch = pytest.importorskip("torch")
    layer, leaves = CASES[name]
    ours = record(lambda **tensors: (layer(**tensors) ** 2).sum(), leaves)
    with watch() as pass_:
        output = layer(**{leaf: torch.tensor(value, requires_grad=True) for leaf, value in leaves.items()})
        (output**2).sum().backward()
    theirs, engine = computed(pass_.trace), iter(computed(ours))
    assert pass_.sums[0].exact
    assert pass_.sums[0].different == 0
    for value, gradient in theirs:  # in their order; the engine's mean is a sum and a division
        assert any(same(value, other) and same(gradient, its) for other, its in engine)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: embedding(Tensor(np.ones((3, 2))), [0.5]), TypeError, "integers to look up, not float64"),
        (lambda: embedding(Tensor(np.ones((3, 2))), [-1, 2]), IndexError, "from -1 to 2, but the rows go from 0 to 2"),
        (lambda: layer_norm(*map(Tensor, np.ones((3, 2, 2)))), ValueError, r"gain and bias of shape \(2,\)"),
        (lambda: attention(*map(Tensor, (np.ones((2, 3)), np.ones((2, 4)), np.ones((2, 3))))), ValueError, "multiply"),
        (lambda: convolution(*map(Tensor, (np.ones((1, 1, 2, 2)), np.ones((1, 1, 3, 1)), [0.0]))), ValueError, "lay"),
        (lambda: convolution(*map(Tensor, (np.ones((1, 2, 2, 2)), np.ones((1, 1, 1, 1)), [0.0]))), ValueError, "lay"),
    ],
)
def test_a_mistake_gets_a_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call()


def in_graph_lab(key):
    """An example of the Graph lab: its trace, and its inputs."""
    preset = next(preset for preset in presets() if preset["key"] == key)
    return record(parse(preset["text"]), preset["values"]), {k: np.array(v, float) for k, v in preset["values"].items()}


@pytest.mark.parametrize(
    ("key", "loss"),
    [
        ("embedding", lambda E, g: (embedding(E, [0, 2, 0]) * g).sum()),
        ("layer_norm", lambda x, gain, bias: (layer_norm(x, gain, bias) ** 2).sum()),
        ("attention", lambda q, k, v: (attention(q, k, v) ** 2).sum()),
        ("convolution", lambda x, k: (convolution(*(a.reshape(1, 1, 1, -1) for a in (x, k)), Tensor([0.0])) ** 2).sum()),
    ],
)  # fmt: skip
def test_the_example_in_the_graph_lab_is_this_layer(key, loss):
    shown, leaves = in_graph_lab(key)
    tensors = {name: Tensor(value) for name, value in leaves.items()}
    result = loss(**tensors)
    result.backward()
    assert shown.nodes[shown.output]["value"] == pytest.approx(result.item(), rel=1e-12)
    for name, tensor in tensors.items():
        np.testing.assert_allclose(shown.gradients[name], tensor.grad, rtol=1e-12, atol=1e-13)
