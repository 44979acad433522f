"""A graph with blanks: reading answers, judging them, slips that go on, points, and what may be shown."""

import json

import numpy as np
import pytest
from hypothesis import given, settings

from lab.practice.exercises import LEVELS, exercise
from lab.practice.prediction import FULL, MAX_LENGTH, Prediction, credited, points, reading
from lab.trace.derive import table
from lab.trace.export import playable
from tests.unit.practice.test_exercises import ANY

ODD = {  # as typed -> what it is
    "6": 6,
    " 6 ": 6,
    "+6": 6,
    "6.": 6,
    "6.0": 6,
    "6e0": 6,
    "12/2": 6,
    "12 / 2": 6,
    "−6": -6,
    "- 6": -6,
    ".5": 0.5,
    "-1/2": -0.5,
    "[31]": [31],
    "[1, 2]": [1, 2],
    "1, 2": [1, 2],
    "1 2": [1, 2],
    "(1, 2)": [1, 2],
    "[1 -2]": [1, -2],
    "[[1, 2], [3, 4]]": [[1, 2], [3, 4]],
    "[[1 2]\n [3 4]]": [[1, 2], [3, 4]],
    "1 2; 3 4": [[1, 2], [3, 4]],
    "[1 2; 3 4]": [[1, 2], [3, 4]],
    "[1/2, −.5]": [0.5, -0.5],
}
BAD = [
    "x", "", "[", "[1, [2]]", "1/0", "1e999", "nan", "6 apples", "null", '"6"', "[[[1]]]", "1" * (MAX_LENGTH + 1),
    "{}", "[true, false]",
]  # read by rows  # fmt: skip


@pytest.fixture
def classic():
    return Prediction(exercise(1, 1))


@pytest.mark.parametrize("text", ODD)
def test_odd_notation_is_taken(text):
    assert np.array_equal(reading(text), ODD[text])


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_answer_gets_one_sentence(text):
    with pytest.raises(ValueError, match=r"^[A-Z].*\.$"):
        reading(text)


@settings(max_examples=15, deadline=None)
@given(ANY)
def test_right_answers_are_right(which):
    prediction = Prediction(exercise(*which))
    for what, blanks in prediction.blanks.items():
        answers = {blank.name: json.dumps(blank.right.tolist()).replace("-", "−") for blank in blanks}
        assert {verdict.state for verdict in prediction.judge(what, answers).values()} == {"right"}


def test_the_classic_has_every_blank(classic):
    assert [blank.label for blank in classic.blanks["value"]] == [
        "v1 = a * b",
        "v2 = v1 + c",
        "v3 = a + d",
        "out = v2 * v3",
    ]
    assert {blank.name: float(blank.right) for blank in classic.blanks["gradient"]} == {
        "out": 1,
        "v2": 7,
        "v3": 10,
        "a": 31,
        "d": 10,
        "v1": 7,
        "c": 7,
        "b": 14,
    }


def test_a_sum_along_an_axis_says_which():
    prediction = Prediction(next(one for one in (exercise(4, n) for n in range(1, 200)) if "axis=0" in one.text))
    assert prediction.blanks["value"][0].label == "v1 = sum(x, axis=0)"


def test_what_follows_from_a_slip_is_right_given_the_slip(classic):
    values = classic.judge("value", {"v1": "7", "v2": "11", "v3": "7", "out": "77"})
    assert {name: verdict.state for name, verdict in values.items()} == {
        "v1": "wrong",
        "v2": "follows",
        "v3": "right",
        "out": "follows",
    }
    assert values["v2"].comment == "Right, given your 7 for v1. Fix that first."
    gradients = classic.judge("gradient", {"v2": "10", "v3": "10", "v1": "10", "a": "40"})
    assert gradients["v2"].state == "wrong"
    assert gradients["v1"].state == "follows"
    assert gradients["a"].comment == "Right, given your 10 for v1. Fix that first."


@settings(max_examples=15, deadline=None)
@given(ANY)
def test_a_slip_anywhere_goes_on_by_the_rules_of_the_engine(which):
    """All upstream gradients twice as large make every gradient twice as large: a pass is linear."""
    prediction = Prediction(exercise(*which))
    answers = {blank.name: json.dumps((2 * blank.right).tolist()) for blank in prediction.blanks["gradient"]}
    verdicts = prediction.judge("gradient", answers)
    for blank in prediction.blanks["gradient"][1:]:
        assert verdicts[blank.name].state == ("follows" if blank.right.any() else "right")


def test_sign_and_shape_are_credited(classic):
    verdicts = classic.judge("gradient", {"a": "29", "b": "-14", "c": "[7, 7]", "d": "?"})
    assert verdicts["a"].comment == "29 is wrong; only its sign is right."
    assert [verdicts[name].part for name in "abc"] == [1, 0, 0]
    assert verdicts["b"].comment == "-14 is wrong. This is what you get if the sign is wrong."
    assert "shape" in verdicts["c"].comment
    assert verdicts["d"].state == "unreadable"
    arrays = Prediction(exercise(4, 1))
    blank = next(blank for blank in arrays.blanks["gradient"] if blank.right.ndim == 2)
    close = arrays.judge("gradient", {blank.name: json.dumps((blank.right * 1.1).tolist())})[blank.name]
    assert (close.state, close.part) == ("wrong", 2)
    assert "only the shape and the signs are right" in close.comment
    flat = arrays.judge("gradient", {blank.name: json.dumps(blank.right.ravel().tolist())})[blank.name]
    assert (flat.state, flat.part) == ("wrong", 0)


@pytest.mark.parametrize("typed", ["31,0", "+31,5", " −31,0"])
def test_a_decimal_comma_is_told_as_such(classic, typed):
    said = classic.judge("gradient", {"a": typed})["a"].comment
    assert said.endswith("is wrong: with a comma it is two numbers. Write a decimal point.")


def test_points(classic):
    order = [blank.name for blank in classic.blanks["value"]]

    def check(credit, **answers):
        verdicts = classic.judge("value", answers)
        return credited(credit, [verdicts[name] for name in order])

    once = check("----", v1="5", v2="9", v3="x")
    assert once == "12--"  # the second is right given the first; what cannot be read is no try
    assert check(once, v1="6", v2="9", v3="7", out="-70") == "3240"
    assert check("1r-0", v1="5", v2="10", v3="7", out="70") == "1r43"
    assert check("----", v1="5", v2="5", v3="5", out="25") == "1112"  # from 5 and 5 that is a step
    assert points("1r-43") == 8


@pytest.mark.parametrize("number", ["0", "1"])
def test_the_same_number_everywhere_earns_little(number):
    """It follows from itself wherever a graph adds, multiplies or passes on."""
    got = most = 0
    for level in LEVELS:
        for graph in range(1, 26):
            prediction = Prediction(exercise(level, graph))
            wrong = earned = 0
            for what, blanks in prediction.blanks.items():
                for verdict in prediction.judge(what, {blank.name: number for blank in blanks}).values():
                    worth = points(credited("-", [verdict]))
                    got, most = got + worth, most + FULL
                    if verdict.state != "right":  # a number may happen to be 0 or 1
                        wrong, earned = wrong + FULL, earned + worth
            assert earned <= wrong / 4, (level, graph)
    assert got < most / 3


@settings(max_examples=15, deadline=None)
@given(ANY)
def test_the_graph_shows_no_number_before_it_is_known(which):
    prediction = Prediction(exercise(*which))
    values, gradients = ([blank.name for blank in prediction.blanks[what]] for what in ("value", "gradient"))
    dark = prediction.revealed([], [])
    assert dark.events == []
    assert {row["gradient"] for row in table(dark)} <= {"not computed yet", "none (constant)"}
    assert prediction.revealed(values[:1], gradients).events == prediction.trace.events[:1]  # values first
    assert prediction.revealed(values, gradients).events == prediction.trace.events
    for missing in gradients:
        lit = prediction.revealed(values, [name for name in gradients if name != missing])
        node = prediction.mistakes.names.index(missing)
        for event in lit.events:
            if event["kind"] != "forward":
                assert node not in (event["node"], event.get("child"))
        playable(lit)  # a pass with gaps can be drawn
