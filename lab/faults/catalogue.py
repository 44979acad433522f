"""The catalogue of faults: what each is, what one notices, what finds it, and the fix."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from types import MappingProxyType

from lab.faults.engines import (
    BackwardTwice,
    HalfPrecision,
    LateReads,
    LogUnguarded,
    MeanUndivided,
    Overwrites,
    Recursive,
    ReluWrongSide,
    SkipsUnbroadcast,
    SoftmaxUnshifted,
    WrongCapture,
    WrongOrder,
)
from lab.faults.examples import (
    bias_on_rows,
    doublings,
    early_update,
    few_doublings,
    hidden_layer,
    large_logits,
    long_chain,
    loss_of_two_shapes,
    mean_of_rows,
    negative_rate,
    product_of_three,
    second_backward,
    shortcut,
    small_factor,
    sum_of_two,
    sure_logits,
    twice_used,
    write_between_the_passes,
)
from lab.faults.training import (
    Ascends,
    NeverZeroes,
    Setup,
    ZeroesSome,
    broadcast_loss,
    masked_loss,
    offset_loss,
    run_of,
    squared_loss,
)
from lab.traps.lines import body
from model import SGD, Tensor

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
    failure: str = ""  # key of the failure (lab/failures/catalogue.py) that it is an example of; "" for none
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

    @cached_property  # Python reads a whole file through to find a class
    def code(self) -> str:
        """The lines that are wrong: the broken rule, the broken method or function, or the setting."""
        if self.broken.engine is not Tensor:
            return _methods(self.broken.engine)
        if self.broken.optimizer is not SGD:
            return _methods(self.broken.optimizer)
        if self.broken.loss is not self.healthy.loss:
            return inspect.getsource(self.broken.loss)
        return self.fix.splitlines()[0].removeprefix("- ")

    @property
    def right(self) -> str:
        """The lines that stand there where nothing is broken: of the engine, optimizer or loss, or a setting."""
        for broken, healthy in ((self.broken.engine, Tensor), (self.broken.optimizer, SGD)):
            if broken is not healthy:
                names = [name for name, value in vars(broken).items() if inspect.isfunction(value)]
                return "\n".join(_without_docstring(getattr(healthy, name)) for name in names)
        if self.broken.loss is not self.healthy.loss:
            return _without_docstring(self.healthy.loss)
        return self.fix.splitlines()[-1].removeprefix("+ ")

    def marks(self) -> tuple[list[bool], list[bool]]:
        """For each line of `code`, and for each of `right`: is it what the fix takes away, or what it puts there?"""
        marks = []
        for sign, mine, other in (("- ", self.code, self.right), ("+ ", self.right, self.code)):
            changed = [line[2:].strip() for line in self.fix.splitlines() if line.startswith(sign)]
            lines, others = [line.strip() for line in mine.splitlines()], {line.strip() for line in other.splitlines()}
            named = [bool(line) and any(line.startswith(text) for text in changed) for line in lines]
            marks.append(named if any(named) else [line not in others for line in lines])
        return marks[0], marks[1]

    def refusal(self) -> tuple[str, str] | None:
        """The lines of the guard and what the healthy engine said to them just now; None where there is no guard."""
        if self.guard is None:
            return None
        try:
            self.guard()
        except (RuntimeError, ValueError) as error:
            return body(self.guard), f"{type(error).__name__}: {error}"
        raise AssertionError(f"The guard of “{self.name}” let it pass.")


@cache  # the files do not change while the lab runs
def source(function: Callable) -> str:
    """The lines of an expression, without the types, which say nothing here."""
    return re.sub(r": Tensor| -> Tensor", "", inspect.getsource(function))


@cache
def _without_docstring(function: Callable) -> str:
    lines = textwrap.dedent(inspect.getsource(function))
    return re.sub(r'\n +"""(.|\n)*?"""', "", lines, count=1)


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
        broken=run_of(engine=Overwrites),
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
        broken=run_of(engine=SkipsUnbroadcast),
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
        failure="broadcast",
        name="A loss that broadcasts",
        cause="Predictions of shape (n, 1) meet targets of shape (n,): their difference has shape (n, n).",
        symptom="No error and a smooth loss, yet every prediction is compared with the targets of all samples.",
        in_training="All predictions are drawn to the mean of the targets; the accuracy stays near chance.",
        caught_by="The training doctor. The gradient check cannot: it is the right gradient of the wrong loss.",
        healthy=run_of(loss=squared_loss, activation="tanh", lr=0.03, epochs=30),
        broken=run_of(loss=broadcast_loss, activation="tanh", lr=0.03, epochs=30),
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
        broken=run_of(engine=WrongOrder),
        example=shortcut,
        shapes={"a": (), "b": ()},
        fix=_diff(
            "for node in queue:",
            "order = topological_order(self)",
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
        broken=run_of(engine=Recursive),
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
        failure="inplace",
        name="Operands read too late",
        cause="The closure reads its operands when the backward pass runs, not when the operation did.",
        symptom="Whatever is written to a tensor between the two passes changes the gradient of the other operand.",
        in_training="Nothing: this loop writes to nothing between the passes. It shows once something does, such as an "
        "optimizer step in the wrong place or a clipping of the weights.",
        caught_by="The gradient check, with a write between the passes.",
        broken=run_of(engine=LateReads),
        example=early_update,
        shapes={"a": (3,), "b": (3,)},
        guard=write_between_the_passes,
        fix=_diff(
            "self._accumulate(upstream * other.numpy())",
            "self._accumulate(upstream * right)  # d(left * right)/d left = right",
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
        broken=run_of(engine=WrongCapture),
        example=sum_of_two,
        shapes={"a": (3,), "b": (3,)},
        fix=_diff(
            "senders.append(lambda upstream: operand._accumulate(upstream * 1.0))",
            "self._accumulate(upstream * 1.0)  # d(left + right)/d left = 1",
            "other._accumulate(upstream * 1.0)  # d(left + right)/d right = 1",
        ),
        torch_code="a, b = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)\n"
        "torch.autograd.grad((b + b).sum(), [a, b])",
        torch_message="The differentiated Tensor at index 0 appears to not have been used in the graph. Set "
        "allow_unused=True if this is the desired behavior.",
    ),
    Fault(
        key="forgot-zero-grad",
        failure="zero-grad",
        name="zero_grad forgotten",
        cause="The gradients of the last step are still there when the next ones are added.",
        symptom="The norm of the gradient grows from step to step, though every single gradient is right.",
        in_training="It works like momentum without friction: the loss falls, overshoots and swings, the norms grow.",
        caught_by="The training doctor: the norms pile up. The gradient check sees one pass only and finds nothing.",
        healthy=run_of(lr=0.05, epochs=30),
        broken=run_of(optimizer=NeverZeroes, lr=0.05, epochs=30),
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
        healthy=run_of(lr=0.004, epochs=30),
        broken=run_of(optimizer=ZeroesSome, lr=0.004, epochs=30),
        verdict="piling",
        fix=_diff("for p in self.parameters[:2]:", "for p in self.parameters:"),
    ),
    Fault(
        key="backward-twice",
        failure="twice",
        name="Backward twice through one graph",
        cause="The graph is gone through twice, and the gradients inside it still hold those of the first time.",
        symptom="Gradients are not twice but many times too large: the further from the output, the more.",
        in_training="Every step is far too long for the first layers. With a small learning rate that may look like "
        "luck: the loss falls faster, until it jumps.",
        caught_by="The gradient check, on anything more than one operation deep.",
        broken=run_of(engine=BackwardTwice),
        example=product_of_three,
        shapes={"a": (), "b": (), "c": ()},
        guard=second_backward,
        fix=_diff(
            "for node in order[::-1] + order[::-1]:",
            "for node in reversed(interior):",
            "    node._backward, node._children = now, ()",
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
        broken=run_of(engine=ReluWrongSide),
        example=hidden_layer,
        shapes={"X": (2, 3), "W": (3, 2)},
        fix=_diff("self._accumulate(upstream * (result <= 0.0))", "self._accumulate(upstream * (result > 0.0))"),
    ),
    Fault(
        key="mean-undivided",
        name="A mean that forgets to divide",
        cause="The backward rule of the mean is that of the sum: it leaves out 1/n.",
        symptom="Right direction, wrong length: the gradient is n times too large.",
        in_training="It looks like a learning rate that is n times too high, n being the batch size.",
        caught_by="The gradient check, which shows the factor n.",
        broken=run_of(engine=MeanUndivided),
        example=mean_of_rows,
        shapes={"X": (2, 4)},
        fix=_diff(
            "self._accumulate(np.broadcast_to(upstream.reshape(mean.shape), self.shape))",
            "return self.sum(axis, keepdims) / _count(self.shape, _axes(self, axis))",
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
        healthy=run_of(loss=offset_loss),
        broken=run_of(engine=SoftmaxUnshifted, loss=offset_loss),
        example=large_logits,
        shapes={"x": (3,)},
        fix=_diff("e = self.exp()", "e = np.exp(value - value.max(axis=axes, keepdims=True))"),
        torch_code="torch.autograd.set_detect_anomaly(True)\nx = torch.tensor([1000.0, 0.0], requires_grad=True)\n"
        "e = x.exp()\n(e / e.sum())[0].backward()",
        torch_message="Function 'DivBackward0' returned nan values in its 1th output.",
    ),
    Fault(
        key="log-unguarded",
        failure="nan",
        name="The logarithm of a probability that is 0",
        cause="log is taken of the softmax, and a very small probability has already been rounded to 0.",
        symptom="The loss is inf, and the gradient is inf times 0, which is nan.",
        in_training="This loss rules a third class out with a logit of −1000, as a mask does. Its probability is 0, "
        "its logarithm −inf, and the loss is no number at the first step.",
        caught_by="The gradient check, with logits that are 800 apart.",
        healthy=run_of(loss=masked_loss),
        broken=run_of(engine=LogUnguarded, loss=masked_loss),
        example=sure_logits,
        shapes={"x": (3,)},
        fix=_diff(
            "return self.softmax(axis).log()",
            "shifted = value - value.max(axis=axes, keepdims=True)",
            "result = shifted - np.log(np.exp(shifted).sum(axis=axes, keepdims=True))",
        ),
        torch_code="torch.autograd.set_detect_anomaly(True)\nx = torch.tensor([0.0, 800.0], requires_grad=True)\n"
        "x.softmax(0).log()[0].backward()",
        torch_message="Function 'SoftmaxBackward0' returned nan values in its 0th output.",
    ),
    Fault(
        key="sign-flipped",
        failure="order",
        name="The sign of the update flipped",
        cause="The optimizer adds the step where it should subtract it.",
        symptom="All gradients are right, and the loss climbs from the first step on.",
        in_training="The loss climbs in every epoch, faster and faster, until it overflows.",
        caught_by="The training doctor: a loss that climbs from the start.",
        healthy=run_of(lr=0.01),
        broken=run_of(optimizer=Ascends, lr=0.01),
        verdict="climbing",
        guard=negative_rate,
        fix=_diff("return -float(self.lr) * gradient", "return float(self.lr) * gradient"),
    ),
    Fault(
        key="zero-init",
        failure="zero-init",
        name="All weights start at zero",
        cause="With zero weights every unit of a layer computes the same, and no gradient passes back through them.",
        symptom="The gradients of all weights are exactly 0.",
        in_training="The loss is flat from the first epoch: only the biases of the last layer move.",
        caught_by="The training doctor: a flat loss and norms that are exactly 0.",
        broken=run_of(init="zeros"),
        verdict="flat",
        fix="- Config(init='zeros')\n+ Config(init='he')",
    ),
    Fault(
        key="rate-too-high",
        failure="rate",
        name="A learning rate that is too high",
        cause="The step is longer than the valley is wide.",
        symptom="The loss jumps up and down instead of falling.",
        in_training="The loss jumps from epoch to epoch, and never settles.",
        caught_by="The training doctor: it swings.",
        healthy=run_of(activation="tanh"),
        broken=run_of(activation="tanh", lr=20.0),
        verdict="rate-high",
        fix="- Config(lr=20.0)\n+ Config(lr=0.1)",
    ),
    Fault(
        key="half-precision",
        name="Gradients rounded to half precision",
        cause="Messages are stored with 11 bits: from 3e-8 down they become 0, between 3e-8 and 6e-8 they are "
        "rounded up, above 65,504 they become inf.",
        symptom="Small gradients vanish though the formula is right; the others have three digits.",
        in_training="Hardly anything while gradients are of middling size. Where they are very small, learning stops.",
        caught_by="The gradient check: it compares far more digits than half precision has.",
        broken=run_of(engine=HalfPrecision),
        example=small_factor,
        shapes={"x": (3,)},
        fix=_diff("super()._accumulate(message.astype(np.float16))", "message = _fitted(message, self)"),
        torch_code="x = torch.ones(2, dtype=torch.float16)\nx.masked_fill(torch.tensor([True, False]), -1e9)",
        torch_message="value cannot be converted to type c10::Half without overflow",
    ),
)
BY_KEY = MappingProxyType({fault.key: fault for fault in FAULTS})
