"""Where did an inf or a nan come from? One sentence for the first node and the first message that is not finite."""

import numpy as np

from lab.trace.recording import Trace, brief, describe

REASONS = {
    "log": "The logarithm of 0 is -inf, and of a negative number it is not a real number (nan).",
    "sqrt": "The square root of a negative number is not a real number (nan).",
    "/": "A number divided by 0 is inf, and 0 / 0 has no value (nan).",
    "**": "A power overflows, divides by 0, or has a negative base with a fractional exponent.",
    "exp": "The exponential overflows: above about 709 the result is larger than the largest number a float can hold.",
}


def explain(trace: Trace) -> list[str]:
    """At most two sentences: the first value and the first gradient message that are inf or nan though what they were
    made from is finite."""
    sentences = []
    for node in trace.nodes:
        operands = [trace.nodes[child] for child in node["children"]]
        if _bad(node["value"]) and not any(_bad(operand["value"]) for operand in operands):
            if not node["op"]:
                sentences.append(f"The input {describe(node)} is {brief(node['value'])}, so what depends on it is too.")
                break
            inputs = ", ".join(brief(operand["value"]) for operand in operands)
            reason = REASONS.get(node["op"], "The result is larger than the largest number a float can hold.")
            sentences.append(f"`{node['op']}` of {inputs} gives {brief(node['value'])}. {reason}")
            break
    for event in trace.events:
        if event["kind"] == "message" and _bad(event["contribution"]) and not _bad(event["upstream"]):
            node, child = trace.nodes[event["node"]], trace.nodes[event["child"]]
            sentences.append(
                f"In the backward pass `{node['op']}` sends {brief(event['contribution'])} to {describe(child)}, "
                f"because its local derivative is not finite at {brief(child['value'])}."
            )
            break
    return sentences


def _bad(value: object) -> bool:
    return not np.all(np.isfinite(np.asarray(value, dtype=float)))
