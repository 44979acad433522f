"""This engine beside PyTorch, JAX and static graphs: questions whose answers can be run.

Each has a snippet for this engine and one for PyTorch that leave their answer in `answer`. For JAX and static graphs
there is a sentence from their documentation and papers; nothing of them is run here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import model


@dataclass(frozen=True)
class Question:
    title: str
    engine: str
    torch: str
    jax: str
    static: str


QUESTIONS: dict[str, Question] = {
    "graph": Question(
        "When is the graph made? (An if on a value)",
        "x = Tensor(3.0)\ny = x * x if x.item() > 0 else -x\ny.backward()\n"
        "answer = f'while it runs: {y.op}, {x.grad:g}'",
        "x = torch.tensor(3.0, requires_grad=True)\ny = x * x if x.item() > 0 else -x\ny.backward()\n"
        "answer = f'while it runs: {y.grad_fn.name()}, {x.grad.item():g}'",
        "While a function is traced with values that stand for any; if on one is an error under jit.",
        "Before anything runs; a choice is a node of the graph.",
    ),
    "grad": Question(
        "Where do gradients go? (Two passes.)",
        "x = Tensor(3.0)\nfor _ in range(2):\n    (x * x).backward()\nanswer = f'x.grad adds up: {x.grad:g}'",
        "x = torch.tensor(3.0, requires_grad=True)\nfor _ in range(2):\n    (x * x).backward()\n"
        "answer = f'x.grad adds up: {x.grad.item():g}'",
        "jax.grad(f) is a new function that returns them; nothing is stored.",
        "Gradients are further nodes of the graph.",
    ),
    "twice": Question(
        "Backward twice through one graph?",
        "x = Tensor(3.0)\ny = x * x\ny.backward()\ny.backward()\nanswer = x.grad",
        "x = torch.tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()\ny.backward()\nanswer = x.grad",
        "The question does not arise: call the gradient function again.",
        "Run the graph again.",
    ),
    "write": Question(
        "A value is written to before its backward pass?",
        "x = Tensor(3.0)\ny = x * x\nx.data += 1\ny.backward()\nanswer = x.grad",
        "x = torch.tensor(3.0, requires_grad=True)\nh = x * 1\ny = h * h\nh += 1\ny.backward()\nanswer = x.grad",
        "Arrays cannot be written to.",
        "Values have no names to write to; variables are updated by nodes.",
    ),
    "whole": Question(
        "Backward from many numbers at once?",
        "x = Tensor([1.0, 2.0])\n(x * x).backward()\nanswer = x.grad",
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\n(x * x).backward()\nanswer = x.grad",
        "grad refuses, too; vjp takes the upstream gradient.",
        "The gradient nodes of a sum are made.",
    ),
    "dtype": Question(
        "What is a number made of, if nobody says?",
        "answer = Tensor(1.0).dtype",
        "answer = torch.tensor(1.0).dtype",
        "float32, unless 64 bits are switched on.",
        "float32 in TensorFlow, float64 in Theano.",
    ),
    "kink": Question(
        "The slope of relu at 0",
        "x = Tensor(0.0)\nx.relu().backward()\nanswer = f'{x.grad:g}'",
        "x = torch.tensor(0.0, requires_grad=True)\nx.relu().backward()\nanswer = f'{x.grad.item():g}'",
        "0",
        "0 in TensorFlow.",
    ),
    "ties": Question(
        "Who gets the gradient of a maximum with ties?",
        "x = Tensor([2.0, 2.0])\nx.max().backward()\nanswer = x.grad.tolist()",
        "x = torch.tensor([2.0, 2.0], requires_grad=True)\nx.max().backward()\nanswer = x.grad.tolist()",
        "They share it.",
        "They share it in TensorFlow.",
    ),
    "second": Question(
        "A derivative of a derivative of x**3 at 2?",
        "x = Tensor(2.0)\n(x ** 3).backward()\nx.grad.backward()\nanswer = x.grad",
        "x = torch.tensor(2.0, requires_grad=True)\n(g,) = torch.autograd.grad(x ** 3, x, create_graph=True)\n"
        "g.backward()\nanswer = f'{x.grad.item():g}'",
        "jax.grad(jax.grad(f)): any order.",
        "The gradient nodes can be differentiated again.",
    ),
    "where": Question(
        "where(x > 0, sqrt(x), 0) at −1",
        "x = Tensor(-1.0)\nwhere(x > 0, x.sqrt(), 0.0).backward()\nanswer = x.grad",
        "x = torch.tensor(-1.0, requires_grad=True)\ntorch.where(x > 0, x.sqrt(), torch.tensor(0.0)).backward()\n"
        "answer = x.grad.item()",
        "nan, too: make the input of the branch safe first.",
        "nan, too.",
    ),
}


def answer(question: Question) -> str:
    """What this engine answers, run now; an error that it raises is an answer, too."""
    names: dict[str, object] = {"np": np} | {name: getattr(model, name) for name in ("Tensor", "where")}
    try:
        with np.errstate(all="ignore"):
            exec(question.engine, names)  # our own text, from above
        return str(names["answer"])
    except (RuntimeError, TypeError, ValueError, AttributeError) as error:
        return f"{type(error).__name__}: {str(error).split('. ')[0].rstrip('.')}"
