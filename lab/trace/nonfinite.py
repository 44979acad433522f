"""Find where an inf or nan arose: one sentence for the first value and for the first message that is not finite."""

from typing import Literal, NamedTuple

import numpy as np

from lab.operation_table import UNKNOWN
from lab.text import brief
from lab.trace.derivation import rule_of, short_names
from lab.trace.recording import Trace, describe
from lab.trace.schema import Message, Node

MAX_NUMBERS = 12  # in an array that is written out
GIVEN = frozenset(("masked_fill",))  # operations that write a number the program chose: an inf there is on purpose


class Remark(NamedTuple):
    """A sentence about where an inf or nan arose, and the pass in which it did."""

    arose: Literal["forward", "backward"]
    sentence: str


def remarks(trace: Trace) -> list[Remark]:
    """Explain the first value and the first gradient message that are inf or nan although their inputs are finite."""
    messages = (event for event in trace.events if event["kind"] == "message")
    value = next((node for node in trace.nodes if _arose_in(trace, node)), None)
    message = next((m for m in messages if _bad(m["contribution"]) and not _bad(m["upstream"])), None)
    found = [] if value is None else [Remark("forward", _about_value(trace, value))]
    return found + ([] if message is None else [Remark("backward", _about_message(trace, message))])


def _arose_in(trace: Trace, node: Node) -> bool:
    return (
        node["op"] not in GIVEN
        and not node.get("unseen")
        and _bad(node["value"])
        and not any(_bad(trace.nodes[child]["value"]) for child in node["children"])
    )


def _about_value(trace: Trace, node: Node) -> str:
    if not node["op"]:
        return f"The input {describe(node)} is {brief(node['value'])}, so what depends on it is too."
    reason = trace.ops.get(node["op"], UNKNOWN).not_finite
    return f"{_called(trace, node)} gives {_value_or_shape(node)}{_share(node)}. {reason}".rstrip()


def _called(trace: Trace, node: Node) -> str:
    """Write an operation with the values it was given, such as `(−2) ** 0.5`; with shapes if arrays are large."""
    op, inputs = node["op"], [trace.nodes[child] for child in node["children"]]
    values = [_value_or_shape(one) for one in inputs]
    if any(np.size(one["value"]) > MAX_NUMBERS for one in inputs):
        return f"`{op}` of shape {' and '.join(values)}"
    if op.isidentifier():
        return f"`{op}({', '.join(values)})`"
    values = [f"({value})" if value.startswith("−") else value for value in values]
    return f"`{op}{values[0]}`" if len(values) == 1 else f"`{f' {op} '.join(values)}`"


def _value_or_shape(node: Node) -> str:
    """Return the value of a node as text; the shape if the array is large."""
    return brief(node["value"]) if np.size(node["value"]) <= MAX_NUMBERS else str(tuple(_shape(node)))


def _shape(node: Node) -> list[int]:
    return node["large"]["shape"] if "large" in node else node["shape"]


def _share(node: Node) -> str:
    """Say how many numbers of a large array are not finite; "" if the array is written out."""
    bad, size = int(np.sum(~np.isfinite(np.asarray(node["value"], dtype=float)))), int(np.prod(_shape(node)))
    if size <= MAX_NUMBERS:
        return ""
    return f" with {node['large']['not_finite'] if 'large' in node else bad} of {size:,} numbers not finite"


def _about_message(trace: Trace, message: Message) -> str:
    """Explain a message that is not finite: an operand that its rule reads is inf or nan, or else the local derivative
    is, or the product overflows."""
    node, names = trace.nodes[message["node"]], short_names(trace)
    rule, used = rule_of(trace, node, message["operand"])
    contribution = np.asarray(message["contribution"], dtype=float)
    cell = tuple(np.argwhere(~np.isfinite(contribution))[0])  # the first one that is not finite

    def at_cell(value: object) -> np.ndarray:
        """Return the element that this cell of the message is computed from; all if the rule is not elementwise."""
        array = np.asarray(value)
        try:
            return array if rule.reads("g") else np.asarray(np.broadcast_to(array, contribution.shape)[cell])
        except ValueError:
            return array

    def named(number: int) -> str:
        op = trace.nodes[number]["op"]
        return f"{names[number]}, the result of `{op}`," if op else names[number]

    read = [number for key, number in used.items() if rule.reads(key)] or node["children"]
    values = {number: at_cell(trace.nodes[number]["value"]) for number in read}
    start = f"In the backward pass `{node['op']}` sends {brief(contribution)} to {named(message['child'])} because"
    guilty = next((number for number in read if _bad(values[number])), None)
    if guilty is not None:
        return f"{start} its rule reads {named(guilty).rstrip(',')}, which is {brief(values[guilty])}."

    symbols = rule.text.format(g="the upstream gradient", **{key: names[number] for key, number in used.items()})
    texts = {names[number]: brief(value) for number, value in values.items() if number != node["id"]}
    places = " and ".join(f"{name} is {value}" for name, value in texts.items() if name != value)  # not "2 is 2"
    where = f" where {places}" if places else ""
    if rule.value is None or (rule.scalar_only and node["shape"]):
        return f"{start} its rule, `{symbols}`, has no finite result{where}."
    with np.errstate(all="ignore"):
        operands = [np.asarray(trace.nodes[child]["value"]) for child in node["children"]]
        local = at_cell(rule.value(*operands, np.asarray(node["value"])))
    if _bad(local):
        times = ", and 0 × ∞ is NaN" if np.isnan(contribution[cell]) and not np.isnan(local) else ""
        return f"{start} its local derivative `{symbols}` is {brief(local)}{where}{times}."
    factors = f"{brief(at_cell(message['upstream']))} × {brief(local)}"
    return f"{start} the upstream gradient times the local derivative, {factors}, is more than its data type can hold."


def _bad(value: object) -> bool:
    return not np.all(np.isfinite(np.asarray(value, dtype=float)))
