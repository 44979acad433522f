"""One search for the whole lab: what is asked in one's own words, and what is pasted."""

import pytest
from lessons.search_words import TYPED

from lab.failures.catalogue import BY_KEY
from lab.lessons.concepts import CONCEPTS
from lab.lessons.glossary import TERMS
from lab.lessons.pages import PAGES
from lab.lessons.search import search
from lab.operation_table import OPS


def first(text):
    return next(((answer.kind, answer.title) for answer in search(text)), None)


def test_what_people_type_is_answered_in_the_first_place():
    wrong = {text: first(text) for text, right in TYPED.items() if first(text) not in right}
    assert not wrong


@pytest.mark.sample(20)
@pytest.mark.parametrize("concept", CONCEPTS, ids=lambda concept: concept.question)
def test_a_concept_is_found_by_each_of_its_names(concept):
    for text in (concept.question, *concept.also):
        assert concept.question in [answer.title for answer in search(text)[:2]], text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_a_page_is_found_by_its_title(page):
    assert search(page.title)[0].path == page.path
    assert any((answer.kind, answer.title) == ("page", page.title) for answer in search(page.title))


@pytest.mark.parametrize(
    ("page", "name"),
    [(page, name) for page in PAGES for name in page.tabs],
    ids=lambda part: getattr(part, "path", part),
)
def test_a_tab_is_found_by_its_title(page, name):
    assert any((a.path, dict(a.query)) == (page.path, {page.tab: name}) for a in search(page.tabs[name]))


@pytest.mark.parametrize("term", TERMS)
def test_a_term_is_found_and_leads_somewhere(term):
    assert any((answer.kind, answer.title) == ("term", term) for answer in search(term))
    assert TERMS[term].path in {page.path for page in PAGES}


@pytest.mark.parametrize(
    "key", ["inplace", "twice", "scalar", "leaf", "nograph", "numpy", "nonleafgrad", "integers", "optimizer"]
)
def test_a_pasted_message_leads_to_where_it_is_explained(key):
    answers = search(f"RuntimeError: {BY_KEY[key].phrases[0]}")
    assert {"failure": key} in [answer.query for answer in answers]
    assert not any(answer.sure for answer in answers) or len(answers) == 1


@pytest.mark.parametrize(
    "text", ["my network does not learn", "loss = nan", "my gradients are None", "why is grad None", "why nan"]
)
def test_failures_come_first_for_a_symptom(text):
    assert search(text)[0].kind == "failure"


@pytest.mark.parametrize(
    "text",
    [
        "what is a gradient", "why does a loss fall", "how does softmax work", "slope", "order",
        "how do I check my gradients",
    ],
)  # read by rows  # fmt: skip
def test_failures_do_not_come_first_for_a_question(text):
    assert search(text)[0].kind not in ("failure", "message")


@pytest.mark.parametrize("op", [name for name in OPS if name.isidentifier()])
def test_an_operation_is_found_by_its_name_and_as_a_derivative(op):
    assert any(answer.title == op for answer in search(op))
    assert any(answer.title == op for answer in search(f"derivative of {op}"))


@pytest.mark.parametrize("asked", ["", "   ", "zzz qqq", "the", "🙂", "x" * 100_000, "lasagne recipe"])
def test_what_fits_nothing_finds_nothing(asked):
    assert not search(asked)


def test_an_operation_with_a_sign_for_a_name_is_found_by_its_words():
    for word, sign in (("matmul", "@"), ("divide", "/"), ("power", "**")):
        assert sign in [answer.title for answer in search(word) if answer.kind == "operation"], word


def test_a_name_that_is_a_sign_is_no_answer_to_the_words_around_it():
    assert "operation" not in [answer.kind for answer in search("my gradient is None")]


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("vector jacobian product", ("term", "vector-Jacobian product")),  # not jacobian-vector, of the same words
        ("jacobian vector product", ("term", "forward mode")),
        ("upstream-gradient", ("term", "upstream gradient")),
        ("save for backward", ("question", "What are Function, apply and save_for_backward?")),
    ],
)
def test_a_name_is_found_first_with_and_without_its_hyphens_and_underscores(typed, right):
    assert first(typed) == right


@pytest.mark.parametrize(
    ("typed", "wrong"),
    [("gradcheck tolerance", "gradient"), ("mnist handwritten", "How do I hand in my work?"), ("recognition", "where")],
)
def test_a_word_that_merely_begins_or_ends_alike_is_not_taken_for_another(typed, wrong):
    assert wrong not in [answer.title for answer in search(typed)]


def test_the_words_of_a_question_may_stand_in_several_names_of_its_answer():
    assert first("cost of backprop") == ("question", "What does a gradient cost?")


def test_an_operation_of_my_own_is_no_complaint():
    assert not any(answer.kind == "failure" for answer in search("add my own operator")[:1])
