"""The derivation of each gradient: its messages are the engine's, its local derivatives the textbook's."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.expression import parse
from lab.operation_table import OPS
from lab.trace.derivation import alike, derive, first_disagreement, latex_name, short_names, table
from lab.trace.operation_example import example
from lab.trace.recording import Recording, record
from tests.programs import LEAVES, OPERATIONS, program, shared

STEP = st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 30), st.integers(0, 30))


def test_the_shared_leaf_is_a_sum_of_two_products():
    trace = record(shared, LEAVES)
    terms = derive(trace)[0]["terms"]
    assert [(t["local"], t["text"]) for t in terms] == [(1.0, "1"), (3.0, "b")]
    sent = [trace.events[t["event"]] for t in terms]
    assert [(event["child"], event["upstream"]) for event in sent] == [(0, 10.0), (0, 7.0)]


def test_names_fit_into_formulas_and_do_not_collide():
    def build(v1, a):
        h = v1 * a
        h.label = "h"
        return (h + a * 2.0) + np.ones(1)[0]

    assert short_names(record(build, {"v1": 1.0, "a": 2.0})) == ["v1", "a", "h", "2", "v2", "v3", "1", "out"]
    digits = record(lambda a: a * 100000.4 + 1 / 3 - np.float32(0.1) + -12345678.0, {"a": 1.0})
    assert [name for name in short_names(digits) if name[0] in "−0123456789"] == [
        "100000…",
        "0.3333…",
        "0.1",
        "−1.235e7…",
    ]
    arrays = record(lambda a: (a + np.ones(2)).sum(), {"a": [1.0, 2.0]})
    assert short_names(arrays) == ["a", "const1", "v1", "out"]
    assert short_names(record(lambda out: out * out, {"out": 1.0})) == ["out", "v1"]

    def loop(h_2):
        h = h_2
        for _ in range(3):
            h = h.tanh()
            h.label = "h"
        return h

    assert short_names(record(loop, {"h_2": 1.0})) == ["h_2", "h", "h_3", "h_4"]


def test_the_reasons_for_a_gradient_that_is_no_sum_differ():
    derived = derive(record(lambda a, b: a * 2.0, {"a": 3.0, "b": 1.0}))
    reasons = [node["why"] for node in derived]
    assert reasons[0] == ""
    assert reasons[1].startswith("0 because no path")
    assert reasons[2].startswith("none because it is a constant")
    assert reasons[3].startswith("1 because it is the starting gradient")
    assert len(set(reasons)) == 4


def test_a_gradient_of_an_earlier_pass_is_said_to_be_one():
    trace = record(lambda a, b: a * 2.0, {"a": 3.0, "b": 1.0})
    trace.nodes[1]["earlier"] = 15.0
    assert derive(trace)[1]["why"].startswith("15 from an earlier pass")
    assert table(trace)[1]["gradient"] == "15"


def test_a_seed_other_than_one_is_named():
    why = derive(record(lambda a: a * a, {"a": 3.0}, upstream=2.5))[-1]["why"]
    assert why.startswith("2.5 because it is the starting gradient")


def test_not_computed_differs_from_every_reason():
    recording = Recording({"a": 3.0, "b": 1.0})
    result = (recording.tensors["a"] * 0.0).relu()
    before = {row["node"]: row["gradient"] for row in table(recording.finish(result))}
    assert before == {"a": "not computed", "b": "none (no path)"} | {
        "0": "none (constant)",
        "v1 (*)": "not computed",
        "out (relu)": "not computed",
    }
    after = table(record(lambda a, b: (a * 0.0).relu(), {"a": 3.0, "b": 1.0}))
    assert [row["gradient"] for row in after] == ["0", "none (no path)", "none (constant)", "0", "1"]


def test_the_table_says_what_a_node_was_computed_from():
    rows = table(record(lambda a, X: (a * X).sum(), {"a": 2.0, "X": [[1.0, 2.0], [3.0, 4.0]]}))
    assert list(rows[0]) == ["node", "computed from", "shape", "value", "gradient"]
    assert [list(row.values())[:3] for row in rows] == [
        ["a", "–", "number"],
        ["X", "–", "2×2"],
        ["v1 (*)", "a, X", "2×2"],
        ["out (sum)", "v1", "number"],
    ]


def test_a_message_that_was_never_sent_is_no_missing_path():
    recording = Recording({"a": 2.0, "b": 3.0, "c": 4.0})
    a, b, _ = recording.tensors.values()
    trace = recording.finish(a * b + a)
    derived = derive(trace)
    assert [term["event"] for term in derived[0]["terms"]] == [None, None]
    assert [(term["node"], term["operand"]) for term in derived[1]["terms"]] == [(3, 1)]
    assert derived[0]["why"] == "not computed: no message was sent to it"
    assert derived[2]["why"].startswith("0 because no path")
    assert derived[4]["why"] == "not computed: the backward pass has not started"
    rows = {row["node"]: row["gradient"] for row in table(trace)}
    assert rows["a"] == rows["out (+)"] == "not computed"
    assert rows["c"] == "none (no path)"


@pytest.mark.parametrize("name", OPS)
def test_the_rules_agree_with_the_engine(name):
    trace, _ = example(OPS[name]).record()
    terms = [term for node in derive(trace) for term in node["terms"]]
    assert terms
    assert all(term["agrees"] is not False for term in terms)
    assert all((term["local"] is None) == ("∂" in term["text"]) for term in terms)
    assert all(term["rule"] and "rule of this operation" not in term["rule"] for term in terms)


def test_a_broken_rule_is_told_from_the_message():
    trace = record(lambda a, b: a * b, {"a": 2.0, "b": 3.0})
    message = next(event for event in trace.events if event["kind"] == "message")
    assert first_disagreement(trace) is None
    message["contribution"] = 2 * message["contribution"]
    assert first_disagreement(trace) == trace.events.index(message)
    assert derive(trace)[0]["terms"][0]["agrees"] is False
    assert derive(trace)[1]["terms"][0]["agrees"] is True


def test_numbers_agree_as_allclose_says():
    numbers = [0.0, 1.0, 1.0 + 1e-6, 1.0 + 1e-4, -1.0, 1e-13, 1e300, np.inf, -np.inf, np.nan]
    with np.errstate(all="ignore"):
        for first, second in itertools.product(numbers, repeat=2):
            expected = np.allclose(first, second, rtol=1e-5, atol=1e-12, equal_nan=True)
            assert alike(np.asarray(first), np.asarray(second)) == expected, (first, second)


def test_the_number_of_a_constant_is_a_number_in_latex():
    nodes = derive(record(lambda a: a * -2.5 + 1.5e-7 + a * np.inf + a * 3e8, {"a": 1.0}))
    constants = [(node["name"], latex_name(node["name"])) for node in nodes if node["kind"] == "constant"]
    assert constants == [
        ("−2.5", "-2.5"),
        ("1.5e−7", r"1.5 \times 10^{-7}"),
        ("∞", r"\infty"),
        ("3e8", r"3 \times 10^{8}"),
    ]


def test_learner_text_is_escaped_for_latex():
    assert latex_name("a_{b}$") == r"\text{a\_\{b\}\$}"


@settings(max_examples=50)
@given(st.lists(STEP, min_size=1, max_size=12), st.floats(0.5, 2.0), st.floats(-2.0, -0.5))
def test_random_programs_add_up(steps, a, b):
    trace = record(program(steps), {"a": a, "b": b})
    reached = trace.gradients_after()
    for node, derivation in zip(trace.nodes, derive(trace), strict=True):
        terms = derivation["terms"]
        assert all(term["event"] is not None for term in terms)
        upstream = [trace.events[term["event"]]["upstream"] for term in terms]
        messages = [trace.events[term["event"] + 1]["message"] for term in terms]
        if terms and np.all(np.isfinite([upstream, messages])):
            np.testing.assert_allclose(sum(messages), reached[node["id"]], rtol=1e-9, atol=1e-12)
            for term, g, message in zip(terms, upstream, messages, strict=True):
                if term["local"] is None:  # 0 was chosen, and is no product with infinity or nan
                    assert not np.isfinite(g)
                    assert message == 0
                    continue
                assert term["agrees"]
                np.testing.assert_allclose(g * term["local"], message, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(
    ("text", "x"),
    [
        ("sqrt(relu(x))", -1.0),
        ("sqrt(clip(x, 0, 1))", -1.0),
        ("sqrt(maximum(x, 0))", -1.0),
        ("h = relu(x); 1/h - 1/h", -1.0),
    ],
)
def test_an_element_that_was_not_chosen_gets_no_product_of_an_infinite_gradient(text, x):
    trace = record(parse(text), {"x": x})
    assert trace.gradients["x"] == 0.0
    assert first_disagreement(trace) is None
    (term,) = derive(trace)[0]["terms"]
    assert (term["local"], term["agrees"]) == (None, None)
