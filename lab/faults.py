"""Engines and training loops that are broken in exactly one way each: to see what the fault does, and what finds it.

A fault of the engine is a subclass of Tensor with one wrong rule. The result of an operation has the class of its
operands, so an expression on such tensors runs on the broken engine, and nothing else in the process does. A fault of
the training is another optimizer, loss or setting of a real run.

`compare` runs the same expression, from the same numbers, in the healthy and in the broken engine; `play` records that
event by event; `train_with` does it for a training run; `check` lets gradcheck loose on one of them.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from lab.gradcheck import Report, gradcheck
from lab.source import body
from lab.trace import Recording, Trace
from model import (
    MLP,
    SGD,
    Tensor,
    _as_float_array,
    _fitted,
    _with_axes,
    allow_mutation,
    concatenate,
    mse_loss,
    topological_order,
)
from train import Config, Record, Trainer

# ---------------------------------------------------------------- engines with one wrong rule


class Overwrites(Tensor):
    __slots__ = ()

    def _accumulate(self, message):
        if self.requires_grad:
            self.grad = _fitted(message, self)


class SkipsUnbroadcast(Tensor):
    __slots__ = ()

    def _accumulate(self, message):
        if self.requires_grad:
            self.grad = message * 1.0 if self.grad is None else self.grad + message


class WrongOrder(Tensor):
    __slots__ = ()

    def backward(self, grad: Any = None, retain_graph: bool = False) -> None:
        self.grad = _seed(self, grad)
        queue, seen = [self], {self}
        for node in queue:  # it grows as we go: what is nearest to the output comes first
            if node._backward is not None:
                node._backward(node.grad)
            for child in node._children:
                if child not in seen:
                    seen.add(child)
                    queue.append(child)


class Recursive(Tensor):
    __slots__ = ()

    def _accumulate(self, message):
        super()._accumulate(message)
        if self._backward is not None:
            self._backward(_fitted(message, self))

    def backward(self, grad: Any = None, retain_graph: bool = False) -> None:
        self._accumulate(_seed(self, grad))


class LateReads(Tensor):
    __slots__ = ()

    def __mul__(self, other):
        other, a, b = self._operands(other, "*")

        def _backward(upstream):
            self._accumulate(upstream * other.numpy())
            other._accumulate(upstream * self.numpy())

        return self._node(a * b, (self, other), "*", _backward)


class WrongCapture(Tensor):
    __slots__ = ()

    def __add__(self, other):
        other, a, b = self._operands(other, "+")
        senders = []
        for operand in (self, other):
            senders.append(lambda upstream: operand._accumulate(upstream * 1.0))  # noqa: B023, PERF401 (the fault)

        def _backward(upstream):
            for send in senders:
                send(upstream)

        return self._node(a + b, (self, other), "+", _backward)


class BackwardTwice(Tensor):
    __slots__ = ()

    def backward(self, grad: Any = None, retain_graph: bool = False) -> None:
        order = topological_order(self)
        self.grad = _seed(self, grad)
        for node in order[::-1] + order[::-1]:
            if node._backward is not None:
                node._backward(node.grad)


class ReluWrongSide(Tensor):
    __slots__ = ()

    def relu(self) -> Tensor:
        y = np.maximum(self._read(), 0.0)

        def _backward(upstream):
            self._accumulate(upstream * (y <= 0.0))

        return self._node(y, (self,), "relu", _backward)


class MeanUndivided(Tensor):
    __slots__ = ()

    def mean(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        a = self._read()

        def _backward(upstream):
            self._accumulate(np.broadcast_to(_with_axes(upstream, axis, a.ndim, keepdims), a.shape))

        return self._node(a.mean(axis=axis, keepdims=keepdims), (self,), "mean", _backward)


class SoftmaxUnshifted(Tensor):
    __slots__ = ()

    def softmax(self, axis: int = -1) -> Tensor:
        e = self.exp()
        return e / e.sum(axis, keepdims=True)

    def log_softmax(self, axis: int = -1) -> Tensor:
        return self - self.exp().sum(axis, keepdims=True).log()


class LogUnguarded(Tensor):
    __slots__ = ()

    def log_softmax(self, axis: int = -1) -> Tensor:
        return self.softmax(axis).log()


class HalfPrecision(Tensor):
    __slots__ = ()

    def _accumulate(self, message):
        super()._accumulate(message.astype(np.float16))


def _seed(output: Tensor, grad: Any) -> Any:
    return _as_float_array(np.ones(output.shape) if grad is None else grad, output.dtype)


# ---------------------------------------------------------------- optimizers and losses with one mistake


class NeverZeroes(SGD):
    def zero_grad(self) -> None:
        return


class ZeroesSome(SGD):
    def zero_grad(self) -> None:
        for p in self.parameters[:2]:
            p.grad = None


class Ascends(SGD):
    def _update(self, i, gradient):
        return -float(self.lr) * gradient


def likelihood_loss(logits: Tensor, labels: np.ndarray) -> Tensor:
    """Cross entropy, written out: the mean of -log softmax(logits)[label]. logits (n, classes), labels (n,)."""
    one_hot = np.eye(logits.shape[1])[labels]
    return -(logits.log_softmax(axis=1) * one_hot).sum(axis=1).mean()


def offset_loss(logits: Tensor, labels: np.ndarray) -> Tensor:
    """The same with 100 added to all logits, which changes no probability."""
    return likelihood_loss(logits + 100.0, labels)


def masked_loss(logits: Tensor, labels: np.ndarray) -> Tensor:
    """The same with one class more that is ruled out by a very low logit, as masks do."""
    return likelihood_loss(concatenate([logits, np.full((len(labels), 1), -1000.0)], axis=1), labels)


def squared_loss(logits: Tensor, labels: np.ndarray) -> Tensor:
    """For two classes: how far the difference of the two logits is from -1 (class 0) or 1 (class 1), squared."""
    score = logits[:, 1:] - logits[:, :1]
    target = 2.0 * labels - 1.0
    return mse_loss(score.reshape(target.shape), target)


def broadcast_loss(logits: Tensor, labels: np.ndarray) -> Tensor:
    score = logits[:, 1:] - logits[:, :1]
    target = 2.0 * labels - 1.0
    return ((score - target) ** 2).mean()


# ---------------------------------------------------------------- a training run made of these parts


@dataclass(frozen=True)
class Setup:
    """What a run is made of. The broken setup of a fault differs from its healthy one in exactly one of these."""

    engine: type[Tensor] = Tensor
    optimizer: type[SGD] = SGD
    loss: Callable[[Tensor, np.ndarray], Tensor] = likelihood_loss
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))  # of train.Config

    def config(self, seed: int) -> Config:
        """Small enough to train in a fraction of a second, large enough to learn."""
        base = {"data": "moons", "hidden": (8, 8), "optimizer": "sgd", "lr": 0.1, "batch_size": 40, "epochs": 20}
        return Config(**{**base, **self.settings, "seed": seed})


def _run(
    engine: type[Tensor] = Tensor,
    optimizer: type[SGD] = SGD,
    loss: Callable[[Tensor, np.ndarray], Tensor] = likelihood_loss,
    **settings: Any,
) -> Setup:
    return Setup(engine, optimizer, loss, MappingProxyType(settings))


class LessonTrainer(Trainer):
    """The trainer of train.py on a network and a loss written with basic operations, so that every rule takes part.

    The second hidden layer has a shortcut around it: there a tensor is used twice.
    """

    def __init__(self, setup: Setup, seed: int) -> None:
        super().__init__(setup.config(seed))
        self.setup = setup
        use_engine(self.model, setup.engine)
        self.optimizer = setup.optimizer(self.model.parameters(), self.config.lr)

    def loss(self, rows: np.ndarray) -> Tensor:
        logits, _ = self._forward(self.dataset.train_x[rows])
        return self.setup.loss(logits, self.dataset.train_y[rows])

    def _forward(self, inputs: np.ndarray) -> tuple[Tensor, list[np.ndarray]]:
        x, hidden = self.model.layers[0].weight._constant(inputs), []
        for layer in self.model.layers[:-1]:
            h = getattr(x @ layer.weight + layer.bias, self.config.activation)()
            hidden.append(h.numpy())
            x = x + h if x.shape == h.shape else h
        last = self.model.layers[-1]
        return x @ last.weight + last.bias, hidden


def use_engine(network: MLP, engine: type[Tensor]) -> None:
    """Make the parameters anew as tensors of another engine: whatever is computed from them follows."""
    for layer in network.layers:
        for name in ("weight", "bias"):
            old = getattr(layer, name)
            setattr(layer, name, engine(old.numpy(), label=old.label))


# ---------------------------------------------------------------- expressions on which a fault shows


def twice_used(a: Tensor, b: Tensor) -> Tensor:
    return a * b + a


def bias_on_rows(X: Tensor, b: Tensor) -> Tensor:
    return (X + b).tanh()


def shortcut(a: Tensor, b: Tensor) -> Tensor:
    h = a * b
    return h + h.tanh().exp()


def doublings(a: Tensor) -> Tensor:
    for _ in range(12):
        a = a + a
    return a


def few_doublings(a: Tensor) -> Tensor:
    for _ in range(3):
        a = a + a
    return a


def long_chain(a: Tensor) -> Tensor:
    for _ in range(1000):
        a = a * 0.999
    return a


def early_update(a: Tensor, b: Tensor) -> Tensor:
    y = a * b
    a.data = a.numpy() + 1.0  # what an optimizer step does, too early
    return y


def sum_of_two(a: Tensor, b: Tensor) -> Tensor:
    return a + b


def product_of_three(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    return a * b * c


def hidden_layer(X: Tensor, W: Tensor) -> Tensor:
    return (X @ W).relu()


def mean_of_rows(X: Tensor) -> Tensor:
    return X.mean(axis=1)


def large_logits(x: Tensor) -> Tensor:
    return (x + 1000.0).softmax()


def sure_logits(x: Tensor) -> Tensor:
    return (x + np.array([0.0, 0.0, 800.0])).log_softmax()


def small_factor(x: Tensor) -> Tensor:
    return (x * 1e8) * 1e-8


# ---------------------------------------------------------------- where the healthy engine refuses


def write_between_the_passes() -> None:
    a, b = Tensor([1.0, 2.0], label="a"), Tensor([3.0, 4.0], label="b")
    y = a * b
    a.data += 1.0
    y.backward([1.0, 1.0])


def second_backward() -> None:
    a = Tensor(2.0, label="a")
    loss = a * a
    loss.backward()
    loss.backward()


def loss_of_two_shapes() -> None:
    prediction = Tensor([[1.0], [2.0], [3.0]], label="prediction")
    mse_loss(prediction, np.array([1.0, 2.0, 3.0]))


def negative_rate() -> None:
    w = Tensor([1.0, 2.0], label="w")
    SGD([w], lr=-0.1)


# ---------------------------------------------------------------- the faults


@dataclass(frozen=True)
class Fault:
    """One way to be wrong. `example` is the expression on which an engine's fault shows, `shapes` those of its leaves;
    a fault of the training has none and shows in the gradients of the network instead."""

    key: str
    name: str
    cause: str  # one line
    symptom: str  # what you notice first
    in_training: str  # how it shows in a training run
    caught_by: str  # which check finds it, and why that one
    broken: Setup
    healthy: Setup = field(default_factory=Setup)
    example: Callable[..., Tensor] | None = None
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    checked: Callable[..., Tensor] | None = None  # what gradcheck is run on, where that is not the example
    shorter: Callable[..., Tensor] | None = None  # the example with fewer events, to be gone through one by one
    verdict: str = ""  # what the training doctor says of the run
    guard: Callable[[], None] | None = None  # lines that the healthy engine refuses
    fix: str = ""  # a diff
    torch_code: str = ""  # PyTorch in the same situation...
    torch_message: str = ""  # ...and what it prints, word for word; empty where it prints nothing

    @property
    def kind(self) -> str:
        """ "engine": a wrong rule of the engine. "training": a mistake in the loop or its settings."""
        return "engine" if self.example else "training"

    @property
    def code(self) -> str:
        """The lines that are wrong: the broken rule, the broken method or function, or the setting."""
        if self.broken.engine is not Tensor:
            return _methods(self.broken.engine)
        if self.broken.optimizer is not SGD:
            return _methods(self.broken.optimizer)
        if self.broken.loss is not self.healthy.loss:
            return inspect.getsource(self.broken.loss)
        return self.fix.splitlines()[0].removeprefix("- ")

    def refusal(self) -> tuple[str, str] | None:
        """The lines of the guard and what the healthy engine said to them just now; None where there is no guard."""
        if self.guard is None:
            return None
        try:
            self.guard()
        except (RuntimeError, ValueError) as error:
            return body(self.guard), f"{type(error).__name__}: {error}"
        raise AssertionError(f"The guard of “{self.name}” let it pass.")


def source(function: Callable) -> str:
    """The lines of an expression, without the types, which say nothing here."""
    return re.sub(r": Tensor| -> Tensor", "", inspect.getsource(function))


def _methods(broken: type) -> str:
    """The source of a class without its first lines and without notes to the linter."""
    source = textwrap.dedent(inspect.getsource(broken).partition("\n")[2]).replace("__slots__ = ()\n", "")
    return re.sub(r"  # noqa.*", "", source).strip() + "\n"


def _diff(removed: str, *added: str) -> str:
    return "\n".join([*(["- " + removed] if removed else []), *("+ " + line for line in added)])


FAULTS = (
    Fault(
        key="overwrite",
        name="Overwrite instead of add",
        cause="`_accumulate` stores the latest message where it should add it to the gradient.",
        symptom="A tensor that is used twice keeps one of its two messages; everything used once is right.",
        in_training="What comes before a shared tensor follows a part of its gradient only. Often it learns more "
        "slowly, not always: the curve proves nothing.",
        caught_by="The gradient check, on any expression that uses a tensor twice.",
        broken=_run(engine=Overwrites),
        example=twice_used,
        shapes={"a": (), "b": ()},
        fix=_diff("self.grad = _fitted(message, self)", "self.grad += message"),
    ),
    Fault(
        key="skip-unbroadcast",
        name="Broadcasting not undone",
        cause="The message keeps the shape of the result, though the operand was repeated to reach that shape.",
        symptom="The gradient of a bias has one row for each sample.",
        in_training="The update turns the bias into a matrix; the next batch of another size cannot be added to it.",
        caught_by="The gradient check: a gradient must have the shape of its tensor.",
        broken=_run(engine=SkipsUnbroadcast),
        example=bias_on_rows,
        shapes={"X": (4, 3), "b": (3,)},
        fix=_diff(
            "self.grad = message * 1.0 if self.grad is None else self.grad + message",
            "message = _fitted(message, self)",
            "self.grad += message",
        ),
        torch_code="b = torch.zeros(3, requires_grad=True)\nb.grad = torch.ones(4, 3)",
        torch_message="attempting to assign a gradient of size '[4, 3]' to a tensor of size '[3]'. Please ensure that "
        "the gradient and the tensor are the same size",
    ),
    Fault(
        key="silent-broadcast",
        name="A loss that broadcasts",
        cause="Predictions of shape (n, 1) meet targets of shape (n,): their difference has shape (n, n).",
        symptom="No error and a smooth loss, yet every prediction is compared with the targets of all samples.",
        in_training="All predictions are drawn to the mean of the targets; the accuracy stays near chance.",
        caught_by="The training doctor. The gradient check cannot: it is the right gradient of the wrong loss.",
        healthy=_run(loss=squared_loss, activation="tanh", lr=0.03, epochs=30),
        broken=_run(loss=broadcast_loss, activation="tanh", lr=0.03, epochs=30),
        verdict="chance",
        guard=loss_of_two_shapes,
        fix=_diff(
            "return ((score - target) ** 2).mean()",
            "return mse_loss(score.reshape(target.shape), target)",
        ),
        torch_code="F.mse_loss(torch.zeros(4, 1), torch.zeros(4))",
        torch_message="Using a target size (torch.Size([4])) that is different to the input size (torch.Size([4, 1])). "
        "This will likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
    ),
    Fault(
        key="wrong-order",
        name="Operands before their users",
        cause="Nodes are visited by their distance from the output, not in reverse topological order.",
        symptom="A node passes its gradient on before all of its messages have arrived; the late ones go nowhere.",
        in_training="Everything before a shortcut misses a part of its gradient and mostly learns less. A plain "
        "chain of layers is unharmed.",
        caught_by="The gradient check, on an expression with paths of different lengths to the same tensor.",
        broken=_run(engine=WrongOrder),
        example=shortcut,
        shapes={"a": (), "b": ()},
        fix=_diff(
            "for node in queue:",
            "interior = [node for node in topological_order(self) if node._backward is not None]",
            "for node in reversed(interior):",
        ),
    ),
    Fault(
        key="recursive",
        name="Recursion for each message",
        cause="Every message is passed on at once, so a shared node runs its closure once for each path to it.",
        symptom="The gradients are right, but each reuse doubles the work, and a long chain exhausts Python's stack.",
        in_training="The same curve, slower; the deeper the network and the more shortcuts, the worse.",
        caught_by="The gradient check, on a chain of a thousand operations; and a count of the messages.",
        broken=_run(engine=Recursive),
        example=doublings,
        shapes={"a": ()},
        checked=long_chain,
        shorter=few_doublings,
        fix=_diff(
            "self._backward(_fitted(message, self))",
            "for node in reversed(interior):",
            "    node._backward(node.grad)",
        ),
    ),
    Fault(
        key="late-read",
        name="Operands read too late",
        cause="The closure reads its operands when the backward pass runs, not when the operation did.",
        symptom="Whatever is written to a tensor between the two passes changes the gradient of the other operand.",
        in_training="Nothing: this loop writes to nothing between the passes. It shows once something does, such as an "
        "optimizer step in the wrong place or a clipping of the weights.",
        caught_by="The gradient check, with a write between the passes.",
        broken=_run(engine=LateReads),
        example=early_update,
        shapes={"a": (3,), "b": (3,)},
        guard=write_between_the_passes,
        fix=_diff(
            "self._accumulate(upstream * other.numpy())",
            "self._accumulate(upstream * b)  # d(a * b)/da = b",
        ),
        torch_code="a, b = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)\ny = (a * b).sum()\n"
        "with torch.no_grad():\n    a += 1.0\ny.backward()",
        torch_message="one of the variables needed for gradient computation has been modified by an inplace operation: "
        "[torch.FloatTensor [3]] is at version 1; expected version 0 instead. Hint: enable anomaly detection to find "
        "the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, "
        "check_nan=False).",
    ),
    Fault(
        key="wrong-capture",
        name="A closure captures the loop variable",
        cause="Closures made in a loop share its variable: when they run, all of them see its last value.",
        symptom="The last operand receives everybody's message, the others receive none.",
        in_training="The run stops at its first step: what stands on the left of `+` is to pass on a gradient that "
        "never came.",
        caught_by="The gradient check: no gradient arrives at the first operand.",
        broken=_run(engine=WrongCapture),
        example=sum_of_two,
        shapes={"a": (3,), "b": (3,)},
        fix=_diff(
            "senders.append(lambda upstream: operand._accumulate(upstream * 1.0))",
            "self._accumulate(upstream * 1.0)  # d(a + b)/da = 1",
            "other._accumulate(upstream * 1.0)  # d(a + b)/db = 1",
        ),
        torch_code="a, b = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)\n"
        "torch.autograd.grad((b + b).sum(), [a, b])",
        torch_message="The differentiated Tensor at index 0 appears to not have been used in the graph. Set "
        "allow_unused=True if this is the desired behavior.",
    ),
    Fault(
        key="forgot-zero-grad",
        name="zero_grad forgotten",
        cause="The gradients of the last step are still there when the next ones are added.",
        symptom="The norm of the gradient grows from step to step, though every single gradient is right.",
        in_training="It works like momentum without friction: the loss falls, overshoots and swings, the norms grow.",
        caught_by="The training doctor: the norms pile up. The gradient check sees one pass only and finds nothing.",
        healthy=_run(lr=0.05, epochs=30),
        broken=_run(optimizer=NeverZeroes, lr=0.05, epochs=30),
        verdict="piling",
        fix=_diff("", "self.optimizer.zero_grad()"),
    ),
    Fault(
        key="zero-some",
        name="zero_grad on some parameters only",
        cause="Only the first layer's gradients are cleared; the others belong to a list nobody clears.",
        symptom="The gradients of some layers grow from step to step, those of others do not.",
        in_training="The loss may fall well for a while. The norms tell: they grow in the layers that are not cleared, "
        "and only there.",
        caught_by="The training doctor: the norms pile up in the layers that it names.",
        healthy=_run(lr=0.003, epochs=30),
        broken=_run(optimizer=ZeroesSome, lr=0.003, epochs=30),
        verdict="piling",
        fix=_diff("for p in self.parameters[:2]:", "for p in self.parameters:"),
    ),
    Fault(
        key="backward-twice",
        name="Backward twice through one graph",
        cause="The graph is gone through twice, and the gradients inside it still hold those of the first time.",
        symptom="Gradients are not twice but many times too large: the further from the output, the more.",
        in_training="Every step is far too long for the first layers. With a small learning rate that may look like "
        "luck: the loss falls faster, until it jumps.",
        caught_by="The gradient check, on anything more than one operation deep.",
        broken=_run(engine=BackwardTwice),
        example=product_of_three,
        shapes={"a": (), "b": (), "c": ()},
        guard=second_backward,
        fix=_diff(
            "for node in order[::-1] + order[::-1]:",
            "for node in reversed(interior):",
            "    node._backward, node._children, node._saved = _freed, (), ()",
        ),
        torch_code="a = torch.tensor(2.0, requires_grad=True)\ny = a * a\ny.backward()\ny.backward()",
        torch_message="Trying to backward through the graph a second time (or directly access saved tensors after they "
        "have already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
        "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you "
        "need to access saved tensors after calling backward.",
    ),
    Fault(
        key="relu-side",
        name="The relu mask on the wrong side",
        cause="The gradient passes where the unit was off, and is stopped where it was on.",
        symptom="Units that did not contribute are changed, and those that did are not.",
        in_training="The hidden layers move in directions that have nothing to do with the loss; it stays high.",
        caught_by="The gradient check, wherever an input of relu is not 0.",
        broken=_run(engine=ReluWrongSide),
        example=hidden_layer,
        shapes={"X": (2, 3), "W": (3, 2)},
        fix=_diff("self._accumulate(upstream * (y <= 0.0))", "self._accumulate(upstream * (y > 0.0))"),
    ),
    Fault(
        key="mean-undivided",
        name="A mean that forgets to divide",
        cause="The backward rule of the mean is that of the sum: it leaves out 1/n.",
        symptom="Right direction, wrong length: the gradient is n times too large.",
        in_training="It looks like a learning rate that is n times too high, n being the batch size.",
        caught_by="The gradient check, which shows the factor n.",
        broken=_run(engine=MeanUndivided),
        example=mean_of_rows,
        shapes={"X": (2, 4)},
        fix=_diff(
            "self._accumulate(np.broadcast_to(_with_axes(upstream, axis, a.ndim, keepdims), a.shape))",
            "return self.sum(axis, keepdims) / _count(self.shape, axis)",
        ),
    ),
    Fault(
        key="softmax-unshifted",
        name="Softmax without the maximum",
        cause="exp is taken of the logits themselves, not of their distance from the largest one.",
        symptom="Right for small logits; from about 709 on (88 in float32) exp is inf, and inf / inf is nan.",
        in_training="This loss adds 100 to all logits, which should change nothing: softmax sees differences only. "
        "Here exp overflows at the first step.",
        caught_by="The gradient check, with logits near 1000.",
        healthy=_run(loss=offset_loss),
        broken=_run(engine=SoftmaxUnshifted, loss=offset_loss),
        example=large_logits,
        shapes={"x": (3,)},
        fix=_diff("e = self.exp()", "e = np.exp(a - a.max(axis=axis, keepdims=True))"),
        torch_code="torch.autograd.set_detect_anomaly(True)\nx = torch.tensor([1000.0, 0.0], requires_grad=True)\n"
        "e = x.exp()\n(e / e.sum())[0].backward()",
        torch_message="Function 'DivBackward0' returned nan values in its 1th output.",
    ),
    Fault(
        key="log-unguarded",
        name="The logarithm of a probability that is 0",
        cause="log is taken of the softmax, and a very small probability has already been rounded to 0.",
        symptom="The loss is inf, and the gradient is inf times 0, which is nan.",
        in_training="This loss rules a third class out with a logit of −1000, as a mask does. Its probability is 0, "
        "its logarithm −inf, and the loss is no number at the first step.",
        caught_by="The gradient check, with logits that are 800 apart.",
        healthy=_run(loss=masked_loss),
        broken=_run(engine=LogUnguarded, loss=masked_loss),
        example=sure_logits,
        shapes={"x": (3,)},
        fix=_diff(
            "return self.softmax(axis).log()",
            "shifted = a - a.max(axis=axis, keepdims=True)",
            "y = shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))",
        ),
        torch_code="torch.autograd.set_detect_anomaly(True)\nx = torch.tensor([0.0, 800.0], requires_grad=True)\n"
        "x.softmax(0).log()[0].backward()",
        torch_message="Function 'SoftmaxBackward0' returned nan values in its 0th output.",
    ),
    Fault(
        key="sign-flipped",
        name="The sign of the update flipped",
        cause="The optimizer adds the step where it should subtract it.",
        symptom="All gradients are right, and the loss climbs from the first step on.",
        in_training="The loss climbs in every epoch, faster and faster, until it overflows.",
        caught_by="The training doctor: a loss that climbs from the start.",
        healthy=_run(lr=0.005),
        broken=_run(optimizer=Ascends, lr=0.005),
        verdict="climbing",
        guard=negative_rate,
        fix=_diff("return -float(self.lr) * gradient", "return float(self.lr) * gradient"),
    ),
    Fault(
        key="zero-init",
        name="All weights start at zero",
        cause="With zero weights every unit of a layer computes the same, and no gradient passes back through them.",
        symptom="The gradients of all weights are exactly 0.",
        in_training="The loss is flat from the first epoch: only the biases of the last layer move.",
        caught_by="The training doctor: a flat loss and norms that are exactly 0.",
        broken=_run(init="zeros"),
        verdict="flat",
        fix="- Config(init='zeros')\n+ Config(init='he')",
    ),
    Fault(
        key="rate-too-high",
        name="A learning rate that is too high",
        cause="The step is longer than the valley is wide.",
        symptom="The loss jumps up and down instead of falling.",
        in_training="The loss jumps from epoch to epoch, and never settles.",
        caught_by="The training doctor: it swings.",
        healthy=_run(activation="tanh"),
        broken=_run(activation="tanh", lr=20.0),
        verdict="rate-high",
        fix="- Config(lr=20.0)\n+ Config(lr=0.1)",
    ),
    Fault(
        key="half-precision",
        name="Gradients rounded to half precision",
        cause="Messages are stored with 11 bits: below 6e-8 they become 0, above 65,504 inf.",
        symptom="Small gradients vanish though the formula is right; the others have three digits.",
        in_training="Hardly anything while gradients are of middling size. Where they are very small, learning stops.",
        caught_by="The gradient check: it compares far more digits than half precision has.",
        broken=_run(engine=HalfPrecision),
        example=small_factor,
        shapes={"x": (3,)},
        fix=_diff("super()._accumulate(message.astype(np.float16))", "return message.astype(data.dtype)"),
        torch_code="x = torch.ones(2, dtype=torch.float16)\nx.masked_fill(torch.tensor([True, False]), -1e9)",
        torch_message="value cannot be converted to type c10::Half without overflow",
    ),
)

BY_KEY = MappingProxyType({fault.key: fault for fault in FAULTS})


# ---------------------------------------------------------------- seen side by side


@dataclass(frozen=True)
class Pass:
    """A forward and a backward pass. gradients: leaf or parameter -> array, or None where no message arrived.
    nodes: (name, value, gradient) in the order of the forward pass. messages: how many were sent; 0 if not counted.
    error: what was raised instead, in a sentence, or ""."""

    value: np.ndarray | None
    gradients: dict[str, np.ndarray | None]
    nodes: list[tuple[str, np.ndarray, np.ndarray | None]]
    messages: int = 0
    error: str = ""


EFFECTS = MappingProxyType(
    {
        "same": "the same gradients",
        "numbers": "other numbers in the same places",
        "missing": "no gradient at all for some tensor",
        "shape": "a gradient of another shape",
        "not finite": "nan or inf",
        "error": "an error instead of gradients",
    }
)


@dataclass(frozen=True)
class Comparison:
    """The same numbers through the healthy and the broken engine."""

    healthy: Pass
    broken: Pass

    @property
    def effect(self) -> str:
        """The most drastic of EFFECTS that the broken pass shows."""
        if self.broken.error:
            return "error"
        effects = {
            _effect(self.healthy.gradients[name], self.broken.gradients[name]) for name in self.healthy.gradients
        }
        return next(e for e in ("missing", "shape", "not finite", "numbers", "same") if e in effects)


def differs(healthy: np.ndarray, broken: np.ndarray) -> np.ndarray:
    """Which elements of two arrays of one shape differ by more than rounding (float32's, to be fair to both)."""
    return ~np.isclose(healthy, broken, rtol=1e-5, atol=1e-12, equal_nan=True)


def _effect(healthy: np.ndarray | None, broken: np.ndarray | None) -> str:
    if broken is None or healthy is None:
        return "same" if broken is healthy else "missing"
    if healthy.shape != broken.shape:
        return "shape"
    if not np.all(np.isfinite(broken)):
        return "not finite"
    return "numbers" if differs(healthy, broken).any() else "same"


STEPS = 3  # a fault of the training is looked at in its third step: the first ones may be right


def compare(fault: Fault, seed: int) -> Comparison:
    """For a fault of the engine, its example; for a fault of the training, the third step of a run."""
    if fault.example is None:
        return Comparison(*(training_pass(setup, seed) for setup in (fault.healthy, fault.broken)))
    engines = (fault.healthy.engine, fault.broken.engine)
    return Comparison(*(expression_pass(fault.example, engine, leaves(fault, seed)) for engine in engines))


def leaves(fault: Fault, seed: int) -> dict[str, np.ndarray]:
    """Numbers for the example: one decimal, between 0.3 and 1.6, of either sign, so away from the kink of relu."""
    rng = np.random.default_rng(seed)
    return {
        name: (rng.uniform(0.3, 1.6, shape) * rng.choice([-1.0, 1.0], shape)).round(1)
        for name, shape in fault.shapes.items()
    }


def expression_pass(build: Callable[..., Tensor], engine: type[Tensor], values: Mapping[str, np.ndarray]) -> Pass:
    """One forward and backward pass, without the guard: a broken engine is to be seen, not to be stopped.

    The upstream gradient of an output that is not a single number is 1, 2, 3...: with ones, some faults do not show.
    """
    messages = 0

    class Counted(engine):
        __slots__ = ()

        def _accumulate(self, message):
            nonlocal messages
            messages += 1
            super()._accumulate(message)

    inputs = {name: Counted(value, label=name) for name, value in values.items()}
    error = ""
    with allow_mutation(), np.errstate(all="ignore"):
        output = build(**inputs)
        nodes = topological_order(output)
        before = [node.numpy() for node in nodes]
        try:
            output.backward(_upstream(output))
        except Exception as raised:  # whatever a broken engine raises is something to show
            error = f"{type(raised).__name__}: {raised}"
    return Pass(
        value=output.numpy(),
        gradients={name: None if t.grad is None else np.array(t.grad) for name, t in inputs.items()},
        nodes=[
            (node.label or node.op or "constant", value, None if node.grad is None else np.array(node.grad))
            for node, value in zip(nodes, before, strict=True)
        ],
        messages=messages,
        error=error,
    )


def _upstream(output: Tensor) -> np.ndarray:
    return np.arange(1.0, output.size + 1).reshape(output.shape)


def play(fault: Fault, engine: type[Tensor], seed: int) -> Trace:
    """The pass of `compare` in an engine (the fault's, or Tensor), event by event, on the shorter example if there is
    one. An error that the engine raises ends the trace, which then tells it."""
    if fault.example is None:
        raise ValueError(f"“{fault.name}” is a fault of the training: no single pass shows it.")
    recording = Recording(leaves(fault, seed), engine)
    error = ""
    with allow_mutation(), np.errstate(all="ignore"):
        output = (fault.shorter or fault.example)(**recording.tensors)
        try:
            output.backward(_upstream(output))
        except Exception as raised:  # as in expression_pass
            error = f"{type(raised).__name__}: {raised}"
    return recording.finish(output, error)


def first_difference(healthy: Trace, broken: Trace) -> int | None:
    """The index of the first event of the broken pass that the healthy one does not have, or not as often.

    None where it has them all. Two events are the same if their numbers are; the graphs may differ.
    """
    known = Counter(_told(healthy, event) for event in healthy.events)
    for index, event in enumerate(broken.events):
        told = _told(broken, event)
        if not known[told]:
            return index
        known[told] -= 1
    return None


def _told(trace: Trace, event: dict) -> str:
    """The numbers of an event, and of the nodes that it is about."""
    numbers = [event.get(name) for name in ("grad", "upstream", "contribution", "before", "message", "after")]
    values = [trace.nodes[event[name]]["value"] for name in ("node", "child") if name in event]
    return repr((event["kind"], numbers, values))  # as text, nan equals nan


def training_pass(setup: Setup, seed: int) -> Pass:
    """The gradients that the third step of a run used."""
    trainer = LessonTrainer(setup, seed)
    losses = [trainer.step() for _ in range(STEPS)]
    gradients = {p.label: None if p.grad is None else np.array(p.grad) for p in trainer.model.parameters()}
    nodes = [(p.label, p.numpy(), p.grad) for p in trainer.model.parameters()]
    return Pass(np.array(losses[-1]), gradients, nodes)


def check(fault: Fault, engine: type[Tensor], seed: int) -> Report:
    """The gradient check of an engine (the fault's, or Tensor) on the expression that finds this fault."""
    if fault.example is None:
        raise ValueError(f"“{fault.name}” is a fault of the training: ask the doctor, the gradients are right.")
    with allow_mutation():
        return gradcheck(fault.checked or fault.example, leaves(fault, seed), seed=seed, tensor=engine)


@dataclass(frozen=True)
class History:
    """What was measured before training, as epoch 0; the records of the epochs; what stopped the run early, or ""."""

    initial: Record
    records: list[Record]
    error: str = ""

    @property
    def from_start(self) -> list[Record]:
        """With epoch 0, which the charts begin with."""
        return [self.initial, *self.records]


def train_with(setup: Setup, seed: int) -> History:
    """A real training run, a fraction of a second long. An error that a broken engine raises ends it."""
    records, trainer = [], LessonTrainer(setup, seed)
    initial = {"epoch": 0} | trainer.measure()
    try:
        while not trainer.done:
            trainer.step()
            if trainer.epoch_complete:
                records.append(trainer.finish_epoch())
    except Exception as raised:  # as in expression_pass
        return History(initial, records, f"{type(raised).__name__}: {raised}")
    return History(initial, records)


CURVES = MappingProxyType(
    {
        "same": "the same curve",
        "better": "it learns as well, or faster",
        "worse": "it learns less",
        "overflow": "the loss is no longer a number",
        "error": "it stops with an error",
    }
)


def outcome(healthy: History, broken: History) -> str:
    """Which of CURVES the broken run is, next to the healthy one."""
    if broken.error:
        return "error"
    if broken.records[-1]["diverged"] or broken.records[-1]["train_loss"] is None:
        return "overflow"
    losses = [[record["train_loss"] for record in run.records] for run in (healthy, broken)]
    if np.allclose(*losses, rtol=1e-3):
        return "same"
    return "better" if losses[1][-1] <= 1.02 * losses[0][-1] else "worse"


# ---------------------------------------------------------------- found by what it says


def search(text: str) -> list[Fault]:
    """Faults whose description or PyTorch message shares words with the text, the best match first.

    Rare words count more than common ones: `inplace` is in one entry, `gradient` in nearly all.
    """
    words = [_words(" ".join((f.name, f.cause, f.symptom, f.in_training, f.torch_message))) for f in FAULTS]
    wanted = _words(text)
    weights = {word: 1.0 / sum(word in known for known in words) for word in wanted if any(word in k for k in words)}
    scores = [sum(weights.get(word, 0.0) for word in known & wanted) for known in words]
    best = max(scores)
    order = sorted(range(len(FAULTS)), key=lambda i: -scores[i])
    return [FAULTS[i] for i in order if scores[i] > 0 and scores[i] >= best / 3]


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z_]{3,}", text.lower())) - {"the", "and", "that", "with", "for", "was"}
