"""detach() and no_grad(): the forward numbers stay, the graph is cut, gradients are missing."""

import pytest

from lab.traps.cut_graphs import CUTS, numerical, run_cut
from model import Tensor, no_grad

A, B = 2.0, 3.0


def test_nothing_cut_agrees_with_the_differences():
    cut = run_cut("uncut", A, B)
    assert cut.gradients == pytest.approx(numerical(A, B))
    assert not cut.missing
    assert not cut.error


@pytest.mark.parametrize("name", CUTS)
def test_no_cut_changes_the_value(name):
    assert run_cut(name, A, B).loss == run_cut("uncut", A, B).loss == A * B * A


@pytest.mark.parametrize("name", ["detach", "no_grad"])
def test_a_cut_leaves_a_part_to_a_and_nothing_to_b(name):
    cut = run_cut(name, A, B)
    assert cut.gradients == {"a": A * B, "b": None}  # the path through h is gone
    assert cut.missing


def test_nothing_recorded_is_an_error_in_words():
    cut = run_cut("all", A, B)
    assert cut.gradients == {"a": None, "b": None}
    assert "nothing to differentiate" in cut.error


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("uncut", {("a", "h"), ("b", "h"), ("h", "L"), ("a", "L")}),
        ("detach", {("a", "h"), ("b", "h"), ("h.detach()", "L"), ("a", "L")}),
        ("no_grad", {("h", "L"), ("a", "L")}),
    ],
)
def test_the_graph_shows_what_the_engine_kept(name, kept):
    cut = run_cut(name, A, B)
    labels = [node["label"] for node in cut.graph.nodes]
    edges = {(labels[child], node["label"]) for node in cut.graph.nodes for child in node["children"]}
    assert edges == kept
    assert edges.isdisjoint({(start, end) for start, end, _ in cut.missing})


def test_where_nothing_is_recorded_there_is_no_graph():
    cut = run_cut("all", A, B)
    assert cut.graph is None
    assert [(start, end) for start, end, _ in cut.missing] == [("a", "h"), ("b", "h"), ("h", "L"), ("a", "L")]


@pytest.mark.parametrize("name", CUTS)
def test_the_code_that_is_shown_is_the_code_that_ran(name):
    names = {"a": Tensor(A), "b": Tensor(B), "no_grad": no_grad}
    cut = run_cut(name, A, B)
    exec(cut.code, names)
    assert names["L"].item() == cut.loss
    assert names["h"].requires_grad == (name in ("uncut", "detach"))
