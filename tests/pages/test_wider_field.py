"""The wider field without a browser: beside PyTorch, memory, what comes after, history."""

import importlib.util

import numpy as np
import pytest

from lab.designs.pytorch_questions import QUESTIONS, recorded_answers
from lab.gradcheck import numerical_gradient
from lab.ui.widgets import FIRST
from model import Tensor
from pages.parts.wider_field import READING
from tests.pages.conftest import app, run, sent, table, texts

TORCH = importlib.util.find_spec("torch")


def opened(**parameters):
    labels = {"question": lambda key: QUESTIONS[key].title, "layer": lambda key: key.replace("_", " ").capitalize()}
    shown = {name: labels.get(name, str)(value) for name, value in parameters.items()}
    at = run(app("pages/other_engines.py"), **{"tab": "beside"} | shown)
    what_to_do = at.markdown[0].value
    assert 10 < len(what_to_do.split()) <= 80
    return at


def ask_pytorch(at):
    at.toggle(key="engines-asked").set_value(True).run()
    assert not at.exception


def drawn(at):
    """The rows of the table of answers: name, this engine, whether the same, PyTorch."""
    return table(at, "this engine |  | PyTorch")


def test_the_questions_are_answered_by_this_engine():
    at = opened(question="write")
    rows = drawn(at)
    assert len(rows) == len(QUESTIONS)
    assert rows[0][1] == "6"
    assert all(row[3] == "?" for row in rows)
    assert "x.data += 1" in at.code[0].value
    assert "This engine: **6**" in texts(at.markdown)
    assert r"\`" not in texts(at.markdown)  # a sign of Markdown in a table of plain texts
    assert "already gone through the result of `*`" in texts(opened(question="twice").markdown)  # as code


@pytest.mark.skipif(not TORCH, reason="PyTorch is an optional extra")
@pytest.mark.exhaustive
def test_pytorch_answers_and_the_guess_gets_a_verdict_after_a_reload_too():
    at = opened(question="write")
    at.number_input(key="engines-differ").set_value(3).run()
    assert "As you guessed" not in texts(at.markdown)
    ask_pytorch(at)
    rows = drawn(at)
    assert f"✗ Not as you guessed. **4 of {len(QUESTIONS)} outcomes** differ: x\\.data" in texts(at.markdown)
    assert "PyTorch: **8**" in texts(at.markdown)
    again = opened(question="write", asked="true", differ=4)
    assert drawn(again) == rows
    assert f"✓ As you guessed. **4 of {len(QUESTIONS)} outcomes** differ" in texts(again.markdown)


@pytest.mark.skipif(not TORCH, reason="PyTorch is an optional extra")
@pytest.mark.exhaustive
def test_where_pytorch_gave_no_answer_it_can_be_asked_again(monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr("lab.expression.run_pytorch.TIMEOUT", 0.001)
        at = opened(asked="true")
    assert "did not answer within" in at.error[0].value
    at.run()
    assert not at.error
    assert f"{len(QUESTIONS)} outcomes" in texts(at.markdown)


def test_without_pytorch_its_answers_are_the_recorded_ones(monkeypatch):
    monkeypatch.setattr("pages.parts.wider_field.installed", lambda: False)
    at = opened(question="write")
    assert all(row[3] == "?" for row in drawn(at))  # the guess comes first
    ask_pytorch(at)
    version, _ = recorded_answers()
    assert f"recorded with PyTorch {version}" in at.caption[0].value
    assert "`pip install torch`" in at.caption[0].value
    assert "?" not in [row[3] for row in drawn(at)]
    assert "PyTorch: **8**" in texts(at.markdown)
    assert f"**4 of {len(QUESTIONS)} outcomes** differ" in texts(at.markdown)


def test_what_jax_printed_is_what_this_engine_finds():
    jax = READING["jax"]
    x = Tensor(2.0)
    (x**2 * x.sin()).backward()
    second = numerical_gradient(lambda v: 2 * v * np.sin(v) + v**2 * np.cos(v), 2.0)
    np.testing.assert_allclose([*map(float, jax["printed"].split())], [x.grad, second], rtol=1e-6)
    assert jax["printed"] in texts(opened().markdown)


def test_each_layer_that_comes_after_is_played_and_leads_to_the_graph_lab():
    at = opened(tab="next")
    for layer in at.segmented_control(key="engines-layer").options:
        at.segmented_control(key="engines-layer").set_value(layer.lower().replace(" ", "_")).run()
        assert not at.exception
        said = [text.value for text in at.markdown]
        before = said[: said.index(f"{layer} in the Graph lab")]  # the link, where the page stands alone
        assert sum(len(text.split()) for text in before) <= 80
        assert any(text.endswith("?") for text in before)
        assert sent(at)["event"] == 0  # its question comes first
    table = next(node for node in sent(opened(tab="next", layer="embedding"))["trace"]["nodes"] if node["label"] == "E")
    assert table["shape"] == [3, 2]


def test_the_year_is_guessed_first():
    at = opened(tab="next")
    assert FIRST in texts(at.markdown)
    at.segmented_control(key="engines-year").set_value("1986").run()
    assert "✗ Not as you guessed. **1970**" in texts(at.markdown)
    years = {what.partition(":")[0]: int(year) for year, what, _ in table(at, "what")}
    assert list(years.values()) == sorted(years.values())
    released = {"Theano": 2007, "TensorFlow": 2015, "PyTorch": 2016, "JAX": 2018, "PyTorch 2": 2023}
    assert {name: years[name] for name in released} == released
    years = [int(row[0]) for row in table(at, "where it was published")]
    assert years == sorted(years)
    assert years[0] == 1676


def test_a_broken_rule_of_the_engine_is_seen_on_each_tab(monkeypatch):

    def shown(tab):
        at = opened(tab=tab)
        return sent(at)["trace"]["events"] if tab == "next" else texts(at.markdown)

    right = {tab: shown(tab) for tab in ("beside", "next")}
    accumulate = Tensor.accumulate
    monkeypatch.setattr(Tensor, "accumulate", lambda self, message: accumulate(self, message * 1.5))
    for tab, said in right.items():
        assert shown(tab) != said
    monkeypatch.setattr(Tensor, "accumulate", accumulate)
