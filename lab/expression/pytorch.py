"""Translate a learner's expression into a PyTorch program, and run it if PyTorch is installed.

The input is the Python that `Expression.to_python` writes, so it contains nothing outside the language of expressions.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from lab.expression.parser import Expression
from lab.expression.run_pytorch import run_programs

_SAME = (
    "exp log sqrt sin cos tanh sigmoid relu abs sum mean prod softmax log_softmax reshape swapaxes squeeze broadcast_to"
)
SAME = tuple(_SAME.split())
RENAMED = {"max": "amax", "min": "amin", "clip": "clamp", "expand_dims": "unsqueeze", "transpose": "permute"}
OPTIONS = {"axis": "dim", "keepdims": "keepdim", "low": "min", "high": "max", "first": "axis0", "second": "axis1"}
REDUCING = ("sum", "mean", "prod", "max", "min", "var", "std", "norm", "logsumexp")
JOINING = {"concatenate": "torch.cat", "stack": "torch.stack"}
LOSSES = ("mse_loss", "cross_entropy", "binary_cross_entropy_with_logits")


class TranslationError(ValueError):
    """A part of the expression has no direct counterpart in PyTorch; the message says which."""


def to_torch(expression: Expression, values: Mapping[str, Any]) -> str:
    """Write the expression with these values as a PyTorch script in float64 that prints its result and gradients.

    Raises TranslationError if a part of it has no counterpart.
    """
    tree = ast.parse(expression.to_python(**values))
    lines = [node for node in tree.body if isinstance(node, ast.Assign)]
    body = [ast.unparse(ast.fix_missing_locations(_Translator().visit(line))) for line in lines]
    result = expression.result_name
    scalar = not expression(**values).ndim
    body.append(f"{result}.backward({'' if scalar else f'torch.ones_like({result})'})")
    body.append(f'print("{result}:", {result}.detach())')
    body += [f'print("gradient of {name}:", {name}.grad)' for name in expression.names]
    return "import torch\n\n" + "\n".join(body) + "\n"


class _Translator(ast.NodeTransformer):
    """Rewrites Python that uses Tensor for torch, with a method for each kind of syntax that differs."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if _is_np(node.func, "array"):
            return _call("torch.tensor", node.args[0], dtype=_dotted("torch.float64"))
        if isinstance(node.func, ast.Name):
            return self.function(node.func.id, node)
        assert isinstance(node.func, ast.Attribute)
        return self.method(node.func.attr, node.func.value, node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if _is_np(node, node.attr):
            return _dotted(f"torch.{node.attr}")
        return ast.Attribute(self.visit(node.value), node.attr)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        for part in ast.walk(node.slice):
            if isinstance(part, ast.Slice) and part.step is not None and ast.unparse(part.step).startswith("-"):
                raise TranslationError("PyTorch has no slice that goes backward, such as `x[::-1]`.")
        return ast.Subscript(self.visit(node.value), node.slice)

    def function(self, name: str, node: ast.Call) -> ast.expr:
        options = self.options(node)
        if name == "Tensor":
            return _call(
                "torch.tensor",
                self.visit_values(node.args[0]),
                dtype=_dotted("torch.float64"),
                requires_grad=ast.Constant(True),
            )
        if name in JOINING:
            (parts,) = node.args
            assert isinstance(parts, ast.List)
            return _call(JOINING[name], ast.List([self.tensor(part) for part in parts.elts]), **options)
        if name in ("maximum", "minimum"):
            return _call(f"torch.{name}", *map(self.tensor, node.args))
        if name == "where":
            condition, *sides = node.args
            return _call("torch.where", self.visit(condition), *map(self.tensor, sides))
        if name == "cross_entropy":
            labels = options.pop("labels")
            return _call(f"torch.nn.functional.{name}", self.visit(node.args[0]), _call("torch.tensor", labels))
        if name in LOSSES:
            return _call(f"torch.nn.functional.{name}", *map(self.tensor, node.args))
        return self.refuse(name)

    def method(self, name: str, value: ast.expr, node: ast.Call) -> ast.expr:
        arguments, options = [self.visit(a) for a in node.args], self.options(node)
        if name in REDUCING and "dim" in options and ast.unparse(options["dim"]) == "None":
            del options["dim"]
        if name in ("sum", "mean") and "keepdim" in options:  # these two take it only with a dim
            options = {"dim": ast.Constant(None), **options}
        if name == "softplus":  # torch's own softplus loses the last digits for large values
            zero = _call("torch.tensor", ast.Constant(0.0), dtype=_dotted("torch.float64"))
            return _call("torch.logaddexp", self.visit(value), zero)
        if name == "leaky_relu":
            slope = options.pop("slope", ast.Constant(0.01))
            return _call("torch.nn.functional.leaky_relu", self.visit(value), slope)
        if name in ("var", "std"):
            return self.called(value, name, arguments, {"correction": ast.Constant(0)} | options)
        if name == "norm":
            return _call("torch.linalg.vector_norm", self.visit(value), **options)
        if name in ("softmax", "log_softmax"):
            return self.called(value, name, arguments, {"dim": ast.Constant(-1)} | options)
        if name in ("prod", "logsumexp") and not isinstance(options.get("dim"), (ast.Constant, ast.UnaryOp)):
            if "dim" in options or "keepdim" in options:
                raise TranslationError(f"PyTorch's `{name}` goes along one axis: give it a single one.")
            if name == "logsumexp":
                return _call(
                    "torch.logsumexp", self.called(value, "reshape", [ast.Constant(-1)], {}), dim=ast.Constant(0)
                )
        if name == "transpose" and not arguments:
            return ast.Attribute(self.visit(value), "T")
        if name == "logsumexp" or name in SAME:
            return self.called(value, name, arguments, options)
        if name in RENAMED:
            return self.called(value, RENAMED[name], arguments, options)
        return self.refuse(name)

    def refuse(self, name: str) -> NoReturn:
        raise TranslationError(f"`{name}` has no counterpart here: leave it out, or write it with other operations.")

    def called(
        self, value: ast.expr, name: str, arguments: list[ast.expr], options: Mapping[str, ast.expr]
    ) -> ast.expr:
        keywords = [ast.keyword(word, option) for word, option in options.items()]
        return ast.Call(ast.Attribute(self.tensor(value), name), arguments, keywords)

    def options(self, node: ast.Call) -> dict[str, ast.expr]:
        return {OPTIONS.get(k.arg or "", k.arg or ""): self.visit_values(k.value) for k in node.keywords}

    def visit_values(self, node: ast.expr) -> ast.expr:
        """Translate numbers and lists; of np.array(rows) keep only the rows, which torch.tensor takes."""
        if isinstance(node, ast.Call) and _is_np(node.func, "array"):
            return node.args[0]
        visited: ast.expr = self.visit(node)
        return visited

    def tensor(self, node: ast.expr) -> ast.expr:
        """Translate an operand for a place where PyTorch needs a tensor, not a plain number."""
        visited: ast.expr = self.visit(node)
        if _is_number(node):
            return _call("torch.tensor", visited, dtype=_dotted("torch.float64"))
        return visited


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    return isinstance(node, ast.Constant) or _is_np(node, "nan") or _is_np(node, "inf")


def _is_np(node: ast.expr, name: str) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.value, ast.Name)
        and node.value.id == "np"
    )


def _dotted(name: str) -> ast.expr:
    return ast.parse(name, mode="eval").body


def _call(function: str, *arguments: ast.expr, **options: ast.expr) -> ast.expr:
    return ast.Call(_dotted(function), [*arguments], [ast.keyword(name, value) for name, value in options.items()])


# ---------------------------------------------------------------- run


@dataclass(frozen=True)
class TorchAnswer:
    """PyTorch's result: the value, the gradient of each name (None if none arrived), or its error message."""

    version: str
    value: np.ndarray | None
    gradients: Mapping[str, np.ndarray | None]
    error: str = ""


def run(program: str, result: str, names: list[str]) -> TorchAnswer:
    """Run a program that `to_torch` wrote, in a separate process."""
    ending = (
        "import json as _json\n"
        f"_arrays = [{result}.detach()] + [_name.grad for _name in ({''.join(f'{name}, ' for name in names)})]\n"
        "print(_json.dumps([None if _array is None else _array.tolist() for _array in _arrays]))\n"
    )
    try:
        transcript = run_programs({"": program + ending})[""]
    except RuntimeError as error:
        return TorchAnswer("", None, {}, str(error))
    if transcript.error:
        return TorchAnswer(transcript.version, None, {}, transcript.error)
    value, *gradients = json.loads(transcript.printed.splitlines()[-1])
    arrays = [None if gradient is None else np.array(gradient, float) for gradient in gradients]
    return TorchAnswer(transcript.version, np.array(value, float), dict(zip(names, arrays, strict=True)))
