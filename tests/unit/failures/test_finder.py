"""The finder against what people paste and type: how often it is right, and that it is never wrong with confidence."""

import functools
import warnings
from pathlib import Path

import pytest

from lab.failures import find
from lab.failures.finder import by_description, everything_said, hear
from lab.failures.kind import kind_of
from lab.failures.said import SAID
from model import Tensor
from tests.unit.failures.asked import SEALED, SEALED_NEARBY
from tests.unit.failures.texts import HELD_OUT, OTHERS, UNRELATED, said_by_numpy, said_by_torch

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("**/*.py"))
looked_up = functools.cache(find)
LEARNED = [(text, key) for key, texts in SAID.items() for text in texts]
PARTS = 10


def said(cause):
    """What a program raises, or else warns of."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            cause()
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return f"{warned[0].category.__name__}: {warned[0].message}"


def right(texts):
    """How many are answered rightly by the first answer; that no wrong answer is sure."""
    hits = 0
    for text, key in texts:
        found = looked_up(text)
        assert len(found) <= 3
        assert not [match for match in found if match.sure and match.failure.key != key], text
        hits += bool(found) and found[0].failure.key == key
    return hits


@pytest.mark.parametrize(
    ("texts", "share"), [(LEARNED, 0.99), (OTHERS, 0.9), (HELD_OUT, 0.9), (SEALED, 0.86)],
    ids=["learned", "others", "held out", "sealed"],
)  # fmt: skip
def test_the_first_answer_is_right_nearly_always(texts, share):
    assert right(texts) >= share * len(texts)


def test_what_is_meant_is_among_the_three_candidates():
    assert sum(key in [match.failure.key for match in looked_up(text)] for text, key in SEALED) >= 0.95 * len(SEALED)


def test_it_finds_what_it_has_not_learned():
    """Each tenth of what people say, by what the other nine say. Most of these sentences are like no other."""
    rest = [pair for pair in everything_said() if pair[::-1] not in set(LEARNED)]
    first = among = 0
    for part in range(PARTS):
        heard = hear([*((key, text) for i, (text, key) in enumerate(LEARNED) if i % PARTS != part), *rest])
        for text, key in LEARNED[part::PARTS]:
            found = by_description(text, heard)
            first += bool(found) and found[0].key == key
            among += key in [match.key for match in found]
            assert not any(match.sure and match.key != key for match in found), text
    assert first >= 0.84 * len(LEARNED)
    assert among >= 0.91 * len(LEARNED)


def test_what_torch_and_numpy_say_is_found_as_they_say_it():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    texts = [(said(cause), key) for key, cause in (*said_by_torch(torch), *said_by_numpy(Tensor))]
    assert right(texts) >= 0.95 * len(texts)
    everything = [*texts, *LEARNED, *OTHERS, *HELD_OUT, *SEALED]
    assert right(everything) >= 0.95 * len(everything)


def test_the_three_messages_that_were_answered_wrongly():
    for text, number in (
        ("UserWarning: The .grad attribute of a Tensor that is not a leaf Tensor is being accessed.", 5),
        ("RuntimeError: Only Tensors of floating point and complex dtype can require gradients", 22),
        ("ValueError: can't optimize a non-leaf Tensor", 19),
    ):
        (found,) = find(text)
        assert (found.failure.number, found.sure) == (number, True)


@pytest.mark.parametrize("text", UNRELATED, ids=[text[:20] or "nothing" for text in UNRELATED])
def test_an_unrelated_text_gets_no_answer(text):
    assert find(text) == []


def test_a_text_about_something_near_by_hardly_ever_gets_an_answer_and_never_a_sure_one():
    answers = [find(text) for text in SEALED_NEARBY]
    assert sum(not found for found in answers) >= 0.8 * len(answers)
    assert not any(found[0].sure for found in answers if found)


@pytest.mark.parametrize(
    "text", ["My loss is not decreasing", "network not learning", "loss stays at 2.3", "损失不下降了"]
)
def test_what_several_failures_share_lists_those_to_look_at_first(text):
    assert [(found.failure.number, found.sure) for found in find(text)] == [(18, False), (19, False), (17, False)]


def test_it_says_by_which_words_of_the_text():
    (found,) = find("the loss explodes with a high learning rate")
    assert (found.failure.key, found.sure) == ("rate", True)
    assert set(found.by) <= {"loss", "explodes", "high", "learning rate", "rate"}
    assert "explodes" in found.by
    assert find("RuntimeError: grad can be implicitly created only for scalar outputs")[0].by == ()


def test_a_nan_is_one_of_two_until_the_line_of_code_tells():
    text = "RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output."
    assert [(match.failure.key, match.sure) for match in find(text)] == [("nan", False), ("where", False)]
    assert find(f"  root = torch.where(x > 0, x.sqrt(), 0)\n{text}")[0].failure.key == "where"


def test_a_text_without_end_is_read_from_its_end():
    assert find("noise " * 100_000 + "RuntimeError: grad can be implicitly created only for scalar outputs")[0].sure


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("epoch,train_loss\n0,2.31\n1,2.29\n2,nan", "curve"),
        ("0.9\n0.8\n0.7\n0.6", "curve"),
        ('{"epoch": 1, "loss": 2}\n{"epoch": 2, "loss": 1.5}\n{"epoch": 3, "loss": 1}', "curve"),
        ("for x in data:\n    loss = f(x)\n    loss.backward()\n    opt.st", "code"),
        (">>> x = torch.ones(3)\n>>> y = x * 2\n>>> y.backward()", "code"),
        ("In [1]: x = 1\nIn [2]: y = x\nIn [3]: print(y)", "code"),
        ('{"cells": [], "metadata": {}}', "code"),
        ("w -= lr * w.grad", "message"),
        ("my loss is nan\nafter two epochs\nand I do not know why", "message"),
        ('Traceback (most recent call last):\n  File "a.py", line 3\n    loss.backward()\nRuntimeError: no', "message"),
    ],
)
def test_it_is_told_what_has_been_pasted(text, kind):
    assert kind_of(text) == kind


def test_what_people_say_is_no_code_and_a_program_is():
    assert {kind_of(text) for text, _ in (*LEARNED, *OTHERS)} | {kind_of(text) for text in UNRELATED} == {"message"}
    programs = [path.read_text("utf-8") for path in PROGRAMS]
    assert len(programs) > 200
    assert sum(kind_of(program) == "code" for program in programs) >= 0.98 * len(programs)
