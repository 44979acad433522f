"""The rules that find failures in a program, and `apply_rules`, which runs them all.

A rule takes a Case (the program's events and its text) and yields RuleHits: the failure's number in failures.toml, the
place, one sentence with the program's own names (from sentences.toml), and the edit. A rule that is not sure reports
nothing.
"""

from collections.abc import Iterable

from lab.failures.analysis.edits import Text
from lab.failures.analysis.rules import cuts, graphs, numbers, optimized, order
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.state import AnalysisState
from lab.failures.analysis.work import TextTooLong, limited

# Of two rules that find the same failure in one line, the first one speaks.
MODULES = (order, graphs, cuts, numbers, optimized)


def apply_rules(state: AnalysisState, source: str) -> Iterable[RuleHit]:
    """Run every rule and return its hits in the order of the lines, each failure once a line. Says in
    `state.left_out` if the text is too long for all rules."""
    case = Case(state, Text(source))
    found: dict[tuple[int, int], RuleHit] = {}
    try:
        with limited():
            for rule in (rule for module in MODULES for rule in module.RULES):
                for hit in rule(case):
                    line = getattr(hit.node, "lineno", 0)
                    found.setdefault((line, hit.failure), hit)
    except TextTooLong as error:
        state.left_out = state.left_out or str(error)
    return [found[key] for key in sorted(found)]
