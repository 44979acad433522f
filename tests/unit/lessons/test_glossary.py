"""The glossary, and the pages that explain its words."""

import ast
import re
from pathlib import Path

import pytest

from lab.lessons.glossary import TERMS
from lab.ui.terms import MARK, marked

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted(ROOT.glob("pages/**/*.py"))
WITH_TERMS = ("graph_lab", "simulate_error", "spot_the_fault", "training_lab")


def texts(path):
    """The texts of a page in which a term is marked."""
    tree = ast.parse(path.read_text("utf-8"))
    strings = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [text for text in strings if MARK.search(text)]


@pytest.mark.parametrize("term", TERMS)
def test_a_definition_is_one_sentence(term):
    assert re.fullmatch(r"[A-Z][^.!?]*\.", TERMS[term].meaning)
    assert len(TERMS[term].meaning) <= 140


def test_no_term_is_there_twice():
    assert len({word.lower() for word in TERMS}) == len(TERMS)  # the same word twice would be no TOML


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_text_explains_each_of_its_terms_once_and_where_it_first_stands(path):
    assert texts(path) or path.stem not in WITH_TERMS
    for text in texts(path):
        marks = list(MARK.finditer(text))
        terms = [mark[2] or mark[1] for mark in marks]
        assert set(terms) <= set(TERMS)
        assert len(terms) == len(set(terms))
        for mark, term in zip(marks, terms, strict=True):
            before = MARK.sub("", text[: mark.start()])
            assert not re.search(rf"\b{term}\b", before), f"{term} stands before it is explained"


def test_everything_in_a_paragraph_is_escaped():
    html = marked("<img onerror=x> [[<i>|leaf]] `a<b` **c** & *d*")
    assert "<img" not in html
    assert "<i>" not in html
    assert "<code>a&lt;b</code> <b>c</b> &amp; <em>d</em>" in html
    assert 'aria-describedby="term-leaf">&lt;i&gt;</button>' in html
    with pytest.raises(KeyError):
        marked("[[no such term]]")


def test_each_term_is_explained_on_a_page():
    marked_terms = {mark[2] or mark[1] for path in PAGES for text in texts(path) for mark in MARK.finditer(text)}
    assert set(TERMS) == marked_terms
