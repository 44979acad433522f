"""Values and gradients agree with two other engines: HIPS autograd, and PyTorch where it is installed.

Each peer is a dictionary: the operation's name here -> the same in the peer's words, composed from what the peer has
where it has no single word for it. The cases are those of op_table.py.
"""

import numpy as np
import pytest
from op_table import CASES, CONVENTIONS, Case

from model import MLP, Tensor, cross_entropy

OPS = list(dict.fromkeys(case.op for case in CASES))

OPERATORS = {
    "__add__": lambda a, b: a + b,
    "__sub__": lambda a, b: a - b,
    "__mul__": lambda a, b: a * b,
    "__truediv__": lambda a, b: a / b,
    "__pow__": lambda a, b: a**b,
    "__matmul__": lambda a, b: a @ b,
    "__radd__": lambda a, b: b + a,
    "__rsub__": lambda a, b: b - a,
    "__rmul__": lambda a, b: b * a,
    "__rtruediv__": lambda a, b: b / a,
    "__rpow__": lambda a, b: b**a,
    "__rmatmul__": lambda a, b: b @ a,
    "__neg__": lambda a: -a,
    "__getitem__": lambda a, index: a[index],
    "linear": lambda x, weight, bias: x @ weight + bias,
}


def unpacked(arguments: tuple) -> tuple:
    """f(2, 3) and f((2, 3)) mean the same."""
    return arguments[0] if len(arguments) == 1 and isinstance(arguments[0], tuple) else arguments


def ours(case: Case) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """The value, the upstream gradient that was used, and the gradients."""
    leaves = [Tensor(array) for array in case.inputs]
    output = case.call(leaves)
    upstream = np.asarray(np.random.default_rng(3).normal(size=output.shape))
    output.backward(upstream)
    return output.numpy(), upstream, [leaf.grad for leaf in leaves]


def assert_agree(case, value, gradients, peer_value, peer_gradients):
    np.testing.assert_allclose(value, peer_value, rtol=1e-10, atol=1e-12, strict=True, err_msg=f"value of {case.id}")
    for gradient, peer_gradient in zip(gradients, peer_gradients, strict=True):
        np.testing.assert_allclose(gradient, peer_gradient, rtol=1e-9, atol=1e-11, err_msg=f"gradient of {case.id}")


# ---------------------------------------------------------------- HIPS autograd


@pytest.fixture(scope="module")
def autograd():
    return pytest.importorskip("autograd", reason="HIPS autograd is not installed; it is in requirements-dev.txt")


def autograd_words(anp) -> dict:
    def reduction(f):
        return lambda x, axis=None, keepdims=False: f(x, axis=axis, keepdims=keepdims)

    same = ("exp", "log", "sqrt", "sin", "cos", "tanh", "abs", "swapaxes", "maximum", "minimum")
    words = {name: getattr(anp, name) for name in same}
    words |= {name: reduction(getattr(anp, name)) for name in ("sum", "mean", "var", "std", "max", "min", "prod")}
    return (
        OPERATORS
        | words
        | {
            "__abs__": anp.abs,
            "sigmoid": lambda x: 1 / (1 + anp.exp(-x)),
            "softplus": lambda x: anp.logaddexp(0.0, x),
            "relu": lambda x: anp.maximum(x, 0.0),
            "leaky_relu": lambda x, slope=0.01: anp.where(x > 0, x, slope * x),
            "clip": lambda x, low=-np.inf, high=np.inf: anp.clip(x, low, high),
            "norm": reduction(lambda x, **how: anp.sqrt(anp.sum(x * x, **how))),
            "logsumexp": reduction(lambda x, **how: anp.log(anp.sum(anp.exp(x), **how))),
            "softmax": lambda x, axis=-1: anp.exp(x) / anp.sum(anp.exp(x), axis=axis, keepdims=True),
            "log_softmax": lambda x, axis=-1: x - anp.log(anp.sum(anp.exp(x), axis=axis, keepdims=True)),
            "reshape": lambda x, *shape: anp.reshape(x, unpacked(shape)),
            "transpose": lambda x, *axes: anp.transpose(x, unpacked(axes) if axes else None),
            "T": anp.transpose,
            "squeeze": lambda x, axis=None: anp.reshape(x, np.squeeze(np.empty(anp.shape(x)), axis).shape),
            "expand_dims": lambda x, axis: anp.reshape(x, np.expand_dims(np.empty(anp.shape(x)), axis).shape),
            "broadcast_to": lambda x, *shape: x + np.zeros(unpacked(shape)),
            "where": lambda a, b, condition: a * condition + b * ~condition,  # its own `where` cannot broadcast
            "concatenate": lambda *arrays, axis=0: anp.concatenate(arrays, axis=axis),
            "stack": lambda *arrays, axis=0: anp.stack(arrays, axis=axis),
            "mse_loss": lambda a, b: anp.mean((a - b) ** 2),
            "cross_entropy": lambda x, labels: (
                -anp.mean((x - anp.log(anp.sum(anp.exp(x), axis=1, keepdims=True)))[np.arange(len(labels)), labels])
            ),
            "binary_cross_entropy_with_logits": lambda x, t: anp.mean(anp.logaddexp(0.0, x) - x * t),
        }
    )


def autograd_lacks(case: Case) -> bool:
    """Two things HIPS autograd gets wrong: prod of zeros (it divides by them) and transpose by negative axes."""
    zeros = case.op == "prod" and np.any(case.inputs[0] == 0)
    return bool(zeros) or (case.op == "transpose" and -1 in case.args)


@pytest.mark.parametrize("op", OPS)
def test_values_and_gradients_agree_with_autograd(op, autograd):
    words = autograd_words(autograd.numpy)
    assert op in words, "add the operation to autograd_words, composed from what HIPS autograd has"
    for case in CASES:
        if case.op == op and not autograd_lacks(case):
            value, upstream, gradients = ours(case)
            vjp, peer_value = autograd.make_vjp(
                lambda inputs, case=case: words[op](*inputs, *case.args, **case.kwargs)
            )(tuple(np.asarray(array) for array in case.inputs))
            assert_agree(case, value, gradients, np.asarray(peer_value), vjp(upstream))


def test_a_whole_network_agrees_with_autograd(autograd):
    anp = autograd.numpy
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=(6, 4)), rng.integers(0, 3, 6)
    net = MLP([4, 5, 3], activation="tanh", rng=1)

    def loss(w1, b1, w2, b2):
        logits = anp.tanh(x @ w1 + b1) @ w2 + b2
        log_p = logits - anp.log(anp.sum(anp.exp(logits), axis=1, keepdims=True))
        return -anp.mean(log_p[np.arange(6), labels])

    values = [parameter.numpy() for parameter in net.parameters()]
    ours_loss = cross_entropy(net(x), labels)
    ours_loss.backward()
    assert ours_loss.item() == pytest.approx(loss(*values), rel=1e-12)
    for i, parameter in enumerate(net.parameters()):
        np.testing.assert_allclose(parameter.grad, autograd.grad(loss, i)(*values), rtol=1e-10, atol=1e-14)


# ---------------------------------------------------------------- PyTorch


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="PyTorch is not installed; it is optional")


def torch_words(torch) -> dict:
    F = torch.nn.functional

    def reduction(f):
        """NumPy's axis: None is all axes, () is none; PyTorch takes an empty tuple for all."""

        def reduced(x, axis=None, keepdims=False):
            axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
            return f(x, axes, keepdims) if axes else f(x[..., None], (-1,), False)

        return reduced

    def prod(x, axes, keepdims):
        for axis in sorted((axis % x.ndim for axis in axes), reverse=True):
            x = torch.prod(x, axis, keepdims)
        return x

    def binary_cross_entropy(x, targets):
        if targets.requires_grad:  # PyTorch has no derivative for the targets
            return torch.mean(F.softplus(x) - x * targets)
        return F.binary_cross_entropy_with_logits(x, targets)

    same = ("exp", "log", "sqrt", "sin", "cos", "tanh", "abs", "sigmoid", "relu", "maximum", "minimum")
    words = {name: getattr(torch, name) for name in same}
    return (
        OPERATORS
        | words
        | {
            "__abs__": torch.abs,
            "softplus": lambda x: F.softplus(x, threshold=1e9),
            "leaky_relu": lambda x, slope=0.01: F.leaky_relu(x, slope),
            "clip": lambda x, low=-np.inf, high=np.inf: torch.clip(x, low, high),
            "sum": reduction(torch.sum),
            "mean": reduction(torch.mean),
            "var": reduction(lambda x, axes, keepdims: torch.var(x, axes, correction=0, keepdim=keepdims)),
            "std": reduction(lambda x, axes, keepdims: torch.std(x, axes, correction=0, keepdim=keepdims)),
            "norm": reduction(lambda x, axes, keepdims: torch.linalg.vector_norm(x, 2, axes, keepdims)),
            "max": reduction(torch.amax),
            "min": reduction(torch.amin),
            "prod": reduction(prod),
            "logsumexp": reduction(torch.logsumexp),
            "softmax": lambda x, axis=-1: torch.softmax(x, axis),
            "log_softmax": lambda x, axis=-1: torch.log_softmax(x, axis),
            "reshape": lambda x, *shape: torch.reshape(x, unpacked(shape)),
            "transpose": lambda x, *axes: x.permute(unpacked(axes) if axes else tuple(reversed(range(x.ndim)))),
            "T": lambda x: x.permute(tuple(reversed(range(x.ndim)))),
            "swapaxes": torch.swapaxes,
            "squeeze": lambda x, *axis: torch.squeeze(x, *axis),
            "expand_dims": lambda x, axis: x.reshape(np.expand_dims(np.empty(x.shape), axis).shape),
            "broadcast_to": lambda x, *shape: torch.broadcast_to(x, unpacked(shape)),
            "where": lambda a, b, condition: torch.where(condition, a, b),
            "concatenate": lambda *tensors, axis=0: torch.cat(tensors, axis),
            "stack": lambda *tensors, axis=0: torch.stack(tensors, axis),
            "mse_loss": F.mse_loss,
            "cross_entropy": F.cross_entropy,
            "binary_cross_entropy_with_logits": binary_cross_entropy,
        }
    )


def torch_lacks(case: Case) -> bool:
    """PyTorch has no slices with a negative step."""
    index = case.args[0] if case.op == "__getitem__" else ()
    return any(isinstance(i, slice) and (i.step or 1) < 0 for i in (index if isinstance(index, tuple) else (index,)))


def in_torch(torch, words, case, upstream):
    """PyTorch's value and gradients for this case."""
    leaves = [torch.tensor(array, requires_grad=True) for array in case.inputs]
    args = [
        torch.tensor(a) if isinstance(a, np.ndarray) else a.item() if isinstance(a, np.generic) else a
        for a in case.args
    ]
    output = words[case.op](*leaves, *args, **case.kwargs)
    output.backward(torch.tensor(upstream))
    return output.detach().numpy(), [leaf.grad.numpy() for leaf in leaves]


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")  # the variance of one element
@pytest.mark.parametrize("op", OPS)
def test_values_and_gradients_agree_with_torch(op, torch):
    words = torch_words(torch)
    assert op in words, "add the operation to torch_words, composed from what PyTorch has"
    for case in CASES:
        if case.op == op and not torch_lacks(case):
            value, upstream, gradients = ours(case)
            assert_agree(case, value, gradients, *in_torch(torch, words, case, upstream))


# With nan in the input PyTorch's max gives every element the gradient nan; ours gives it to the element that is nan.
SHARED_CONVENTIONS = [case for case, _ in CONVENTIONS if not np.isnan(case.inputs[0]).any()]


@pytest.mark.parametrize("case", SHARED_CONVENTIONS, ids=[case.id for case in SHARED_CONVENTIONS])
def test_conventions_agree_with_torch(case, torch):
    leaves = [Tensor(array) for array in case.inputs]
    output = case.call(leaves)
    output.backward(np.ones(output.shape))
    value, gradients = in_torch(torch, torch_words(torch), case, np.ones(output.shape))
    np.testing.assert_allclose(output.numpy(), value)
    for leaf, gradient in zip(leaves, gradients, strict=True):
        np.testing.assert_allclose(leaf.grad, gradient)
