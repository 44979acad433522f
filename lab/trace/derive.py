"""The chain rule for each node of a trace: who sends it a message, by which local derivative, with which numbers.

    gradient of a node = sum over its uses of  upstream gradient × local derivative

The messages are what the engine sent. The local derivatives come from the table below, which knows the textbook rule of
each operation, so the two can disagree: then the engine, or an operation that someone wrote, breaks the rule.
"""

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from lab.trace.recording import Trace, brief, kind_of, plain


class Rule(NamedTuple):
    """The local derivative of an operation with respect to one operand; a text with {g}, the upstream gradient, is the
    whole message instead. {a} and {b} are the operands, {y} is the result."""

    text: str
    latex: str
    value: Callable[..., Any] | None = None  # of a, b, ... and y as arrays; None where the message is no simple product
    whole: bool = False  # the value is right only when the result is a single number


ONE = Rule("1", "1", lambda *_: 1.0)
_MOVED = "{g}, moved back to where the values came from"
RULES: dict[str, tuple[Rule, ...]] = {
    "+": (ONE, ONE),
    "-": (ONE, Rule("−1", "-1", lambda *_: -1.0)),
    "*": (Rule("{b}", "{b}", lambda a, b, y: b), Rule("{a}", "{a}", lambda a, b, y: a)),
    "/": (
        Rule("1/{b}", r"\frac{{1}}{{{b}}}", lambda a, b, y: 1 / b),
        Rule("−{a}/{b}²", r"-\frac{{{a}}}{{{b}^2}}", lambda a, b, y: -a / b**2),
    ),
    "**": (
        Rule("{b}·{a}^({b} − 1)", "{b} {a}^{{{b} - 1}}", lambda a, b, y: b * a ** (b - (b != 0))),
        Rule("{a}^{b}·log {a}", r"{a}^{{{b}}} \log {a}", lambda a, b, y: np.where(a == 0, 0.0, y * np.log(a))),
    ),
    "neg": (Rule("−1", "-1", lambda *_: -1.0),),
    "exp": (Rule("exp {a}", "e^{{{a}}}", lambda a, y: y),),
    "log": (Rule("1/{a}", r"\frac{{1}}{{{a}}}", lambda a, y: 1 / a),),
    "sqrt": (Rule("1/(2√{a})", r"\frac{{1}}{{2\sqrt{{{a}}}}}", lambda a, y: 0.5 / y),),
    "sin": (Rule("cos {a}", r"\cos {a}", lambda a, y: np.cos(a)),),
    "cos": (Rule("−sin {a}", r"-\sin {a}", lambda a, y: -np.sin(a)),),
    "tanh": (Rule("1 − tanh² {a}", r"1 - \tanh^2 {a}", lambda a, y: 1 - y * y),),
    "sigmoid": (Rule("{y}·(1 − {y})", "{y} (1 - {y})", lambda a, y: y * (1 - y)),),
    "softplus": (Rule("sigmoid {a}", r"\sigma({a})", lambda a, y: np.exp(-np.logaddexp(0.0, -a))),),
    "relu": (Rule("1 if {a} > 0, else 0", r"[{a} > 0]", lambda a, y: np.where(a > 0, 1.0, 0.0)),),
    "leaky_relu": (Rule("1 if {a} > 0, else the slope", r"[{a} > 0] + s\,[{a} \le 0]"),),
    "abs": (Rule("sign {a}", r"\operatorname{{sign}} {a}", lambda a, y: np.sign(a)),),
    "clip": (Rule("1 inside the bounds, else 0", r"[\text{{low}} \le {a} \le \text{{high}}]"),),
    "maximum": (
        Rule("1 if {a} > {b}, ½ if equal, else 0", "[{a} > {b}]", lambda a, b, y: (a > b) + 0.5 * (a == b)),
        Rule("1 if {b} > {a}, ½ if equal, else 0", "[{b} > {a}]", lambda a, b, y: 1.0 - ((a > b) + 0.5 * (a == b))),
    ),
    "minimum": (
        Rule("1 if {a} < {b}, ½ if equal, else 0", "[{a} < {b}]", lambda a, b, y: (a < b) + 0.5 * (a == b)),
        Rule("1 if {b} < {a}, ½ if equal, else 0", "[{b} < {a}]", lambda a, b, y: 1.0 - ((a < b) + 0.5 * (a == b))),
    ),
    "where": (
        Rule("1 where {a} was chosen, else 0", r"[\text{{{a} chosen}}]"),
        Rule("1 where {b} was chosen, else 0", r"[\text{{{b} chosen}}]"),
    ),
    "sum": (Rule("1", "1", lambda *_: 1.0, whole=True),),
    "norm": (Rule("{a}/{y}", r"\frac{{{a}}}{{{y}}}", lambda a, y: a / y if y else np.zeros(a.shape), whole=True),),
    "max": (Rule("1 for the largest, shared by ties, else 0", r"[{a} = {y}]", lambda a, y: _share(a, y), whole=True),),
    "prod": (Rule("the product of the others", r"\prod_{{j \ne i}} {a}_j"),),
    "logsumexp": (Rule("softmax {a}", r"\operatorname{{softmax}} {a}", lambda a, y: np.exp(a - y), whole=True),),
    "@": (Rule("{g} @ {b}ᵀ", r"{g}\,{b}^\top"), Rule("{a}ᵀ @ {g}", r"{a}^\top {g}")),
    "linear": (
        Rule("{g} @ {b}ᵀ", r"{g}\,{b}^\top"),
        Rule("{a}ᵀ @ {g}", r"{a}^\top {g}"),
        Rule("{g}, summed over the rows", r"\textstyle\sum_i {g}_i"),
    ),
    "softmax": (Rule("{y}·({g} − Σ {g}·{y})", r"{y} \odot ({g} - \textstyle\sum {g} \odot {y})"),),
    "log_softmax": (Rule("{g} − softmax({a})·Σ {g}", r"{g} - \operatorname{{softmax}}({a}) \textstyle\sum {g}"),),
    "cross_entropy": (
        Rule(
            "{g}·(softmax({a}) − one-hot label)/n",
            r"\tfrac{{1}}{{n}} (\operatorname{{softmax}}({a}) - \text{{one-hot}})",
        ),
    ),
    "broadcast_to": (Rule("1", "1", lambda *_: 1.0),),
    **dict.fromkeys(("reshape", "transpose", "getitem"), (Rule(_MOVED, r"\text{{moved back}}({g})"),)),
}
UNKNOWN = Rule("the rule of this operation, applied to {g}", r"J^\top {g}")
JOINED = Rule("the part of {g} that came from {a}", r"\text{{part of }} {g}")  # concatenate and stack have any number


def derive(trace: Trace) -> list[dict]:
    """For each node a dict of plain data:

    name    its label; else "v1", "v2", ... for an operation, "out" for the result, a constant's number or "const1", ...
    latex   the same name for LaTeX
    kind    "leaf", "constant", "operation" or "output"
    why     the reason, in words, when the gradient is not a sum of messages: the seed, no path, a constant. Else ""
    terms   for each message the node received, in order: event (its index), node and operand (where it came from), text
            and latex (the local derivative in symbols, or the whole message when `local` is None), upstream, local
            (number or array; None when the table cannot tell), message (what the engine sent, in this node's shape),
            agrees (whether the message is what the rule says; None when the table cannot tell). A node that no message
            reached has {event: None, node, operand} for each that is due instead: the pass has not come so far, or it
            stopped, or the engine is broken
    """
    names = short_names(trace)
    symbols = [_latex_name(name) for name in names]
    values = [np.asarray(node["value"]) for node in trace.nodes]
    reached = trace.gradients_after()
    unsent = _unsent(trace)
    derived = [
        {
            "name": names[i],
            "latex": symbols[i],
            "kind": kind_of(trace, node),
            "why": _why(node, reached, trace, unsent),
            "terms": [],
        }
        for i, node in enumerate(trace.nodes)
    ]
    with np.errstate(all="ignore"):
        for index, event in enumerate(trace.events):
            if event["kind"] == "message":
                arrived = trace.events[index + 1]["message"]
                derived[event["child"]]["terms"].append(
                    {"event": index, **_term(trace, event, arrived, names, symbols, values)}
                )
    for child, terms in unsent.items():
        derived[child]["terms"] = terms
    return derived


def _unsent(trace: Trace) -> dict[int, list[dict]]:
    """For each node on the way to the result that has no gradient: the messages that it should have got."""
    reached, leading, due = trace.gradients_after(), {trace.output}, {}
    for node in reversed(trace.nodes):  # operands come before their users
        if node["id"] in leading:
            leading.update(node["children"])
            for operand, child in enumerate(node["children"]):
                if trace.nodes[child]["requires_grad"] and child not in reached:
                    due.setdefault(child, []).append({"event": None, "node": node["id"], "operand": operand})
    return due


def first_disagreement(trace: Trace) -> int | None:
    """The index of the first message that is not what the rule says, or None."""
    terms = (term for node in derive(trace) for term in node["terms"])
    return min((term["event"] for term in terms if term.get("agrees") is False), default=None)


def short_names(trace: Trace) -> list[str]:
    """A name for each node that fits into a formula; no two alike, unless the labels are."""
    taken = {node["label"] for node in trace.nodes}
    operations, constants = _free("v", taken), _free("const", taken)
    names = []
    for node in trace.nodes:
        if node["label"]:
            names.append(node["label"])
        elif node["id"] == trace.output and "out" not in taken:
            names.append("out")
        elif node["op"]:
            names.append(next(operations))
        else:
            names.append(next(constants) if node["shape"] else brief(node["value"]))
    return names


def _free(prefix: str, taken: set[str]) -> Iterator[str]:
    return (name for i in itertools.count(1) if (name := f"{prefix}{i}") not in taken)


def table(trace: Trace, count: int | None = None) -> list[dict[str, str]]:
    """The state of every node after the first `count` events (all by default) as texts: the twin of the picture.

    Keys: node, role, value, gradient, state.
    """
    events = trace.events[:count]
    reached = trace.gradients_after(count)
    computed = {event["node"] for event in events if event["kind"] == "forward"}
    derived = derive(trace)
    rows = []
    for node, derivation in zip(trace.nodes, derived, strict=True):
        number, terms = node["id"], derivation["terms"]
        known = not node["op"] or number in computed
        arrived = sum(term["event"] is not None and term["event"] + 1 < len(events) for term in terms)
        if derivation["why"]:
            state = derivation["why"] if number in reached or number != trace.output else "not computed yet"
        elif not known:
            state = "not computed yet"
        else:
            state = f"{arrived} of {len(terms)} messages"
        rows.append(
            {
                "node": derivation["name"],
                "role": " ".join(filter(None, (derivation["kind"], node["op"]))),
                "value": brief(node["value"]) if known else "not computed yet",
                "gradient": brief(reached[number]) if number in reached else "none"
                if not node["requires_grad"] else "not computed yet" if terms or number == trace.output else "0",
                "state": state,
            }
        )  # fmt: skip
    return rows


def _why(node: dict, reached: dict, trace: Trace, unsent: dict) -> str:
    if node["id"] == trace.output:
        if node["id"] not in reached:
            return "not computed: the backward pass has not started"
        seed = brief(reached[node["id"]])
        return f"{seed} because it is the seed: the backward pass starts here"
    if not node["requires_grad"]:
        return "none because it is a constant: nobody asks how the result changes with it"
    if node["id"] not in reached:
        if node["id"] in unsent:
            return "not computed: no message was sent to it"
        return "0 because no path leads from here to the result; the engine leaves it at None"
    return ""


def _term(trace: Trace, event: dict, arrived: Any, names: list, symbols: list, values: list) -> dict:
    parent, operand = event["node"], event["operand"]
    node = trace.nodes[parent]
    rule = _rule(node["op"], operand)
    children = node["children"]
    first, second = children[0], children[-1]
    if node["op"] == "linear":
        first, second = children[:2]
    if rule is JOINED:
        first = children[operand]
    used = {"a": first, "b": second, "y": parent}
    text = {key: names[i] for key, i in used.items()} | {"g": f"∂{names[trace.output]}/∂{names[parent]}"}
    latex = {key: symbols[i] for key, i in used.items()}
    latex["g"] = rf"\frac{{\partial {symbols[trace.output]}}}{{\partial {symbols[parent]}}}"
    local, agrees = None, None
    if rule.value is None or (rule.whole and node["shape"]):
        if "{g}" not in rule.text:
            rule = Rule("{g} · " + rule.text, "{g} " + rule.latex)
    else:
        operands = [values[child] for child in children]
        local = rule.value(*operands, values[parent])
        expected = np.asarray(event["upstream"]) * local
        sent = np.asarray(event["contribution"])
        agrees = bool(np.allclose(expected, sent, rtol=1e-5, atol=1e-12, equal_nan=True))
    return {
        "node": parent,
        "operand": operand,
        "text": rule.text.format(**text),
        "latex": rule.latex.format(**latex),
        "upstream": event["upstream"],
        "local": None if local is None else plain(local),
        "message": arrived,
        "agrees": agrees,
    }


def _rule(op: str, operand: int) -> Rule:
    if op in ("concatenate", "stack"):
        return JOINED
    rules = RULES.get(op, ())
    return rules[operand] if operand < len(rules) else UNKNOWN


def _share(a: np.ndarray, y: np.ndarray) -> np.ndarray:
    chosen = (a == y) | np.isnan(a)
    return chosen / chosen.sum()


def _latex_name(name: str) -> str:
    """A name in LaTeX: a letter stays, v1 gets an index, a longer name is upright, anything else becomes text."""
    if re.fullmatch(r"[A-Za-z]|-?[\d.]+", name):
        return name
    if match := re.fullmatch(r"([A-Za-z])_?(\d+)", name):
        return f"{match[1]}_{{{match[2]}}}"
    if re.fullmatch(r"[A-Za-z]+", name):
        return rf"\mathrm{{{name}}}"
    special = {"\\": r"\textbackslash ", "~": r"\textasciitilde ", "^": r"\textasciicircum "}
    return r"\text{" + "".join(special.get(c, f"\\{c}" if c in "_&%$#{}" else c) for c in name) + "}"
