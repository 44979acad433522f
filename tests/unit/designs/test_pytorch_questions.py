"""The questions to this engine and to others, and the rules that are broken to be found."""

import importlib.metadata
import importlib.util

import pytest

from lab.designs.pytorch_questions import QUESTIONS, EngineAnswer, answer, differing, pytorch_answers, recorded_answers

DUE = {
    "graph": "6", "grad": "12", "twice": "✗ error", "write": "6", "result": "6", "dtype": "float64",
    "second": "✗ error",
}  # read by rows  # fmt: skip
DUE_IN_PYTORCH = DUE | {"write": "8", "result": "✗ error", "dtype": "float32", "second": "12"}


def test_this_engine_answers_each_question():
    answers = {key: answer(question) for key, question in QUESTIONS.items()}
    assert {key: one.outcome for key, one in answers.items()} == DUE
    assert answers["twice"].text.startswith("RuntimeError: backward() has already gone through the result of `*`")
    assert "\n" not in answers["twice"].text


@pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="PyTorch is an optional extra")
def test_pytorch_answers_in_a_process_of_its_own():
    version, answers = pytorch_answers()
    assert version
    assert {key: answers[key].outcome for key in QUESTIONS} == DUE_IN_PYTORCH
    assert answers["twice"].text.startswith("RuntimeError: Trying to backward through the graph a second time")


def test_the_recorded_answers_are_those_of_pytorch():
    version, answers = recorded_answers()
    assert {key: one.outcome for key, one in answers.items()} == DUE_IN_PYTORCH
    if importlib.util.find_spec("torch") and importlib.metadata.version("torch").split("+")[0] == version:
        assert answers == pytorch_answers()[1]


def test_two_errors_are_one_outcome_and_a_number_instead_of_an_error_is_another():
    here = {key: EngineAnswer("6") for key in QUESTIONS}
    here |= {key: EngineAnswer(f"RuntimeError: {key}", failed=True) for key in ("twice", "write")}
    there = here | {"twice": EngineAnswer("RuntimeError: in other words", failed=True), "write": EngineAnswer("8")}
    assert differing(here, there) == ["write"]
