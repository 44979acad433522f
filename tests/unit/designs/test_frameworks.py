"""The questions to this engine and to others, and the rules that are broken to be found."""

import importlib.util

import pytest

from lab.designs.frameworks import QUESTIONS, answer, pytorch_answers

DUE = {
    "graph": "while it runs: *, 6",
    "grad": "x.grad adds up: 12",
    "twice": "RuntimeError",
    "write": "MutationError",
    "result": "6",
    "whole": "RuntimeError",
    "dtype": "float64",
    "kink": "0",
    "ties": "[0.5, 0.5]",
    "second": "AttributeError",
    "where": "nan",
}


def test_this_engine_answers_each_question():
    assert {key: answer(question)[: len(DUE[key])] for key, question in QUESTIONS.items()} == DUE


@pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="PyTorch is an optional extra")
def test_pytorch_answers_in_a_process_of_its_own():
    answers = pytorch_answers()
    assert answers["version"]
    due = DUE | {"graph": "while it runs: MulBackward0, 6", "write": "8, without a word",
                 "result": "RuntimeError", "dtype": "torch.float32",
                 "second": "12"}  # fmt: skip
    assert {key: answers[key][: len(due[key])] for key in QUESTIONS} == due
