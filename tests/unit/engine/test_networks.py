"""Layers, initialisation, losses and optimizers: against formulas, hand-computed steps and, where installed, PyTorch."""

import numpy as np
import pytest

import model
import nn
from lab.gradcheck import gradcheck
from model import Tensor, binary_cross_entropy_with_logits, cross_entropy, mse_loss
from nn import MLP, SGD, Adam, Linear, clip_grad_norm

# ---------------------------------------------------------------- layers


def test_linear_computes_x_weight_plus_bias():
    layer = Linear(3, 2, rng=0)
    assert layer.weight.shape == (3, 2)
    assert layer.bias.shape == (2,)
    assert layer.parameters() == [layer.weight, layer.bias]
    np.testing.assert_array_equal(layer.bias.numpy(), [0.0, 0.0])
    x = np.arange(12.0).reshape(4, 3)
    layer.bias.data[:] = [1.0, -1.0]
    np.testing.assert_allclose(layer(Tensor(x)).numpy(), x @ layer.weight.numpy() + [1.0, -1.0], rtol=1e-15)


@pytest.mark.parametrize("shape", [(4, 3), (1, 3), (3,), (2, 4, 3), (0, 3)])
def test_linear_takes_one_sample_a_batch_and_a_batch_of_batches(shape):
    layer = Linear(3, 2, rng=0)

    def f(x, weight, bias):
        layer.weight, layer.bias = weight, bias
        return layer(x)

    rng = np.random.default_rng(0)
    inputs = {"x": rng.normal(size=shape), "weight": rng.normal(size=(3, 2)), "bias": rng.normal(size=2)}
    assert f(*map(Tensor, inputs.values())).shape == (*shape[:-1], 2)
    report = gradcheck(f, inputs)
    assert report, report


@pytest.mark.parametrize("make", [lambda: Linear(3, 2, rng=0), lambda: MLP([3, 4, 2], rng=0)])
def test_a_network_takes_arrays_as_well_as_tensors(make):
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(make()(x).numpy(), make()(Tensor(x)).numpy())
    np.testing.assert_array_equal(make()(x.astype(int)).numpy(), make()(Tensor(x)).numpy())


@pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid", "leaky_relu", "softplus", "sin", "identity"])
def test_an_mlp_applies_the_activation_between_layers_and_not_after_the_last(activation):
    net = MLP([2, 3, 3, 2], activation=activation, rng=0)
    act = (lambda t: t) if activation == "identity" else (lambda t: getattr(t, activation)())
    x = Tensor(np.random.default_rng(1).normal(size=(5, 2)))
    first, second, last = net.layers
    np.testing.assert_array_equal(net(x).numpy(), last(act(second(act(first(x))))).numpy())
    assert (net(x).numpy() < 0).any()  # nothing squashes or cuts the output


def test_an_mlp_lists_its_parameters_in_order_with_labels():
    net = MLP([2, 3, 1], rng=0)
    assert [p.shape for p in net.parameters()] == [(2, 3), (3,), (3, 1), (1,)]
    assert [p.label for p in net.parameters()] == ["W1", "b1", "W2", "b2"]
    assert all(p.requires_grad for p in net.parameters())
    net(np.ones((1, 2))).sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())


# ---------------------------------------------------------------- initialisation

STDS = {
    "xavier": lambda n_in, n_out: np.sqrt(2 / (n_in + n_out)),
    "he": lambda n_in, n_out: np.sqrt(2 / n_in),
    "normal": lambda n_in, n_out: 1.0,
    "uniform": lambda n_in, n_out: 1 / np.sqrt(3 * n_in),  # of a uniform distribution in +-1 / sqrt(n_in)
    "zeros": lambda n_in, n_out: 0.0,
}


@pytest.mark.parametrize("init", STDS)
@pytest.mark.parametrize(("n_in", "n_out"), [(500, 100), (100, 500)])
def test_trap_50_the_standard_deviation_of_an_initialisation_is_its_formula(init, n_in, n_out):
    weight = Linear(n_in, n_out, init=init, rng=3).weight.numpy()
    expected = STDS[init](n_in, n_out)
    samples = n_in * n_out
    assert abs(weight.std() - expected) <= 5 * expected / np.sqrt(2 * samples)  # five standard errors
    assert abs(weight.mean()) <= 5 * expected / np.sqrt(samples)
    assert np.abs(weight).max() <= {"uniform": 1 / np.sqrt(n_in)}.get(init, np.inf)


def test_rng_is_a_seed_a_generator_or_none():
    def weights(rng):
        return MLP([3, 4, 2], rng=rng).layers[1].weight.numpy()

    np.testing.assert_array_equal(weights(7), weights(7))
    np.testing.assert_array_equal(weights(7), weights(np.random.default_rng(7)))
    assert not np.array_equal(weights(7), weights(8))
    assert not np.array_equal(weights(None), weights(None))
    np.testing.assert_array_equal(weights(7), MLP([3, 4, 2], init="xavier", rng=7).layers[1].weight.numpy())
    first, second = MLP([3, 3, 3], rng=0).layers
    assert not np.array_equal(first.weight.numpy(), second.weight.numpy())  # one generator for all layers
    generator = np.random.default_rng(0)
    assert not np.array_equal(weights(generator), weights(generator))  # which moves on


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_network_has_one_dtype_from_weights_to_updates(dtype):
    net = MLP([3, 4, 2], rng=0, dtype=dtype)
    for optimizer in (
        SGD(net.parameters(), lr=np.float64(0.1), momentum=0.9, weight_decay=0.1),
        Adam(net.parameters()),
    ):
        loss = cross_entropy(net(np.ones((2, 3), dtype)), [0, 1])
        assert loss.dtype == dtype
        optimizer.zero_grad()
        loss.backward()
        clip_grad_norm(net.parameters(), np.float64(0.01))
        assert {p.grad.dtype for p in net.parameters()} == {np.dtype(dtype)}
        optimizer.step()
        assert {p.dtype for p in net.parameters()} == {np.dtype(dtype)}
        assert {a.dtype for name, a in optimizer.memory.items() if name != "steps"} == {np.dtype(dtype)}


# ---------------------------------------------------------------- losses


def test_mse_loss():
    prediction = Tensor([[1.0, 2.0], [3.0, 5.0]])
    loss = mse_loss(prediction, np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert loss.item() == (0 + 4 + 9 + 16) / 4
    loss.backward()
    np.testing.assert_array_equal(prediction.grad, [[0.0, 1.0], [1.5, 2.0]])


def test_cross_entropy_is_the_mean_negative_log_probability():
    logits = np.array([[1.0, 2.0, 0.5], [0.1, -0.2, 0.3]])
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    t = Tensor(logits)
    loss = cross_entropy(t, [1, 2])
    assert loss.item() == pytest.approx(-np.log([p[0, 1], p[1, 2]]).mean(), rel=1e-14)
    loss.backward()
    np.testing.assert_allclose(t.grad, (p - np.eye(3)[[1, 2]]) / 2, rtol=1e-13)
    assert cross_entropy(Tensor(np.zeros((4, 10))), [0] * 4).item() == pytest.approx(np.log(10))


def test_binary_cross_entropy_with_logits():
    logits, targets = np.array([0.5, -1.0, 2.0]), np.array([1.0, 0.0, 0.25])
    s = 1 / (1 + np.exp(-logits))
    t = Tensor(logits)
    loss = binary_cross_entropy_with_logits(t, targets)
    assert loss.item() == pytest.approx(-(targets * np.log(s) + (1 - targets) * np.log(1 - s)).mean(), rel=1e-14)
    loss.backward()
    np.testing.assert_allclose(t.grad, (s - targets) / 3, rtol=1e-13)


def test_losses_keep_their_targets_out_of_the_graph():
    prediction, target = Tensor([1.0, 2.0]), Tensor([0.0, 0.0], requires_grad=False)
    mse_loss(prediction, target).backward()
    assert target.grad is None
    both = Tensor([0.0, 0.0])
    mse_loss(prediction, both).backward()  # unless they ask for a gradient
    np.testing.assert_array_equal(both.grad, [-1.0, -2.0])


# ---------------------------------------------------------------- optimizers


def stepped(make, gradients, start=1.0):
    """The values of a parameter after each step with these gradients."""
    p = Tensor([start])
    optimizer = make([p])
    path = []
    for gradient in gradients:
        p.grad = np.array([gradient])
        optimizer.step()
        path.append(p.numpy()[0])
    return path


@pytest.mark.parametrize(
    ("settings", "gradients", "path"),
    [
        ({}, [2.0, -1.0], [0.8, 0.9]),
        ({"momentum": 0.5}, [2.0, 1.0, 0.0], [0.8, 0.6, 0.5]),  # v = 2, 0.5 * 2 + 1, 0.5 * 2 + 0
        ({"weight_decay": 0.1}, [2.0, 0.0], [0.79, 0.79 - 0.1 * 0.079]),  # g + 0.1 w: 2.1, then 0 + 0.1 * 0.79
    ],
)
def test_sgd_by_hand(settings, gradients, path):
    assert stepped(lambda p: SGD(p, lr=0.1, **settings), gradients) == pytest.approx(path)


def test_adam_by_hand():
    m = v = 0.0
    w, expected = 1.0, []
    for t, g in enumerate([0.3, -0.2, 0.05], start=1):
        m, v = 0.8 * m + 0.2 * g, 0.9 * v + 0.1 * g * g
        w -= 0.01 * (m / (1 - 0.8**t)) / (np.sqrt(v / (1 - 0.9**t)) + 1e-6)
        expected.append(w)
    path = stepped(lambda p: Adam(p, lr=0.01, betas=(0.8, 0.9), eps=1e-6), [0.3, -0.2, 0.05])
    assert path == pytest.approx(expected, rel=1e-13)


SETTINGS = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01}),
    ("Adam", {"lr": 0.01}),
    ("Adam", {"lr": 0.01, "betas": (0.5, 0.9), "eps": 1e-4, "weight_decay": 0.1}),
]


@pytest.mark.parametrize(("name", "settings"), SETTINGS)
def test_an_optimizer_resumes_bit_for_bit(name, settings):
    dtype, steps_before = np.float32, 3
    rng = np.random.default_rng(0)
    batches = [(rng.normal(size=(4, 3)).astype(dtype), rng.integers(0, 2, 4)) for _ in range(7)]

    def train(net, optimizer, batches):
        for x, labels in batches:
            optimizer.zero_grad()
            cross_entropy(net(x), labels).backward()
            optimizer.step()

    def make(seed):
        net = MLP([3, 4, 2], rng=seed, dtype=dtype)
        return net, getattr(nn, name)(net.parameters(), **settings)

    net, optimizer = make(0)
    train(net, optimizer, batches[:steps_before])
    weights = [p.numpy() for p in net.parameters()]
    state = {key: np.array(value) for key, value in optimizer.memory.items()}
    train(net, optimizer, batches[steps_before:])

    resumed, resumed_optimizer = make(1)
    for p, values in zip(resumed.parameters(), weights, strict=True):
        p.data = values
    resumed_optimizer.memory.update(state)
    train(resumed, resumed_optimizer, batches[steps_before:])
    for p, q in zip(net.parameters(), resumed.parameters(), strict=True):
        assert p.numpy().tobytes() == q.numpy().tobytes()


def test_parameters_may_come_from_a_generator():
    net = MLP([2, 2], rng=0)
    optimizer = SGD((p for p in net.parameters()), lr=0.1)
    assert len(optimizer.parameters) == 2
    net(np.ones((1, 2))).sum().backward()
    assert clip_grad_norm((p for p in net.parameters()), 1e-3) > 1e-3
    assert clip_grad_norm(net.parameters(), 1.0) == pytest.approx(1e-3)


def test_scalar_parameters_train_too():
    w = Tensor(5.0, label="w")
    for make in (lambda p: SGD(p, lr=0.1, momentum=0.5), lambda p: Adam(p, lr=0.5)):
        optimizer = make([w])
        for _ in range(200):
            optimizer.zero_grad()
            ((w - 2.0) ** 2).backward()
            optimizer.step()
        assert w.item() == pytest.approx(2.0, abs=1e-3)
        assert w.shape == ()
        w.data = 5.0


def test_an_optimizer_never_writes_into_the_gradient():
    for make in (lambda p: SGD(p, lr=0.1, momentum=0.9, weight_decay=0.1), lambda p: Adam(p, lr=0.1, weight_decay=0.1)):
        p = Tensor([1.0, 2.0])
        p.grad = np.array([0.5, -0.5])
        kept = p.grad
        optimizer = make([p])
        optimizer.step()
        optimizer.step()
        np.testing.assert_array_equal(kept, [0.5, -0.5])
        assert p.grad is kept


# ---------------------------------------------------------------- clipping


def test_clip_grad_norm_scales_all_gradients_together():
    a, b, c = Tensor([0.0, 0.0]), Tensor(0.0), Tensor([1.0])
    a.grad, b.grad = np.array([3.0, 0.0]), np.array(4.0)
    assert clip_grad_norm([a, b, c], 2.5) == 5.0
    np.testing.assert_allclose(a.grad, [1.5, 0.0])
    np.testing.assert_allclose(b.grad, 2.0)
    assert c.grad is None


def test_clip_grad_norm_leaves_small_gradients_alone():
    a = Tensor([0.0, 0.0])
    a.grad = np.array([3.0, 4.0])
    for bound in (5.0, 6.0, np.inf):
        assert clip_grad_norm([a], bound) == 5.0
        np.testing.assert_array_equal(a.grad, [3.0, 4.0])


def test_clip_grad_norm_counts_a_tied_parameter_once():
    a = Tensor([0.0, 0.0])
    a.grad = np.array([3.0, 4.0])
    assert clip_grad_norm([a, a], 1.0) == 5.0
    np.testing.assert_allclose(a.grad, [0.6, 0.8])


# ---------------------------------------------------------------- together


def test_the_modules_of_the_engine_keep_no_mutable_state():
    """Sessions share a process: nothing at module level may remember one of them."""
    containers = {
        name
        for name, value in vars(model).items()
        if isinstance(value, list | dict | set | bytearray) and name[:2] != "__"
    }
    assert containers == set()
