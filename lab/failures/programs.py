"""The programs that cause a failure and those that avoid it: short, over the real engine, shown as they run.

Each takes the learner's numbers, whose defaults are in its first line, and returns what it shows, by name. A list of
numbers is a curve: one number for each step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lab.designs.compare import kept_by
from lab.traps import detect_mutation
from model import Tensor, cross_entropy, no_grad, where
from nn import MLP, SGD, Linear

Shown = dict[str, Any]


def norm(parameter: Tensor) -> float:
    """Return the norm of a parameter's gradient; 0 if it has none."""
    return 0.0 if parameter.grad is None else float(np.linalg.norm(parameter.grad))


def written_to(numbers: Sequence[float] = (1.0, 2.0)) -> Shown:
    with detect_mutation() as Watched:  # as PyTorch, it refuses what has been written to
        x = Watched(numbers, label="x")
        y = x.exp()
        y.label = "y"
        loss = y.sum()
        y.data += 1  # exp needs y to compute its gradient
        loss.backward()
    return {"x.grad": x.grad}


def twice(number: float = 3.0) -> Shown:
    w = Tensor(number, label="w")
    loss = w * w
    loss.backward()  # frees the graph
    loss.backward()
    return {"w.grad": w.grad}


def two_losses(number: float = 3.0) -> Shown:
    w = Tensor(number, label="w")
    trunk = w * w  # both losses go back through it
    (2 * trunk).backward()  # frees the trunk, too
    (trunk - 1).backward()
    return {"w.grad": w.grad}


def before_the_loop(number: float = 3.0) -> Shown:
    w = Tensor(number, label="w")
    square = w * w  # computed once, outside the loop
    for factor in (1, 2):
        loss = factor * square
        loss.backward()  # in the second iteration the graph of square is freed
    return {"w.grad": w.grad}


def not_scalar(numbers: Sequence[float] = (1.0, 2.0, 3.0)) -> Shown:
    w = Tensor(numbers, label="w")
    loss = w * w  # as many numbers as w has
    loss.backward()
    return {"w.grad": w.grad}


def no_graph(numbers: Sequence[float] = (1.0, 2.0)) -> Shown:
    w = Tensor(numbers, label="w")
    with no_grad():
        loss = (w * w).sum()  # computed, but not recorded
    loss.label = "loss"
    loss.backward()
    return {"w.grad": w.grad}


def no_requires_grad(numbers: Sequence[float] = (1.0, 2.0)) -> Shown:
    w = Tensor(numbers, requires_grad=False, label="w")  # what torch.tensor(numbers) makes
    loss = (w * w).sum()
    loss.backward()
    return {"w.grad": w.grad}


def loss_of_detached(numbers: Sequence[float] = (1.0, 2.0)) -> Shown:
    w = Tensor(numbers, label="w")
    prediction = (w * w).detach()  # the values alone
    loss = prediction.sum()
    loss.backward()
    return {"w.grad": w.grad}


def loss_of_item(numbers: Sequence[float] = (1.0, 2.0)) -> Shown:
    w = Tensor(numbers, label="w")
    value = (w * w).sum().item()  # a Python number
    loss = Tensor(value, requires_grad=False)  # what torch.tensor(value) makes
    loss.backward()
    return {"w.grad": w.grad}


def loss_of_argmax(numbers: Sequence[float] = (1.0, 2.0)) -> Shown:
    w = Tensor([numbers], label="w")  # the scores of one sample, whose class is 0
    wrong = w.numpy().argmax(axis=1) != np.array([0])
    loss = Tensor(wrong.mean(), requires_grad=False)  # what argmax and == give in PyTorch
    loss.backward()
    return {"w.grad": w.grad}


def replaced_without_graph(numbers: Sequence[float] = (1.0, 2.0)) -> Shown:
    w = Tensor(numbers, label="w")
    for _ in range(3):
        loss = (w * w).sum()
        loss.backward()  # stops in the second iteration
        with no_grad():
            w = w - 0.1 * np.array(w.grad)  # a new tensor, which requires no gradient
    return {"w": w.numpy()}


def non_leaf_grad(numbers: Sequence[float] = (1.0, 2.0)) -> Shown:
    w = Tensor(numbers, label="w")
    h = w * 3
    h.sum().backward()
    print(h.grad)  # h is a result: PyTorch did not keep its gradient
    return {"h.grad": h.grad}


def replaced(numbers: Sequence[float] = (1.0, 2.0)) -> Shown:
    w = Tensor(numbers, label="w")
    for _ in range(3):
        loss = (w * w).sum()
        loss.backward()
        w = w - 0.1 * w.grad  # a result of the old w, no longer a leaf
    return {"w": w.numpy()}


def not_used(numbers: Sequence[float] = (1.0, 2.0)) -> Shown:
    w = Tensor(numbers, label="w")
    other = Tensor(numbers, label="other")
    loss = (w * w).sum()  # other is not in it
    loss.backward()
    return {"w.grad": w.grad, "other.grad": other.grad}


def never_zeroed(start: float = 5.0) -> Shown:
    w = Tensor(start, label="w")
    optimizer = SGD([w], lr=0.1)
    losses = []
    for _ in range(30):
        loss = (w - 3) ** 2
        loss.backward()  # adds to the gradients of all steps before
        optimizer.step()
        losses.append(loss.item())
    return {"w": w.item(), "w.grad": w.grad, "loss": losses}


def leaf(numbers: Sequence[float] = (1.0, 2.0)) -> Shown:
    with detect_mutation() as Watched:
        w = Watched(numbers, label="w")
        loss = (w * w).sum()
        w.data -= 0.1  # PyTorch refuses this line when it is written w -= 0.1
        loss.backward()
    return {"w.grad": w.grad}


def column_minus_row(numbers: Sequence[float] = (1.0, 2.0, 3.0)) -> Shown:
    w, b = Tensor(0.0, label="w"), Tensor(0.0, label="b")
    x = np.array(numbers) / max(1, np.abs(numbers).max())
    target = 2 * np.array(numbers)  # (N,)
    optimizer = SGD([w, b], lr=0.1)
    losses = []
    for _ in range(500):
        prediction = w * x.reshape(-1, 1) + b  # (N, 1)
        difference = prediction - target  # (N, N): each prediction meets every target
        loss = (difference**2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {
        "shape of the difference": difference.shape,
        "mean of the targets": target.mean(),
        "predictions": prediction.numpy().ravel(),
        "loss in the end": losses[-1],
        "loss": losses,
    }


def log_of_zero(numbers: Sequence[float] = (0.0, 0.25, 0.75)) -> Shown:
    p = Tensor(numbers, label="p")
    loss = -(p * p.log()).sum()  # log(0) is -inf, and 0 * -inf is nan
    loss.backward()
    return {"loss": loss.item(), "p.grad": p.grad}


def kept_graphs(numbers: Sequence[float] = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)) -> Shown:
    w = Tensor(np.ones(1000), label="w")
    total, kept = Tensor(0.0), []
    for x in numbers:  # one batch each
        loss = (w * x).tanh().mean()
        total = total + loss  # total holds loss, and loss holds its graph
        kept.append(kept_by(total).numbers - 8 * w.size)
    return {"total": total.item(), "bytes kept after each batch": kept}


def kept_outputs(numbers: Sequence[float] = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)) -> Shown:
    w = Tensor(np.ones(1000), label="w")
    outputs, kept = [], []
    for x in numbers:  # validation: nothing goes backward
        outputs.append((w * x).tanh())  # the list holds the output, and the output its graph
        kept.append(kept_by(outputs).numbers - 8 * w.size)
    return {"mean": float(np.mean([output.numpy() for output in outputs])), "bytes kept after each batch": kept}


def state_not_cut(numbers: Sequence[float] = (1.0, 2.0, 3.0)) -> Shown:
    w = Tensor(0.5, label="w")
    state = Tensor(0.0, requires_grad=False)
    for x in numbers:
        state = (w * state + x).tanh()
        loss = (state - 0.5) ** 2
        loss.backward()  # the second one goes back into the step before, whose graph is freed
    return {"w.grad": w.grad}


def detached_part(numbers: Sequence[float] = (1.0, 2.0, 3.0)) -> Shown:
    w1, w2 = Tensor(0.5, label="w1"), Tensor(0.5, label="w2")
    x = np.array(numbers)
    hidden = (w1 * x).tanh().detach()  # cuts off w1
    loss = ((w2 * hidden - 1) ** 2).mean()
    loss.backward()
    return {"w1.grad": w1.grad, "w2.grad": w2.grad}


def no_grad_too_wide(numbers: Sequence[float] = (1.0, 2.0)) -> Shown:
    w1, w2 = Tensor(0.5, label="w1"), Tensor(0.5, label="w2")
    x = np.array(numbers)
    with no_grad():
        hidden = (w1 * x).tanh()  # this is part of the network
    loss = ((w2 * hidden - 1) ** 2).mean()
    loss.backward()
    return {"w1.grad": w1.grad, "w2.grad": w2.grad}


def through_numpy(numbers: Sequence[float] = (1.0, 2.0)) -> Shown:
    x = Tensor(numbers, label="x")
    y = np.exp(np.asarray(x))  # NumPy knows nothing of gradients
    loss = Tensor(y).sum()
    loss.backward()
    return {"x.grad": x.grad}


def number_backward(numbers: Sequence[float] = (1.0, 2.0)) -> Shown:
    x = Tensor(numbers, label="x")
    loss = x.exp().sum().item()  # a Python number: it has no backward()
    loss.backward()
    return {"x.grad": x.grad}


def format_several(numbers: Sequence[float] = (1.0, 2.0)) -> Shown:
    x = Tensor(numbers, label="x")
    y = x.exp()
    y.sum().backward()
    text = f"{y:.3f}"  # one format, several numbers
    return {"x.grad": x.grad, "text": text}


def dead_relu(bias: float = -20.0) -> Shown:
    rng = np.random.default_rng(0)
    x = Tensor(rng.normal(size=(64, 4)), requires_grad=False)
    w = Tensor(rng.normal(size=(4, 8)), label="w")
    b = Tensor(np.full(8, bias), label="b")  # as one step that is too long may leave it
    units = (x @ w + b).relu()
    ((units - 1) ** 2).mean().backward()
    dead = (units.numpy() == 0).all(axis=0).sum()
    return {"units of 8 that are 0 for every sample": int(dead), "b.grad": b.grad}


def vanishing(layers: int = 10) -> Shown:
    rng = np.random.default_rng(0)
    network = MLP([4] + [16] * layers + [1], activation="sigmoid", init="xavier", rng=rng)
    (network(rng.normal(size=(32, 4))) ** 2).mean().backward()
    norms = [norm(layer.weight) for layer in network.layers]
    return {"first layer over last": norms[0] / norms[-1], "norm of each layer's gradient": norms}


def all_zero(units: int = 8) -> Shown:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(32, 4))
    target = 1 + x[:, :1] * x[:, 1:2]
    network = MLP([4, units, units, 1], activation="tanh", init="zeros", rng=rng)
    optimizer = SGD(network.parameters(), lr=0.1)
    losses = []
    for _ in range(200):
        loss = ((network(x) - target) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    norms = [norm(layer.weight) for layer in network.layers]
    return {
        "loss of the mean of the targets": float(target.var()),
        "loss in the end": losses[-1],
        "norm of each layer's gradient": norms,
        "loss": losses,
    }


def rate_too_high(rate: float = 1.1) -> Shown:
    w = Tensor(5.0, label="w")
    optimizer = SGD([w], lr=rate)
    losses = []
    for _ in range(20):
        loss = (w - 3) ** 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # over the valley, and higher up on the other side
        losses.append(loss.item())
    return {"w": w.item(), "loss": losses}


def wrong_order(start: float = 5.0) -> Shown:
    w = Tensor(start, label="w")
    optimizer = SGD([w], lr=0.1)
    losses = []
    for _ in range(20):
        loss = (w - 3) ** 2
        loss.backward()
        optimizer.zero_grad()  # clears what backward() has just computed
        optimizer.step()
        losses.append(loss.item())
    return {"w": w.item(), "loss": losses}


def scheduler_first(start: float = 5.0) -> Shown:
    w = Tensor(start, label="w")
    optimizer = SGD([w], lr=0.3)
    losses, rates = [], []
    for _ in range(20):
        loss = (w - 3) ** 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.lr *= 0.5  # the schedule, before the step: the first rate, 0.3, is never used
        rates.append(optimizer.lr)
        optimizer.step()
        losses.append(loss.item())
    return {"rate of the first step": rates[0], "w": w.item(), "loss": losses}


def wrong_sign(start: float = 5.0) -> Shown:
    w = Tensor(start, label="w")
    losses = []
    for _ in range(20):
        loss = (w - 3) ** 2
        w.zero_grad()
        loss.backward()
        w.data += 0.1 * np.array(w.grad)  # with the gradient: uphill
        losses.append(loss.item())
    return {"w": w.item(), "loss": losses}


def optimizes_result(numbers: Sequence[float] = (1.0, 2.0)) -> Shown:
    w = Tensor(numbers, label="w")
    scaled = w * 0.1  # a result, not a parameter
    SGD([scaled], lr=0.1)
    return {}


def empty_list(numbers: Sequence[float] = (1.0, 2.0)) -> Shown:
    w = Tensor(numbers, label="w")
    parameters = [p for p in [w] if p.grad is not None]  # none has, yet
    optimizer = SGD(parameters, lr=0.1)
    (w * w).sum().backward()
    optimizer.step()
    return {"w.grad": w.grad, "w": w.numpy()}


def not_registered(numbers: Sequence[float] = (1.0, 2.0)) -> Shown:
    rng = np.random.default_rng(0)
    hidden, head = [Linear(1, 4, rng=rng)], Linear(4, 1, rng=rng)
    optimizer = SGD(head.parameters(), lr=0.1)  # the layers in the list are missing
    before = [layer.weight.numpy().copy() for layer in (hidden[0], head)]
    x = np.array(numbers).reshape(-1, 1)
    ((head(hidden[0](x).tanh()) - 1) ** 2).mean().backward()
    optimizer.step()
    moved = [
        float(np.abs(layer.weight.numpy() - old).max()) for layer, old in zip((hidden[0], head), before, strict=True)
    ]
    return {"norm of hidden's gradient": norm(hidden[0].weight), "hidden moved by": moved[0], "head moved by": moved[1]}


def where_nan(numbers: Sequence[float] = (-1.0, 0.0, 4.0)) -> Shown:
    x = Tensor(numbers, label="x")
    root = where(x > 0, x.sqrt(), 0.0)  # the root is computed for every x
    root.sum().backward()  # an unchosen root gets the gradient 0, and 0 * nan is nan
    return {"root": root.numpy(), "x.grad": x.grad}


def argmax(numbers: Sequence[float] = (2.0, 1.0, 0.5)) -> Shown:
    scores = Tensor([numbers], label="scores")  # one sample, whose class is 1
    wrong = scores.numpy().argmax(axis=1) != np.array([1])
    loss = Tensor(wrong).mean()  # the share of wrong answers
    loss.backward()
    return {"scores.grad": scores.grad, "loss": loss.item()}


def integers(numbers: Sequence[int] = (1, 2)) -> Shown:
    x = Tensor(numbers, label="x")  # whole numbers: PyTorch stops here
    (x * x).sum().backward()
    stepped = np.array(numbers) - 0.1 * np.array(x.grad)
    stepped = stepped.astype(int)  # rounded to whole numbers, they lose a small step
    return {"x.grad": x.grad, "x after a step": stepped}


def float32_check(numbers: Sequence[float] = (1.0, 2.0, 3.0)) -> Shown:
    x = Tensor(np.array(numbers, dtype=np.float32), label="x")
    (x * x * x).sum().backward()
    values, h = x.numpy(), np.float32(1e-6)
    slope = ((values + h) ** 3 - (values - h) ** 3) / (2 * h)  # float32 keeps 7 digits: most of them cancel
    return {"by differences": slope, "by backward()": x.grad}


def accumulation(numbers: Sequence[float] = (1.0, 2.0, 3.0, 4.0)) -> Shown:
    w = Tensor(0.5, label="w")
    for x in numbers:  # k small batches, then one step
        loss = (w * x - 1) ** 2
        loss.backward()  # adds a whole gradient each time
    large = Tensor(0.5)
    ((large * np.array(numbers) - 1) ** 2).mean().backward()
    return {"w.grad, k small batches": w.grad, "w.grad, one large batch": large.grad}


def softmax_twice(numbers: Sequence[float] = (0.0, 1.0, 0.0)) -> Shown:
    logits = Tensor([numbers], label="logits")  # one sample, whose class is 0
    optimizer = SGD([logits], lr=1.0)
    losses = []
    for _ in range(50):
        loss = cross_entropy(logits.softmax(), np.array([0]))  # cross_entropy applies softmax itself
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    perfect = np.array([[1000.0] + [0.0] * (len(numbers) - 1)])
    lowest = cross_entropy(Tensor(perfect).softmax(), np.array([0]))
    return {"lowest possible loss": lowest.item(), "loss in the end": losses[-1], "loss": losses}


def product() -> Shown:
    x = Tensor(np.ones((2, 3)), label="x")  # two samples of three numbers
    W = Tensor(np.ones((4, 3)), label="W")
    (x @ W).sum().backward()
    return {}


def sizes() -> Shown:
    x = Tensor([1.0, 2.0, 3.0], label="x")
    target = Tensor([1.0, 2.0, 3.0, 4.0], label="target")
    loss = ((x - target) ** 2).sum()
    loss.backward()
    return {}
