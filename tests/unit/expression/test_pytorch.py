"""An expression as a program for PyTorch: what it says, what is refused, and that PyTorch has the same numbers."""

import importlib.util

import numpy as np
import pytest

from lab.expression import parse
from lab.expression.pytorch import TranslationError, run, to_torch
from model import Tensor

MATRIX = [[1.0, 2.5], [3.0, -4.0]]
EXPRESSIONS = [
    ("(a*b + c) * (a - 2) / b**2", {"a": 1.5, "b": -0.5, "c": 2.0}),
    ("exp(a) + log(b) + sqrt(b) + sin(a) + cos(a) + sigmoid(a) + softplus(a) + relu(a) + abs(a) + -a", {"a": 0.7, "b": 2.0}),
    ("x.sum() + x.mean(axis=0).sum() + prod(x) + prod(x, 0).sum() + max(x) + x.min(axis=1, keepdims=True).sum()", {"x": MATRIX}),
    ("var(x) + std(x, axis=0).sum() + norm(x) + norm(x, axis=1).sum() + logsumexp(x) + logsumexp(x, axis=-1).sum()", {"x": MATRIX}),
    ("softmax(q @ k.T / sqrt(2)) @ v", {"q": MATRIX, "k": MATRIX, "v": MATRIX}),
    ("log_softmax(x, axis=0) + x.softmax()", {"x": MATRIX}),
    ("maximum(x, 0.5) + minimum(x, y) + where(x > 0, x, 2) + clip(x, -1, 1) + leaky_relu(x, 0.2) + leaky_relu(x)", {"x": MATRIX, "y": 1.0}),
    ("x.reshape(4) * 2 + x.transpose().reshape(4) + x.transpose(1, 0).reshape(4) + swapaxes(x, 0, 1).reshape(4)", {"x": MATRIX}),
    ("concatenate([x, x], axis=1).sum() + stack([x, x], axis=1).sum() + sum([x[0], [1, 2]]) + x[0, 1] * x[:, 1].sum()", {"x": MATRIX}),
    ("expand_dims(x, 0).squeeze(axis=0) + x.broadcast_to(2, 2) * [[1, 2], [3, 4]]", {"x": MATRIX}),
    ("cross_entropy(x, [0, 1]) + mse_loss(x, [[1, 2], [3, 4]]) + binary_cross_entropy_with_logits(x, [[0, 1], [1, 0]])", {"x": MATRIX}),
    ("x.sum(keepdims=True) + x.mean(keepdims=True) + x.max(keepdims=True) + x.std(axis=None, keepdims=True)", {"x": MATRIX}),
    ("h = a*a; k = tanh(h)\nk*k + 0*b", {"a": 2.0, "b": 1.0}),
    ("F*list + json*str", {"F": 2.0, "list": 3.0, "json": 4.0, "str": 1.0}),
]  # fmt: skip


def test_the_program_is_one_that_a_person_would_write():
    assert to_torch(parse("h = a*[1, 2]; sum(h, axis=0)"), {"a": 3.0}) == (
        "import torch\n\n"
        "a = torch.tensor(3, dtype=torch.float64, requires_grad=True)\n"
        "h = a * torch.tensor([1, 2], dtype=torch.float64)\n"
        "result = h.sum(dim=0)\n"
        "result.backward()\n"
        'print("result:", result.detach())\n'
        'print("gradient of a:", a.grad)\n'
    )
    assert "result.backward(torch.ones_like(result))\n" in to_torch(parse("a*2"), {"a": [1.0, 2.0]})


@pytest.mark.parametrize(
    ("text", "said"),
    [("x[::-1] * 2", "backward"), ("prod(x, keepdims=True)", "single"), ("sum(logsumexp(x, axis=(0, 1)))", "single")],
)
def test_what_pytorch_does_otherwise_is_refused(text, said):
    with pytest.raises(TranslationError, match=said):
        to_torch(parse(text), {"x": MATRIX})


@pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="PyTorch is an optional extra")
def test_pytorch_has_the_same_numbers():
    """All in one process: to import PyTorch takes longer than the rest."""
    programs, due = [], []
    for i, (text, values) in enumerate(EXPRESSIONS):
        expression = parse(text)
        leaves = {name: Tensor(value) for name, value in values.items()}
        result = expression(**leaves)
        result.backward(np.ones(result.shape))
        due += [leaf.grad for leaf in leaves.values()]
        body = to_torch(expression, values).replace("import torch\n\n", "")
        names = ", ".join(leaves)
        programs.append(
            f"def f{i}():\n" + "".join(f"    {line}\n" for line in body.splitlines()) + f"    return [{names}]\n"
        )
    whole = "import torch\n\n" + "".join(programs)
    whole += f"leaves = [leaf for f in [{', '.join(f'f{i}' for i in range(len(programs)))}] for leaf in f()]\n"
    whole += "".join(f"g{i} = torch.zeros_like(leaves[{i}])\ng{i}.grad = leaves[{i}].grad\n" for i in range(len(due)))
    answer = run(whole + "result = torch.ones(2)\n", "result", [f"g{i}" for i in range(len(due))])
    assert answer.error == ""
    for found, right in zip(answer.gradients.values(), due, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-12)


def test_a_program_that_fails_says_why():
    """Where PyTorch is missing, that is what the program fails of."""
    said = "ValueError: what is wrong" if importlib.util.find_spec("torch") else "ModuleNotFoundError: No module"
    answer = run("raise ValueError('what is wrong')\n", "result", [])
    assert answer.error.startswith(said)
