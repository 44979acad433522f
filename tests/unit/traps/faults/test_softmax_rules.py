"""Softmax: which checks find which rules."""

import pytest

from lab.traps.faults.softmax_rules import RULES, SENT, by_cotangent, by_sum

LOGITS = [1.0, 2.0, 0.5]
WRONG = [name for name in RULES if name != "right"]


def test_the_sum_sees_one_wrong_rule_of_four():
    assert [name for name in WRONG if not by_sum(RULES[name], LOGITS)] == ["diagonal"]


@pytest.mark.parametrize("seed", [0, 1, 50, 99])
def test_a_random_cotangent_sees_them_all(seed):
    assert not any(by_cotangent(RULES[name], LOGITS, seed) for name in WRONG)


def test_the_rule_of_the_engine_passes_both():
    assert by_sum(RULES["right"], LOGITS)
    assert by_cotangent(RULES["right"], LOGITS)
    assert RULES["right"].source.startswith("def softmax(self, axis: Any = -1)")


def test_what_is_shown_is_what_runs():
    sources = {name: rule.source for name, rule in RULES.items()}
    assert len({*sources.values()}) == len(RULES)
    for name, source in sources.items():
        assert source.startswith("def softmax(self, axis")
        assert (SENT in source) is (name == "right")


def test_elements_that_differ_only_in_the_sign_of_their_rounding_get_one_verdict():
    """The sum is always 1: its differences are one last digit of it, up or down, or nothing."""
    checked = by_sum(RULES["right"], LOGITS).inputs["x"]
    assert {checked.element((i,)).kind for i in range(3)} == {"smooth"}
