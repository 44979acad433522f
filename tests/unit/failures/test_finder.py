"""The finder against what people paste and type: how often it is right, and that it is never wrong with confidence."""

import warnings

import pytest

from lab.failures import find
from model import Tensor
from tests.unit.failures.texts import (
    DEVELOPED,
    HELD_OUT,
    OTHERS,
    SECOND,
    THIRD,
    UNRELATED,
    said_by_numpy,
    said_by_torch,
)


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
        found = find(text)
        assert len(found) <= 3
        assert not [match for match in found if match.sure and match.failure.key != key], text
        hits += bool(found) and found[0].failure.key == key
    return hits


@pytest.mark.parametrize(
    ("texts", "share"), [(DEVELOPED, 0.95), (SECOND, 0.95), (THIRD, 0.95), (OTHERS, 0.9), (HELD_OUT, 0.8)],
    ids=["developed", "second", "third", "others", "held out"],
)  # fmt: skip
def test_the_first_answer_is_right_nearly_always(texts, share):
    assert right(texts) >= share * len(texts)


def test_what_torch_and_numpy_say_is_found_as_they_say_it():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    texts = [(said(cause), key) for key, cause in (*said_by_torch(torch), *said_by_numpy(Tensor))]
    assert right(texts) >= 0.95 * len(texts)
    everything = [*texts, *DEVELOPED, *SECOND, *THIRD, *OTHERS, *HELD_OUT]
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


def test_a_nan_is_one_of_two_until_the_line_of_code_tells():
    text = "RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output."
    assert [(match.failure.key, match.sure) for match in find(text)] == [("nan", False), ("where", False)]
    assert find(f"  root = torch.where(x > 0, x.sqrt(), 0)\n{text}")[0].failure.key == "where"


def test_a_text_without_end_is_read_from_its_end():
    assert find("noise " * 100_000 + "RuntimeError: grad can be implicitly created only for scalar outputs")[0].sure
