"""The programs of questions.toml: functions of an engine that compute each number, so that none is typed in.

The lines of a question's `run` are shown with it, and its result or exception with the answer.
"""

from __future__ import annotations

import itertools

import numpy as np

from model import Tensor, topological_order

Engine = type[Tensor]


def gradient(leaf: Tensor) -> float:
    """Return the first element of a leaf's gradient; nan if it has none."""
    return float(np.asarray(leaf.grad, dtype=float).ravel()[0])


def used_twice(Tensor: Engine) -> float:
    a = Tensor(3.0)
    y = a * a + a
    y.backward()
    return gradient(a)


def classic(Tensor: Engine) -> float:
    a, b, c, d = Tensor(2.0), Tensor(3.0), Tensor(4.0), Tensor(5.0)
    y = ((a * b) + c) * (a + d)
    y.backward()
    return gradient(a)


def classic_by_one_way(Tensor: Engine, way: int) -> float:
    """Compute the gradient of a if only one of its two uses sends a message: the sum for 0, the product for 1."""
    a, b, c, d = Tensor(2.0), Tensor(3.0), Tensor(4.0), Tensor(5.0)
    cut = a.detach()
    y = ((cut * b) + c) * (a + d) if way else ((a * b) + c) * (cut + d)
    y.backward()
    return gradient(a)


def arrows(Tensor: Engine) -> float:
    a, b = Tensor(2.0), Tensor(3.0)
    t = a * b
    return float(sum(len(node.children) for node in topological_order(t * t + a)))


def relu_at_0(Tensor: Engine) -> float:
    x = Tensor(0.0)
    y = x.relu()
    y.backward()
    return gradient(x)


def difference_at_0(Tensor: Engine) -> float:
    h = 1e-6
    up, down = Tensor(h).relu(), Tensor(-h).relu()
    slope = (up.item() - down.item()) / (2 * h)
    return float(slope)


def runs_of_central_differences(parameters: int) -> int:
    """Count how often central differences run the function."""
    runs = 0

    def loss(w: np.ndarray) -> float:
        nonlocal runs
        runs += 1
        return Tensor(w).sum().item()

    w, h = np.zeros(parameters), 1e-5
    for i in range(parameters):
        step = np.zeros(parameters)
        step[i] = h
        loss(w + step)
        loss(w - step)
    return runs


def too_small_a_step(Tensor: Engine) -> float:
    x, h = 1.0, 1e-17
    up, down = Tensor(x + h) ** 2, Tensor(x - h) ** 2
    slope = (up.item() - down.item()) / (2 * h)
    return float(slope)


def steepest_sigmoid(Tensor: Engine) -> float:
    x = Tensor(0.0)
    y = x.sigmoid()
    y.backward()
    return gradient(x)


def backward_twice(Tensor: Engine) -> None:
    w = Tensor(3.0, label="w")
    loss = w * w
    loss.backward()
    loss.backward()


def not_zeroed(Tensor: Engine) -> float:
    w = Tensor(3.0)
    for _ in range(2):
        loss = w * w
        loss.backward()
    return gradient(w)


def one_pass(Tensor: Engine) -> float:
    w = Tensor(3.0)
    (w * w).backward()
    return gradient(w)


def many_numbers(Tensor: Engine) -> None:
    x = Tensor([1.0, 2.0, 3.0], label="x")
    y = x * x
    y.backward()


def written_to(Tensor: Engine) -> float:
    a, b = Tensor(2.0, label="a"), Tensor(3.0, label="b")
    y = a * b
    a.data += 1.0
    y.backward()
    return gradient(b)


def detached(Tensor: Engine) -> float:
    a = Tensor(3.0)
    y = a * a.detach()
    y.backward()
    return gradient(a)


def squared(Tensor: Engine) -> float:
    a = Tensor(3.0)
    (a * a).backward()
    return gradient(a)


def bias(Tensor: Engine) -> float:
    X, b = Tensor(np.ones((4, 3))), Tensor(np.zeros(3))
    y = (X + b).sum()
    y.backward()
    return gradient(b)


def parameters(Tensor: Engine, bias: bool = True) -> float:
    """Count the weights and biases of a network with 3 inputs and layers of 4, 4 and 1 units."""
    widths = [3, 4, 4, 1]
    made = [Tensor(np.zeros((n_in, n_out))) for n_in, n_out in itertools.pairwise(widths)]
    made += [Tensor(np.zeros(width)) for width in widths[1:] if bias]
    return float(sum(parameter.size for parameter in made))


def pairs(Tensor: Engine) -> float:
    prediction, target = Tensor(np.zeros((4, 1))), Tensor(np.zeros(4))
    difference = prediction - target
    return float(difference.size)


def by_an_if(Tensor: Engine) -> str:
    x = Tensor(3.0)
    y = x * x if x.item() > 0 else -x
    return f"The last node of the graph is `{y.op}`."


def number_first(Tensor: Engine) -> str:
    a = Tensor(3.0)
    y = 2 * a
    return f"The graph has a node `{y.op}`, and y is {y.item():g}."


def leaf(Tensor: Engine) -> str:
    a = Tensor(3.0)
    y = a * a
    return f"The backward step of a is {a.closure}; that of y is {'a closure' if y.closure else 'None'}."


def column_and_row(Tensor: Engine) -> float:
    column, row = Tensor(np.zeros((4, 1))), Tensor(np.zeros(3))
    return float((column + row).size)


def column(Tensor: Engine) -> float:
    X, c = Tensor(np.ones((4, 3))), Tensor(np.zeros((4, 1)))
    y = (X + c).sum()
    y.backward()
    return gradient(c)


def mean(Tensor: Engine) -> float:
    x = Tensor([1.0, 2.0, 3.0, 4.0])
    y = x.mean()
    y.backward()
    return gradient(x)


def sum_without_keepdims(Tensor: Engine) -> None:
    X = Tensor(np.ones((4, 3)))
    X - X.sum(axis=1)


def product_gradient(Tensor: Engine) -> float:
    A, B = Tensor(np.ones((2, 3))), Tensor(np.ones((3, 4)))
    y = (A @ B).sum()
    y.backward()
    return float(np.asarray(A.grad).size)


def one_step(Tensor: Engine, rate: float = 0.1) -> float:
    w = Tensor(3.0)
    loss = w * w
    loss.backward()
    return float(w.item() - rate * gradient(w))


def two_long_steps(Tensor: Engine) -> float:
    w, rate = 3.0, 1.0
    for _ in range(2):
        leaf = Tensor(w)
        (leaf * leaf).backward()
        w = w - rate * gradient(leaf)
    return w


def unsure(Tensor: Engine) -> float:
    z = Tensor([0.0, 0.0])
    loss = z.logsumexp() - z[0]
    loss.backward()
    return gradient(z)


def cut_off(Tensor: Engine) -> float:
    w, x = Tensor(-2.0), Tensor(3.0)
    y = (w * x).relu()
    y.backward()
    return gradient(w)


# ---------------------------------------------------------------- wrong numbers that people arrive at


def central_passes(Tensor: Engine) -> float:
    return float(runs_of_central_differences(1000))


def runs_of_one_side(Tensor: Engine) -> float:
    return float(runs_of_central_differences(1000) // 2)


def forward_passes(Tensor: Engine) -> float:
    """Count the function calls of forward differences: one for each parameter, and f(x)."""
    return float(runs_of_central_differences(1000) // 2 + 1)


def central_passes_of_one(Tensor: Engine) -> float:
    return float(runs_of_central_differences(1))


def slope_of_square(Tensor: Engine) -> float:
    return float((Tensor(1.0) * 2.0).item())


def slope_right_of_0(Tensor: Engine) -> float:
    return 2 * difference_at_0(Tensor)


def value_used_twice(Tensor: Engine) -> float:
    return (Tensor(3.0) * 3.0 + 3.0).item()


def classic_by_the_sum(Tensor: Engine) -> float:
    return classic_by_one_way(Tensor, 0)


def classic_by_the_product(Tensor: Engine) -> float:
    return classic_by_one_way(Tensor, 1)


def value_squared(Tensor: Engine) -> float:
    return (Tensor(3.0) * 3.0).item()


def message_of_one_row(Tensor: Engine) -> float:
    return float(Tensor(np.zeros((1, 3))).size / 3)


def size_of_x(Tensor: Engine) -> float:
    return float(Tensor(np.ones((4, 3))).size)


def size_of_b(Tensor: Engine) -> float:
    return float(Tensor(np.zeros(3)).size)


def size_of_column(Tensor: Engine) -> float:
    return float(Tensor(np.zeros(4)).size)


def parameters_without_biases(Tensor: Engine) -> float:
    return parameters(Tensor, bias=False)


def biases(Tensor: Engine) -> float:
    return parameters(Tensor) - parameters(Tensor, bias=False)


def sigmoid_at_0(Tensor: Engine) -> float:
    return Tensor(0.0).sigmoid().item()


def slope_of_tanh(Tensor: Engine) -> float:
    return 4 * steepest_sigmoid(Tensor)


def elements_of_both(Tensor: Engine) -> float:
    return float(Tensor(np.zeros(4)).size + Tensor(np.zeros(3)).size)


def value_of_mean(Tensor: Engine) -> float:
    return Tensor([1.0, 2.0, 3.0, 4.0]).mean().item()


def size_of_product(Tensor: Engine) -> float:
    return float((Tensor(np.ones((2, 3))) @ Tensor(np.ones((3, 4)))).size)


def size_of_right_factor(Tensor: Engine) -> float:
    return float(Tensor(np.ones((3, 4))).size)


def one_step_uphill(Tensor: Engine) -> float:
    return one_step(Tensor, -0.1)


def one_step_of_rate_1(Tensor: Engine) -> float:
    return one_step(Tensor, 1.0)


def probability(Tensor: Engine) -> float:
    return -unsure(Tensor)


def value_of_input(Tensor: Engine) -> float:
    return Tensor(3.0).item()


def value_of_product(Tensor: Engine) -> float:
    return (Tensor(-2.0) * 3.0).item()
