"""Can the gradient checks fail? Each backward rule of model.py is broken in every small way; each break must be caught.

The broken engines are made from the source: a syntax tree of model.py is executed as a module of its own, and one
function of it is compiled again for each mutant, changed at one place inside one `_backward` (a sign, a factor, a
message left out, an axis, a transpose...). The real `model` module is never touched. A new operation gets its mutants
without a line here, and needs an entry in op_table.py: a rule that no case reaches fails a test.
"""

from __future__ import annotations

import ast
import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from types import CodeType, ModuleType
from typing import Any

import numpy as np
import pytest
from op_table import CASES, CONVENTIONS_BY_UPSTREAM, Case

import model
from lab.gradcheck import random_cotangent

SOURCE = inspect.getsource(model)
SEED = 1  # of the random cotangents
NUMBERS = {id(case): number for number, case in enumerate(CASES)}  # two may have one name

# What every rule relies on, broken in the same ways.
SHARED = ("accumulate", "unbroadcast")

# Mutants that compute the same thing as the original, with the reason. As short as it can be.
EQUIVALENT = {
    ("Tensor.accumulate", "type(message)", "message"): "a short cut for scalars: without it the long way is taken",
    ("Tensor.accumulate", "type(self._values)", "self._values"): "the same short cut",
    ("Tensor.unbroadcast", "message if message.base is None else +message", "+message"): "one copy too many",
    ("linear", "_sum(upstream, (0,), keepdims=False)", "upstream"): "faster; `unbroadcast` sums over the rows all the same",
    ("linear", "_sum(upstream, (0,), keepdims=False)", "_sum(upstream, (0,))"): "`unbroadcast` takes the row away",
    ("linear", "False", "True"): "the same",
    ("Tensor.prod", "1.0", "2.0"): "either asks whether the product is far enough from 0 to be divided",
    ("Tensor.prod", "np.isfinite(product) & np.isfinite(1.0 / product)", "np.isfinite(1.0 / product)"): "differs only where the result has overflowed, which test_numerics tries: differences cannot",
}  # fmt: skip


# -- rules and their mutants


def rules(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """Every nested function called `_backward`, by the operation around it (`Tensor.__mul__`); and the shared ones."""
    found = {}

    def visit(node: ast.AST, path: tuple[str, ...]) -> None:
        for child in ast.iter_child_nodes(node):
            named = isinstance(child, ast.FunctionDef | ast.ClassDef)
            if isinstance(child, ast.FunctionDef) and child.name == "_backward":
                found[".".join(path)] = child
            elif isinstance(child, ast.FunctionDef) and child.name in SHARED:
                found[".".join((*path, child.name))] = child
            visit(child, (*path, child.name) if named else path)

    visit(tree, ())
    return found


RULES = list(rules(ast.parse(SOURCE)))


@dataclass(frozen=True)
class Mutant:
    """One change: `holder.field` (or `holder.field[position]`) becomes `changed`."""

    rule: str
    line: int
    before: str
    after: str
    holder: ast.AST
    field: str
    position: int | None
    changed: ast.AST

    def __str__(self) -> str:
        return f"{self.rule}, line {self.line}: `{self.before}` -> `{self.after}`"

    @contextmanager
    def breaks(self, engine: ModuleType, tree: ast.Module) -> Iterator[None]:
        """While this is open, the rule's function in `engine` has this one change. `tree` is left as it was."""
        function = inspect.unwrap(attrgetter(self.rule)(engine))
        right = function.__code__
        original = self._place(self.changed)
        try:
            function.__code__ = compiled(tree, self.rule)
        finally:
            self._place(original)
        try:
            yield
        finally:
            function.__code__ = right

    def _place(self, node: Any) -> Any:
        if self.position is None:
            replaced = getattr(self.holder, self.field)
            setattr(self.holder, self.field, node)
        else:
            siblings = getattr(self.holder, self.field)
            replaced, siblings[self.position] = siblings[self.position], node
        return replaced


def execute(tree: ast.Module, **names: Any) -> ModuleType:
    module = ModuleType("mutated_model")
    vars(module).update(names)
    exec(compile(tree, "mutated_model.py", "exec"), vars(module))
    return module


def compiled(tree: ast.Module, path: str) -> CodeType:
    """The code of one function or method of the tree, without what decorates it."""
    body = tree.body
    for name in path.split("."):
        node = next(node for node in body if getattr(node, "name", "") == name)
        body = node.body
    alone = ast.FunctionDef(node.name, node.args, node.body, [], lineno=node.lineno, col_offset=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # a mutant may call a number
        code = compile(ast.Module([alone], []), "mutated_model.py", "exec")
    return next(part for part in code.co_consts if isinstance(part, CodeType) and part.co_name == node.name)


def mutants(rule: str, function: ast.FunctionDef) -> Iterator[Mutant]:
    errors = {id(part) for node in ast.walk(function) if isinstance(node, ast.Raise) for part in ast.walk(node)}
    for holder in ast.walk(function):
        if id(holder) in errors:  # what an error says is tested elsewhere
            continue
        for field, value in ast.iter_fields(holder):
            if holder is function and field != "body":
                continue
            for position, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
                inert = getattr(holder, "arg", "") == "strict" or getattr(holder, "attr", "") in (
                    "shape",
                    "ndim",
                    "dtype",
                )
                if isinstance(node, ast.AST) and not inert:
                    for changed in changes(node, function):
                        ast.fix_missing_locations(ast.copy_location(changed, node))
                        before, after = ast.unparse(node), ast.unparse(changed)
                        line = getattr(node, "lineno", function.lineno)
                        yield Mutant(rule, line, before, after, holder, field, position, changed)


SWAPPED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # read by rows  # fmt: skip
OTHERS = {
    ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.LtE), ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
}  # read by rows  # fmt: skip


def changes(node: ast.AST, function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The small ways in which this piece of a rule could be wrong."""
    upstream = function.args.args[0].arg
    match node:
        case ast.Expr(value=ast.Call()):  # leave the message out
            yield ast.Pass()
        case ast.Expr(value=ast.Constant()):
            return
        case ast.Call(func=ast.Attribute(value=receiver, attr="_accumulate"), args=[message]):
            for wrong in (ast.UnaryOp(ast.USub(), message), ast.BinOp(message, ast.Mult(), ast.Constant(2.0))):
                yield ast.Call(node.func, [wrong], [])
            others = {
                ast.unparse(call.func.value)
                for call in ast.walk(function)
                if isinstance(call, ast.Call) and ast.unparse(call.func).endswith(".accumulate")
            } - {ast.unparse(receiver)}
            for other in sorted(others):  # send it to the wrong operand
                yield ast.Call(ast.parse(f"{other}.accumulate", mode="eval").body, [message], [])
        case ast.Call():
            if node.args and not isinstance(node.args[0], ast.Starred):  # leave a function away: sign(a) becomes a
                yield node.args[0]
            if isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) != "np":
                yield node.func.value  # leave a method away: g.swapaxes(-1, -2) becomes g
            for i, option in enumerate(node.keywords):  # leave an option away
                if option.arg == "strict":  # an assertion of zip: it computes nothing
                    continue
                yield ast.Call(node.func, node.args, node.keywords[:i] + node.keywords[i + 1 :])
        case ast.BinOp():
            yield node.left
            yield node.right
            yield ast.BinOp(node.left, SWAPPED[type(node.op)](), node.right)
            if isinstance(node.op, ast.MatMult | ast.Sub | ast.Div | ast.Pow):
                yield ast.BinOp(node.right, node.op, node.left)
        case ast.AugAssign():
            yield ast.Assign([node.target], node.value)
            yield ast.AugAssign(node.target, ast.Sub() if isinstance(node.op, ast.Add) else ast.Add(), node.value)
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.Compare(left=left, ops=[op], comparators=comparators):
            for other in OTHERS.get(type(op), ()):
                yield ast.Compare(left, [other()], comparators)
        case ast.If(body=[ast.Raise()]):  # refusing a wrong shape: tested with the errors
            return
        case ast.If():
            yield ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
        case ast.IfExp():
            yield node.body
            yield node.orelse
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield ast.Constant(value + 1)
        case ast.Name(id=name, ctx=ast.Load()) if name == upstream:  # ignore what comes from above
            yield ast.parse(f"np.ones_like({name})", mode="eval").body
        case ast.Subscript(value=value, ctx=ast.Load()):
            yield value
        case ast.Attribute(value=value, attr="T"):
            yield value


# -- what each case reaches, and what it says of a mutant


def reached() -> dict[str, list[Case]]:
    """For each rule, the cases of the table whose backward pass runs it; small ones first."""
    tree = ast.parse(SOURCE)
    for name, function in rules(tree).items():
        function.body.insert(0, ast.parse(f"_reached.add({name!r})").body[0])
    seen: set[str] = set()
    engine = execute(tree, _reached=seen)
    table: dict[str, list[Case]] = {name: [] for name in RULES}
    for case in sorted(CASES, key=lambda case: case.size or 99):
        seen.clear()
        output = case.call([engine.Tensor(array) for array in case.inputs], engine)
        output.backward(np.ones(output.shape))
        for name in seen:
            table[name].append(case)
    return table


@pytest.fixture(scope="module")
def cases_by_rule() -> dict[str, list[Case]]:
    return reached()


def gradients(case: Case, engine: ModuleType, cotangent: np.ndarray) -> list[np.ndarray | None]:
    leaves = [engine.Tensor(array) for array in case.inputs]
    case.call(leaves, engine).backward(cotangent)
    return [leaf.grad for leaf in leaves]


@cache
def right(case_number: int) -> list[tuple[Case, np.ndarray, list[np.ndarray | None]]]:
    """The case in both precisions, the cotangent that `gradcheck` draws for it, and the gradients of the real engine."""
    found = []
    for case in (CASES[case_number], CASES[case_number].as_float32()):
        cotangent, _ = random_cotangent(case.call([model.Tensor(array) for array in case.inputs]).numpy(), SEED)
        found.append((case, cotangent, gradients(case, model, cotangent)))
    return found


def passes(case: Case, engine: ModuleType) -> bool:
    """The gradients of the real engine, which test_ops.py compares with finite differences, more closely than here;
    then the same operation with operands that are used twice."""
    for variant, cotangent, due in right(NUMBERS[id(case)]):
        for a, b in zip(gradients(variant, engine, cotangent), due, strict=True):
            if type(a) is not type(b) or a.dtype != b.dtype or a.shape != b.shape:
                return False
            if not np.allclose(a, b, rtol=1e-4, atol=1e-6, equal_nan=True):
                return False
    return messages_are_separate(case, engine)


def messages_are_separate(case: Case, engine: ModuleType) -> bool:
    """Adding a second message to one operand changes neither the other operand's gradient nor the output's."""
    leaves = [engine.Tensor(array) for array in case.inputs]
    expected = [engine.Tensor(array) for array in case.inputs]
    case.call(expected, engine).backward(np.ones(case.call(expected, engine).shape))
    output = case.call(leaves, engine)
    # Backward goes through the right operand of the last `+` first: the operation, then the extra messages.
    total = (leaves[0] * 3.0).sum() + (output * 1.0).sum()
    total.backward()
    others = all(np.array_equal(a.grad, b.grad, equal_nan=True) for a, b in zip(leaves[1:], expected[1:], strict=True))
    return others and np.array_equal(output.grad, np.ones(output.shape))


def keeps_conventions(rule_cases: set[str], engine: ModuleType) -> bool:
    """The exact answers where there is no derivative, for the operations that reach this rule."""
    for case, upstream, expected in CONVENTIONS_BY_UPSTREAM:
        if case.op in rule_cases:
            leaves = [engine.Tensor(array) for array in case.inputs]
            output = case.call(leaves, engine)
            output.backward(np.full(output.shape, upstream))
            for leaf, gradient in zip(leaves, expected, strict=True):
                if leaf.grad is None or not np.array_equal(leaf.grad, gradient, equal_nan=True):
                    return False
    return True


def survives(engine: ModuleType, cases: list[Case]) -> bool:
    """Does no case fail? One that fails moves to the front, as it often catches the next mutant of the rule, too."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the rules are silent: a warning is a finding, too
        try:
            for case in cases:
                if not passes(case, engine):
                    cases.remove(case)
                    cases.insert(0, case)
                    return False
            return keeps_conventions({c.op for c in cases}, engine)
        except Exception:  # a broken rule may raise anything; it is caught either way
            return False


# -- the tests


def test_the_rules_are_found():
    assert len(RULES) == SOURCE.count("def _backward(") + len(SHARED)
    assert {"Tensor.__mul__", "Tensor.__matmul__", "Tensor.relu", "cross_entropy", "Tensor.unbroadcast"} <= set(RULES)


def test_the_unbroken_engine_passes_the_same_checks():
    """Otherwise every mutant below would be caught for nothing."""
    engine = execute(ast.parse(SOURCE))
    failed = [case.id for case in CASES if not survives(engine, [case])]
    assert not failed


def test_every_equivalent_mutant_still_exists():
    tree = ast.parse(SOURCE)
    found = {
        (mutant.rule, mutant.before, mutant.after)
        for rule, function in rules(tree).items()
        for mutant in mutants(rule, function)
    }
    assert set(EQUIVALENT) <= found


def test_every_rule_is_reached_by_the_table(cases_by_rule):
    unreached = [rule for rule, cases in cases_by_rule.items() if not cases]
    assert not unreached, f"backward rules that no entry of tests/unit/op_table.py reaches: {unreached}"


@pytest.mark.sample(12)  # it tries the tests, not the engine
@pytest.mark.parametrize("rule", RULES)
def test_trap_55_every_broken_version_of_the_rule_is_caught(rule, cases_by_rule):
    tree = ast.parse(SOURCE)
    cases = cases_by_rule[rule]
    broken = list(mutants(rule, rules(tree)[rule]))
    assert len(broken) >= 3, f"only {len(broken)} ways to break {rule} were found: is its rule really in `_backward`?"
    engine, survivors = execute(tree), []
    for mutant in broken:
        if (mutant.rule, mutant.before, mutant.after) not in EQUIVALENT:
            with mutant.breaks(engine, tree):
                survivors += [str(mutant)] * survives(engine, cases)
    assert not survivors, f"{len(survivors)} of {len(broken)} broken versions were not caught:\n" + "\n".join(survivors)
