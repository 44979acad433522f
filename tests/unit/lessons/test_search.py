"""One search for the whole lab: what is asked in one's own words, and what is pasted."""

import pytest

from lab.failures.catalogue import BY_KEY
from lab.failures.messages import MESSAGES
from lab.lessons.pages import PAGES
from lab.lessons.search import search
from lab.ops import OPS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_a_page_is_found_by_its_title(page):
    assert search(page.title)[0].path == page.path


@pytest.mark.parametrize("key", MESSAGES)
def test_a_pasted_message_is_found_as_where_it_is_explained(key):
    first, *others = search(f"RuntimeError: {MESSAGES[key].phrases[0]}")
    query = {"failure": key} if key in BY_KEY else {"part": "messages", "message": key}
    assert (first.path, first.query) == ("wrong" if key in BY_KEY else "simulate-error", query)
    assert first.sure
    assert not others


@pytest.mark.parametrize(
    ("asked", "kind", "title"),
    [
        ("overfitting", "page", "Training lab"),
        ("in-place", "page", "Simulate Error"),
        ("dual numbers", "page", "Engine designs"),
        ("tanh", "operation", "tanh"),
        ("vjp", "term", "vector-Jacobian product"),
        ("upstream", "term", "upstream gradient"),
        ("learning rate", "page", "Training lab"),
        ("vanishing gradient", "page", "Training lab"),
        ("vanishing gradients", "page", "Descent"),
        ("learning rates", "page", "Training lab"),
        ("learning rate too high", "page", "Training lab"),
        ("the gradients vanish", "page", "Training lab"),
        ("loss is not a number", "page", "Training lab"),
        ("nan loss", "page", "Training lab"),
        ("units die", "page", "Training lab"),
        ("shape mismatch", "message", "Shapes that cannot be multiplied"),
        ("print both shapes", "message", "Sizes that do not match"),
        ("detached", "failure", "detach forgotten, or too much"),
        ("loop carried hidden state", "failure", "detach forgotten, or too much"),
        ("scalar loss", "failure", "Only for scalar outputs"),
        ("freed", "failure", "Backward a second time"),
        ("class labels", "failure", "Whole numbers that require gradients"),
        ("my gradients are None", "failure", "The .grad of a result"),
        ("my gradients are None", "failure", "Does not require grad"),
    ],
)
def test_words_lead_to_what_they_are_about(asked, kind, title):
    assert (kind, title) in [(answer.kind, answer.title) for answer in search(asked)[:3]]


@pytest.mark.parametrize("op", [name for name in OPS if name.isidentifier()])
def test_an_operation_is_found_by_its_name(op):
    assert any(answer.title == op for answer in search(op))


@pytest.mark.parametrize("asked", ["", "   ", "zzz qqq", "the", "🙂", "x" * 100_000, "lasagne recipe"])
def test_what_fits_nothing_finds_nothing(asked):
    assert not search(asked)


def test_an_operation_with_a_sign_for_a_name_is_found_by_its_words():
    for word, sign in (("matmul", "@"), ("divide", "/"), ("power", "**")):
        assert sign in [answer.title for answer in search(word) if answer.kind == "operation"], word
