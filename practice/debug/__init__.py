"""Debug these: twelve short programs, each with one of the failures that people ask about most.

Each is a course of one task, whose starter is the program as it was found. Most of them use the lab's own engine. No
title or text says what the failure is: FAILURES does, for those who have found it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.random import Generator

from practice.questions import Place
from practice.task import Check, Course, Inputs, Mistake, Task

ROOM = "debug"


def _program(
    key: str,
    title: str,
    found: str,
    checks: tuple[Check, ...],
    mistakes: tuple[Mistake, ...],
    hints: tuple[str, ...],
    engine: bool = True,
) -> Course:
    task = Task(key, title, found, checks, mistakes, hints)
    folder = Path(__file__).parent / key
    return Course(key, title, found, folder, (task,), modules=("model",) if engine else (), room=ROOM)


def _vector(rng: Generator, size: int, least: int = 2) -> np.ndarray:
    return np.round(rng.uniform(0.5, 3, size=least + size), 1)


# ---------------------------------------------------------------- the cases that the checks are run on


def _scaled(rng: Generator, size: int) -> Inputs:
    return {"x": _vector(rng, size), "w": rng.normal(), "target": rng.normal()}


def _two_losses(rng: Generator, size: int) -> Inputs:
    return {"x": _vector(rng, size, 1), "w": rng.normal()}


def _line(rng: Generator, size: int) -> Inputs:
    x = _vector(rng, size)
    return {"x": x, "y": rng.normal() * x + rng.normal(size=x.shape) / 10, "steps": 2 + 2 * size, "lr": 0.05}


def _regression(rng: Generator, size: int) -> Inputs:
    rows, columns = 2 + size, 1 + int(rng.integers(3))
    return {"x": rng.normal(size=(rows, columns)), "y": rng.normal(size=rows), "w": rng.normal(size=(columns, 1))}


def _layers(rng: Generator, size: int) -> Inputs:
    rows, n_in, hidden = 1 + size, 1 + int(rng.integers(3)), 2 + int(rng.integers(3))
    return {
        "x": rng.normal(size=(rows, n_in)),
        "w1": rng.normal(size=(n_in, hidden)),
        "w2": rng.normal(size=(hidden, 1)),
    }


def _some_positive(rng: Generator, size: int) -> Inputs:
    numbers = np.round(rng.uniform(-4, 9, size=3 + size), 1)
    numbers[rng.integers(len(numbers))] = 0.0
    return {"numbers": numbers}


def _descent(rng: Generator, size: int) -> Inputs:
    return {"w": rng.normal(), "target": rng.normal() + (3, -3)[size % 2], "steps": 1 + size, "lr": 0.1}


def _factors(rng: Generator, size: int) -> Inputs:
    return {"factors": [round(float(number), 1) for number in rng.uniform(1.5, 4, size=2 + size)]}


def _two_numbers(rng: Generator, size: int) -> Inputs:
    return {"a": float(rng.integers(2, 6)), "b": float(rng.integers(-5, -1))}


def _scores(rng: Generator, size: int) -> Inputs:
    rows, classes = 1 + size, 3
    scale = (1.0, 5.0)[size % 2]
    return {"logits": scale * rng.normal(size=(rows, classes)), "labels": rng.integers(classes, size=rows)}


def _large_scores(rng: Generator, size: int) -> Inputs:
    case = _scores(rng, size)
    return {**case, "logits": 1000 * case["logits"]}


def _batches(rng: Generator, size: int) -> Inputs:
    slope = rng.normal()
    batches = [
        [x, np.round(slope * x + rng.normal(size=x.shape) / 10, 1)] for x in (_vector(rng, 1) for _ in range(2 + size))
    ]
    return {"batches": batches, "w": round(rng.normal(), 1), "lr": 0.05}


# ---------------------------------------------------------------- the programs

_ADDED = "            self.grad += out.grad * other.data\n            other.grad += out.grad * self.data\n"

PROGRAMS = (
    _program(
        "in_place",
        "An error in the backward pass",
        "The program stops with an error. Make it give the right gradient, and the scaled x all the same.",
        (
            Check(
                "The gradient and the scaled x",
                "gradient, scaled = gradient_and_scaled(x, w, target)",
                ("gradient", "scaled"),
                _scaled,
            ),
        ),
        (
            Mistake(
                "still early",
                "x is written to before the backward pass, which needs it as it was.",
                (
                    (
                        "    loss.backward()\n    x.data[...] = x.data / x.data.max()\n",
                        "    x.data[...] = x.data / x.data.max()\n    loss.backward()\n",
                    ),
                ),
            ),
            Mistake(
                "guard off",
                "No error any more, and a wrong gradient: the pass multiplies by the scaled x. The guard was right.",
                (
                    ("import Tensor", "import Tensor, allow_mutation"),
                    (
                        "    loss.backward()\n    x.data[...] = x.data / x.data.max()\n",
                        "    with allow_mutation():\n        x.data /= x.data.max()\n        loss.backward()\n",
                    ),
                ),
            ),
            Mistake(
                "scaled before",
                "The loss was computed with the scaled x. It is asked for with x as it came.",
                (("    x, w =", "    x = x / x.max()\n    x, w ="),),
            ),
            Mistake(
                "not scaled",
                "The gradient is right, and x comes back as it was: it should be scaled.",
                (("    x.data[...] = x.data / x.data.max()\n", ""),),
            ),
            Mistake("no pass", "The gradient is None: no backward pass has run.", (("    loss.backward()\n", ""),)),
            Mistake(
                "scaled by the sum",
                "The largest entry should become 1; this divides by the sum.",
                (("x.data.max()", "x.data.sum()"),),
            ),
        ),
        (
            "Read the error: which array was written to, and who still needs it?",
            "The derivative of w * x by w is x: the backward pass reads x. Until when must it stay as it is?",
            "Change the order of two lines, or scale a copy.",
        ),
    ),
    _program(
        "second_backward",
        "Two losses of one value",
        "The program stops at the second backward pass. Make it add up the gradients of both losses.",
        (Check("The gradient of both losses", "gradient_of_w = gradient(x, w)", ("gradient_of_w",), _two_losses),),
        (
            Mistake(
                "freed",
                "The first backward pass has freed the graph that both losses share.",
                (("retain_graph=True", ""),),
            ),
            Mistake(
                "only the first", "This is the gradient of the first loss alone.", (("    second.backward()\n", ""),)
            ),
            Mistake(
                "only the second",
                "This is the gradient of the second loss alone: the first never came, or was zeroed away.",
                (("    first.backward(retain_graph=True)\n", ""),),
            ),
            Mistake(
                "product",
                "A product of two losses has another gradient than their sum.",
                (
                    (
                        "    first.backward(retain_graph=True)\n    second.backward()\n",
                        "    (first * second).backward()\n",
                    ),
                ),
            ),
            Mistake(
                "counted twice",
                "The first loss was added twice.",
                (("    second.backward()\n", "    first.backward(retain_graph=True)\n    second.backward()\n"),),
            ),
            Mistake(
                "cut",
                "detach() ended the error and cut the second loss off from w.",
                (("(hidden * hidden).sum()", "(hidden * hidden.detach()).sum()"),),
            ),
        ),
        (
            "What does a backward pass do to the graph when it is done with it?",
            "Both losses were computed from one `hidden`. Its part of the graph is needed twice.",
            "backward(retain_graph=True) keeps the graph; or go backward once, through the sum of the losses.",
        ),
    ),
    _program(
        "zero_grad",
        "Steps that grow",
        "Each step should follow the gradient of its own loss; the steps of this program overshoot.",
        (Check("The weight after the steps", "w = fitted(x, y, steps, lr)", ("w",), _line),),
        (
            Mistake(
                "never zeroed",
                "The gradients of all steps so far add up in w.grad. Zeroing once before the loop is not enough.",
                (("        w.zero_grad()\n", ""),),
            ),
            Mistake(
                "zeroed too late",
                "The gradient is thrown away between the backward pass and the step.",
                (
                    (
                        "        w.zero_grad()\n        loss.backward()\n",
                        "        loss.backward()\n        w.zero_grad()\n",
                    ),
                ),
            ),
            Mistake(
                "smaller rate",
                "A smaller rate hides it: the gradients still add up.",
                (("        w.zero_grad()\n", ""), ("lr * w.grad", "lr / 2 * w.grad")),
            ),
            Mistake(
                "averaged",
                "Dividing by the number of steps is not the gradient of the last loss.",
                (("        w.zero_grad()\n", ""), ("lr * w.grad", "lr * w.grad / steps")),
            ),
            Mistake("one step", "Only one step was made.", (("range(steps)", "range(1)"),)),
        ),
        (
            "Print w.grad in each step, and compare it with the derivative by hand.",
            "A leaf's gradient is added to, not replaced, by each backward pass.",
            "Zero it before each backward pass.",
        ),
    ),
    _program(
        "column_minus_row",
        "A loss that stays high",
        "No error, and however long one trains, the loss stays high. It should be the mean squared error.",
        (
            Check(
                "The loss and its gradient",
                "loss, gradient = loss_and_gradient(x, y, w)",
                ("loss", "gradient"),
                _regression,
            ),
        ),
        (
            Mistake(
                "(N,1) - (N,)",
                "A column minus a row is a square: each prediction minus every target. y as a row is no other.",
                (("y[:, None]", "y"),),
            ),
            Mistake("summed", "The sum of the differences is asked for as a mean.", ((".mean()", ".sum()"),)),
            Mistake(
                "means first",
                "The difference of the means is not the mean of the squared differences.",
                (("((prediction - y[:, None]) ** 2).mean()", "(prediction.mean() - y.mean()) ** 2"),),
            ),
            Mistake(
                "one sample",
                "Only the first sample is compared.",
                (("(prediction - y[:, None])", "(prediction[0] - y[0])"),),
            ),
            Mistake("not squared", "The differences are not squared any more.", ((" ** 2).mean()", ").abs().mean()"),)),
        ),
        (
            "Print the shape of prediction - y.",
            "prediction has shape (N, 1), y has (N,). By the rule of broadcasting y is a row: what is the result?",
            "Give both the same shape: y[:, None], or prediction.reshape(-1).",
        ),
    ),
    _program(
        "detached",
        "A layer that does not learn",
        "w1 gets no gradient. The hidden values must still come back as a plain array.",
        (
            Check(
                "Both gradients, and the hidden values",
                "grad1, grad2, hidden = gradients_and_hidden(x, w1, w2)",
                ("grad1", "grad2", "hidden"),
                _layers,
            ),
        ),
        (
            Mistake(
                "still cut",
                "detach() cuts the graph: no gradient passes to what was computed before it.",
                ((".tanh()", ".tanh().detach()"),),
            ),
            Mistake("the other weight", "Now w2 is cut off.", (("hidden @ w2", "hidden @ w2.detach()"),)),
            Mistake("no tanh", "tanh has gone with the detach.", (("(x @ w1).tanh()", "x @ w1"),)),
            Mistake(
                "before tanh", "What comes back is not tanh's result.", (("hidden.detach().numpy()", "x @ w1.data"),)
            ),
            Mistake(
                "half",
                "A gradient by hand: tanh's own derivative is missing in it.",
                (("w1.grad, w2.grad", "x.T @ (w2.data.T * (0 * hidden.data + 1)), w2.grad"),),
            ),
        ),
        (
            "Which of the two gradients is None? What lies between it and the result?",
            "detach() gives the values without the history. Who needs the history, and who only the values?",
            "Detach what goes into the plot, not what the next layer reads.",
        ),
    ),
    _program(
        "where_nan",
        "A root with nan",
        "The values are right and the derivative has nan in it, where it should be 0.",
        (
            Check(
                "The root and the derivatives through it",
                "from model import Tensor\n\nx = Tensor(numbers)\ny = root(x)\ny.sum().backward()",
                ("y.data", "x.grad"),
                _some_positive,
            ),
            Check(
                "The root of a result",
                "from model import Tensor\n\nx = Tensor(numbers)\ny = root(x * 4.0) * 3.0\ny.sum().backward()",
                ("y.data", "x.grad"),
                _some_positive,
            ),
        ),
        (
            Mistake(
                "masked after",
                "where() hides the bad value; in the backward pass 0 meets an infinite derivative: 0 * inf is nan.",
                (("where(x > 0, x, 1.0).sqrt()", "x.sqrt()"),),
            ),
            Mistake(
                "multiplied",
                "A product with 0 hides nothing: 0 * nan is nan.",
                (("where(x > 0, where(x > 0, x, 1.0).sqrt(), 0.0)", "x.sqrt() * (x > 0)"),),
            ),
            Mistake(
                "absolute value",
                "abs() keeps the root real; at 0 its derivative is still infinite.",
                (("where(x > 0, x, 1.0).sqrt()", "x.abs().sqrt()"),),
            ),
            Mistake(
                "shifted",
                "A shift changes every value a little: the root is not exact any more.",
                (("where(x > 0, x, 1.0).sqrt()", "(where(x > 0, x, 1.0) + 1e-3).sqrt()"),),
            ),
            Mistake(
                "inside only",
                "The root is now 1 where it should be 0: the choice after it is needed, too.",
                (("where(x > 0, where(x > 0, x, 1.0).sqrt(), 0.0)", "where(x > 0, x, 1.0).sqrt()"),),
            ),
            Mistake(
                "everything zero",
                "nan has gone, and with it the derivative of the positive ones.",
                (("1.0).sqrt(), 0.0)", "1.0).sqrt(), 0.0).detach() + 0.0 * x"),),
            ),
        ),
        (
            "At which x is the derivative nan? What is the derivative of sqrt there?",
            "The branch that was not chosen gets the gradient 0, and multiplies it by its own derivative.",
            "Choose before the root, too: give it a harmless number where it is not wanted.",
        ),
    ),
    _program(
        "sign",
        "A loss that grows",
        "The loss grows with each step. It should shrink.",
        (Check("The way", "visited = way(w, target, steps, lr)", ("visited",), _descent),),
        (
            Mistake(
                "plus",
                "The gradient points where the loss grows fastest. A step goes the other way; two turned signs cancel.",
                (("w.data - lr", "w.data + lr"),),
            ),
            Mistake(
                "only the sign",
                "The step has lost the size of the gradient.",
                (("lr * w.grad", "lr * (1 if w.grad > 0 else -1)"),),
            ),
            Mistake(
                "always down",
                "abs() makes every step go one way, whichever side the target is on.",
                (("lr * w.grad", "lr * abs(w.grad)"),),
            ),
            Mistake("not zeroed", "The gradients add up now.", (("        w.zero_grad()\n", ""),)),
            Mistake(
                "before the step",
                "The way begins with where w was: it should say where each step has led.",
                (
                    ("        visited.append(w.item())\n", ""),
                    ("        w.zero_grad()\n", "        visited.append(w.item())\n        w.zero_grad()\n"),
                ),
            ),
        ),
        (
            "Which way does w go, and where is the target?",
            "The gradient says where the loss grows.",
            "One sign in one line.",
        ),
    ),
    _program(
        "late_capture",
        "A product and its derivatives",
        "The product is right, its derivatives are not.",
        (
            Check(
                "The product and its derivatives",
                "product, derivatives = product_and_derivatives(factors)",
                ("product", "derivatives"),
                _factors,
            ),
            Check(
                "A factor of 0",
                "product, derivatives = product_and_derivatives([0.0, *factors])",
                ("product", "derivatives"),
                _factors,
                cases=4,
            ),
        ),
        (
            Mistake(
                "late",
                "A closure looks its names up when it is called: by then the loop has left its last values in them.",
                ((", factor=factor, before=before: (", ": ("),),
            ),
            Mistake(
                "factor only",
                "`factor` is bound now; `before` is still looked up too late.",
                ((", before=before: (", ": ("),),
            ),
            Mistake(
                "before only",
                "`before` is bound now; `factor` is still looked up too late.",
                ((", factor=factor, before", ", before"),),
            ),
            Mistake(
                "forward order",
                "The rules run from first to last; the chain rule begins at the result.",
                (("in reversed(rules)", "in rules"),),
            ),
            Mistake(
                "not turned round",
                "The derivatives come in the order of the backward pass: the last factor first.",
                (("derivatives[::-1]", "derivatives"),),
            ),
            Mistake(
                "divided",
                "The product divided by a factor is the product of the others, unless the factor is 0.",
                (("derivatives[::-1]", "[product / factor for factor in factors]"),),
            ),
            Mistake(
                "crossed",
                "The two numbers of a rule have changed places: what goes on, and what the factor gets.",
                (("(upstream * factor, upstream * before)", "(upstream * before, upstream * factor)"),),
            ),
        ),
        (
            "What is `factor` when the rules are called?",
            "Every lambda of the loop shares the same names. Each should keep the values of its own turn.",
            "A default argument (factor=factor) is evaluated at once; so are the arguments of a function.",
        ),
        engine=False,
    ),
    _program(
        "overwritten",
        "A small engine",
        "Some gradients are right, others are not: x * y is, x + x is not.",
        (
            Check(
                "A value times another",
                "x, y = Value(a), Value(b)\n(x * y).backward()",
                ("x.grad", "y.grad"),
                _two_numbers,
                cases=2,
            ),
            Check("A value plus itself", "x = Value(a)\n(x + x).backward()", ("x.grad",), _two_numbers, cases=2),
            Check("A square", "x = Value(a)\n(x * x).backward()", ("x.grad",), _two_numbers, cases=2),
            Check(
                "Used by two results",
                "x, y = Value(a), Value(b)\n(x * y + x).backward()",
                ("x.grad", "y.grad"),
                _two_numbers,
                cases=2,
            ),
        ),
        (
            Mistake(
                "both overwrite",
                "The last message overwrites the first: they must add up, in sums and in products.",
                (
                    (
                        "            self.grad += out.grad\n            other.grad += out.grad\n",
                        "            self.grad = out.grad\n            other.grad = out.grad\n",
                    ),
                    (
                        _ADDED,
                        _ADDED.replace("+=", "="),
                    ),
                ),
            ),
            Mistake(
                "sum overwrites",
                "Products add up now; sums still overwrite.",
                (
                    (
                        "            self.grad += out.grad\n            other.grad += out.grad\n",
                        "            self.grad = out.grad\n            other.grad = out.grad\n",
                    ),
                ),
            ),
            Mistake(
                "product overwrites",
                "Sums add up now; products still overwrite.",
                (
                    (
                        _ADDED,
                        _ADDED.replace("+=", "="),
                    ),
                ),
            ),
            Mistake(
                "one operand",
                "Only one operand of a product adds up.",
                (("self.grad += out.grad * other.data", "self.grad = out.grad * other.data"),),
            ),
            Mistake(
                "own value",
                "A product's derivative by one factor is the other factor.",
                (("self.grad += out.grad * other.data", "self.grad += out.grad * self.data"),),
            ),
            Mistake(
                "multiplied in",
                "Messages add up; they are not multiplied.",
                (
                    (
                        "            self.grad += out.grad\n            other.grad += out.grad\n",
                        "            self.grad *= out.grad\n            other.grad *= out.grad\n",
                    ),
                ),
            ),
        ),
        (
            "Try x + x by hand: what should x.grad be, and what is it?",
            "x receives one message for each use. What happens to the first when the second arrives?",
            "+= instead of =, in every rule.",
        ),
        engine=False,
    ),
    _program(
        "softmax_twice",
        "A loss that never comes near 0",
        "It trains, and it trains badly. The loss and its gradient should be those of cross entropy.",
        (
            Check(
                "The loss, the gradient, the probabilities",
                "loss, gradient, probabilities = classified(logits, labels)",
                ("loss", "gradient", "probabilities"),
                _scores,
            ),
            Check(
                "Large logits",
                "loss, gradient, probabilities = classified(logits, labels)",
                ("loss", "gradient"),
                _large_scores,
                cases=4,
            ),
        ),
        (
            Mistake(
                "twice",
                "cross_entropy applies softmax itself. Here it gets probabilities and makes them flat.",
                (("cross_entropy(logits, labels)", "cross_entropy(probabilities, labels)"),),
            ),
            Mistake(
                "log of softmax",
                "Right for small logits. For large ones softmax is 0, its logarithm -inf.",
                (("cross_entropy(logits, labels)", "-probabilities.log()[range(len(labels)), labels].mean()"),),
            ),
            Mistake(
                "no logarithm",
                "The loss is a mean of probabilities; cross entropy is one of their logarithms.",
                (("cross_entropy(logits, labels)", "-probabilities[range(len(labels)), labels].mean()"),),
            ),
            Mistake(
                "summed",
                "The loss of a batch is the mean over its samples, not the sum.",
                (("cross_entropy(logits, labels)", "cross_entropy(logits, labels) * len(labels)"),),
            ),
            Mistake(
                "logits shown",
                "The loss is right, and what comes back are logits: probabilities are asked for.",
                (("probabilities.numpy()", "logits.numpy()"),),
            ),
            Mistake(
                "sigmoid",
                "sigmoid looks at each class alone; the classes share one softmax.",
                (("cross_entropy(logits, labels)", "cross_entropy(logits.sigmoid(), labels)"),),
            ),
        ),
        (
            "What does cross_entropy expect: logits or probabilities?",
            "Probabilities lie between 0 and 1: as logits they are nearly equal.",
            "Give cross_entropy the logits; keep softmax for what is shown.",
        ),
    ),
    _program(
        "kept_loss",
        "Memory that grows",
        "The curve is right, and the program takes more memory with each batch. It should keep none of it.",
        (
            Check(
                "The losses",
                "from model import Tensor\n\n"
                "history = [loss.item() if isinstance(loss, Tensor) else float(loss)\n"
                "           for loss in validation_losses(batches, w)]",
                ("history",),
                _batches,
            ),
            Check(
                "What the list keeps alive",
                "from model import Tensor, topological_order\n\n"
                "history = validation_losses(batches, w)\n"
                "kept = sum(len(topological_order(loss)) - 1 for loss in history if isinstance(loss, Tensor))",
                ("kept",),
                _batches,
            ),
        ),
        (
            Mistake(
                "kept",
                "Each loss is a Tensor and keeps alive the graph that it was computed by.",
                (("history.append(loss.item())", "history.append(loss)"),),
            ),
            Mistake(
                "only the last",
                "Only the last loss has come back.",
                (("    return history\n", "    return history[-1:]\n"),),
            ),
            Mistake(
                "a sum of Tensors",
                "Adding 0 makes one more node: the graph is kept all the same.",
                (("loss.item()", "loss + 0"),),
            ),
            Mistake(
                "total",
                "One number for all batches: the curve needs one for each.",
                (("return history", "return [sum(history)]"),),
            ),
            Mistake("summed", "The loss of a batch is a mean, not a sum.", ((".mean()", ".sum()"),)),
            Mistake("root", "The curve shows the root of each loss.", (("loss.item()", "loss.item() ** 0.5"),)),
        ),
        (
            "What is in the list: numbers?",
            "A Tensor knows what it was computed from, and keeps it alive.",
            "loss.item() is the number; no_grad() records no graph at all.",
        ),
    ),
    _program(
        "order",
        "A weight that never moves",
        "The optimizer is called for every batch, and w stays where it began.",
        (Check("The weight after all batches", "w = trained(batches, lr)", ("w",), _batches),),
        (
            Mistake(
                "step first",
                "There is no gradient when step() is called: the backward pass comes later, or it was zeroed away.",
                (
                    (
                        "        loss.backward()\n        optimizer.step()\n",
                        "        optimizer.step()\n        loss.backward()\n",
                    ),
                ),
            ),
            Mistake(
                "a batch late",
                "Each step follows the gradient of the batch before: step first, zero_grad after it.",
                (
                    (
                        "        optimizer.zero_grad()\n        loss.backward()\n        optimizer.step()\n",
                        "        optimizer.step()\n        optimizer.zero_grad()\n        loss.backward()\n",
                    ),
                ),
            ),
            Mistake("never zeroed", "The gradients of all batches add up.", (("        optimizer.zero_grad()\n", ""),)),
            Mistake(
                "once, at the end",
                "One step in all: it belongs into the loop.",
                (("        optimizer.step()\n", ""), ("    return", "    optimizer.step()\n    return")),
            ),
            Mistake(
                "twice",
                "Two steps a batch.",
                (("        optimizer.step()\n", "        optimizer.step()\n        optimizer.step()\n"),),
            ),
        ),
        (
            "What is w.grad when step() is called?",
            "Forward, zero, backward, step: who needs what from whom?",
            "step() comes last.",
        ),
    ),
)


# ---------------------------------------------------------------- what each of them is, for those who have found it


@dataclass(frozen=True)
class Failure:
    """name: of the failure, as people ask about it. place: where the lab shows it."""

    name: str
    place: Place


def _shown(name: str, file: str, look: str, **query: str) -> Failure:
    return Failure(name, Place(file, look, query))


FAILURES: Mapping[str, Failure] = MappingProxyType({
    "in_place": _shown(
        "A write in place: an array was changed after the forward pass, and the backward pass still needed it.",
        "pages/simulate_error.py", "Four steps with the guard on: the backward pass is refused.",
        part="steps", guard="on", step="4",
    ),
    "second_backward": _shown(
        "A second backward pass through a graph that the first one had freed.",
        "pages/simulate_error.py", "The newest line of the log is this error.", part="life", life="flbb",
    ),
    "zero_grad": _shown(
        "zero_grad forgotten: the gradients of all steps added up.",
        "pages/faults.py", "The same in training: the norm of the gradient grows from step to step.",
        fault="forgot-zero-grad", run="1",
    ),
    "column_minus_row": _shown(
        "A loss that broadcasts: (N, 1) minus (N,) is (N, N), every prediction against every target.",
        "pages/shapes.py", "All the pairs, and where the predictions end.", tab="loss", count="4",
    ),
    "detached": _shown(
        "Too much was detached: the next layer read what only the plot should have.",
        "pages/simulate_error.py", "One path is cut: what arrives, and what should.",
        part="cut", cut="detach", ran="1",
    ),
    "where_nan": _shown(
        "nan through where: the branch that was not chosen has an infinite derivative, and 0 * inf is nan.",
        "pages/graph_lab.py", "The gradient of x is nan at 0, and the value there is 0.",
        expression="where(x > 0, sqrt(x), 0)", in_x="[0, 4]", start="sum", stage="backward",
    ),
    "sign": _shown(
        "The wrong sign: a step along the gradient climbs.",
        "pages/faults.py", "The same in training: the loss grows.", fault="sign-flipped", run="1",
    ),
    "late_capture": _shown(
        "Late capture: closures made in a loop share its variables, and all see their last values.",
        "pages/faults.py", "An engine whose closures do this: one operand gets everybody's message.",
        fault="wrong-capture", run="1",
    ),
    "overwritten": _shown(
        "A missing +=: where a value is used twice, the second message overwrote the first.",
        "pages/faults.py", "The same mistake in the lab's engine: one of two messages is lost.",
        fault="overwrite", run="1",
    ),
    "softmax_twice": _shown(
        "Softmax twice: cross_entropy applies it itself.",
        "pages/graph_lab.py", "Logits far apart, nearly equal after the second softmax: the loss stays high.",
        expression="-log(softmax(softmax(z)))[0]", in_z="[5, 0, 0]", stage="backward",
    ),
    "kept_loss": _shown(
        "Losses kept as Tensors: each keeps alive the graph that it was computed by.",
        "pages/graph_lab.py", "All that you see here is alive as long as the result is.",
        expression="mean((w*x - y)**2)", in_w="0.5", in_x="[1, 2]", in_y="[2, 3]", stage="forward",
    ),
    "order": _shown(
        "The wrong order: the step came before the backward pass, and had no gradient to follow.",
        "pages/simulate_error.py", "A step without a backward pass: the newest line of the log says what became of w.",
        part="life", life="fls",
    ),
})  # fmt: skip
