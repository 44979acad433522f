"""Broadcasting without a browser: shapes, broken engines, the loss that broadcasts, products, reductions."""

import json

import pytest

from model import Tensor
from tests.pages.conftest import components, open_at, texts


def opened(**parameters):
    at = open_at("shapes", **parameters)
    if "tab" in parameters:  # the first one is looked at with all pages
        assert 10 < len(at.markdown[0].value.split()) <= 80
    return at


def drawn(at):
    """The grids on the page, by their keys."""
    (component,) = components(at, "grids")
    rows = json.loads(component.proto.bytes)["rows"]
    return {part["key"]: part for row in rows for part in row if "key" in part}


def test_a_bias_sums_what_its_copies_receive():
    at = opened()
    assert drawn(at)["gradient of b"]["cells"] == ["12", "15", "18"]
    assert drawn(at)["gradient of b"]["says"][0].endswith("1 + 4 + 7 = 12")
    at.segmented_control(key="shapes-op").set_value("*").run()
    assert drawn(at)["gradient of b"]["says"][0].endswith("1 × 1 + 4 × 4 + 7 × 7 = 66")
    at.selectbox(key="shapes-example").select("column and row").run()
    assert drawn(at)["result"]["shape"] == [3, 4]
    assert (at.text_input(key="shapes-a").value, at.text_input(key="shapes-b").value) == ("3, 1", "1, 4")


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"a": "3, 2", "b": "3"}, "cannot combine"),
        ({"a": "3, 2, 4", "b": "3, 4"}, "cannot combine"),
    ],
)
def test_shapes_that_do_not_fit_get_the_rule_and_the_axis(parameters, said):
    at = opened(**parameters)
    assert said in at.error[0].value
    table = next(text.value for text in at.markdown if "✗ does not fit" in text.value)
    assert table.count("✗") == 1
    assert "one of them must be 1 or missing" in texts(at.markdown)
    at.text_input(key="shapes-b").set_value("1").run()
    assert not at.error
    assert drawn(at)


def test_what_is_no_shape_gets_a_sentence_and_stays():
    at = opened()
    at.text_input(key="shapes-a").set_value("3, seven").run()
    assert "lengths of the axes" in at.error[0].value
    assert at.text_input(key="shapes-a").value == "3, seven"
    assert "between 1 and" in opened(a="9").error[0].value


def test_the_sum_forgotten_is_guessed_and_then_run():
    at = opened(tab="forgotten")
    assert [*drawn(at)] == ["upstream"]  # what arrives, and nothing of what becomes of it
    at.segmented_control(key="shapes-guess").set_value("wrong").run()
    assert "✗ Not as you guessed. **No error until the batch changes.**" in texts(at.markdown)
    assert "`+` cannot combine the result of `@`" in texts(at.markdown)  # as code, without its backticks
    assert "Until then, 5 steps ended with a wrong b.grad." in texts(at.markdown)
    assert drawn(at)["broken"]["shape"] == [3, 3]
    at.segmented_control(key="shapes-update").set_value("b.data -= lr * b.grad").run()
    assert [*drawn(at)] == ["upstream"]  # another question
    at.segmented_control(key="shapes-guess").set_value("error").run()
    assert "✓ As you guessed. **An error at the first step.**" in texts(at.markdown)
    at = opened(tab="forgotten", engine="sums the wrong axis", rows=3, guess="an error at the first step")
    assert drawn(at)["broken"]["shape"] == drawn(at)["right"]["shape"] == [3]  # by accident
    assert drawn(at)["broken"]["cells"] != drawn(at)["right"]["cells"]


def test_a_product_of_matrices_cell_by_cell():
    at = opened(tab="matmul", n=1, k=2, m=3)
    before, _ = at.markdown[0].value.split("row i of G")
    assert "G is the upstream gradient" in before
    assert drawn(at)["C"]["shape"] == [1, 3]
    assert drawn(at)["gradient of A"]["says"][1].endswith("1 × 40 + 2 × 50 + 3 × 60 = 320")


def test_reductions_and_indexing():
    at = opened(tab="reduce", reduce="max", axis="0")
    assert "(equal ones share it)" in at.markdown[0].value
    assert drawn(at)["gradient of x"]["cells"][0] == "0.3333"
    at.segmented_control(key="shapes-reduce").set_value("index").run()
    assert drawn(at)["gradient of x"]["cells"][:8] == ["6", "8", "10", "12", "0", "0", "0", "0"]
    at.segmented_control(key="shapes-index").set_value("x[1, 2]").run()
    assert drawn(at)["gradient of x"]["cells"].count("0") == 11
    at.segmented_control(key="shapes-reduce").set_value("mean").run()
    at.segmented_control(key="shapes-reduce").set_value("index").run()
    assert at.segmented_control(key="shapes-index").value == "x[1, 2]"  # kept while it was not on the page


def test_a_broken_rule_of_the_engine_is_seen_on_each_tab(monkeypatch):
    tabs = (
        {"op": "a × b"},
        {"tab": "forgotten", "guess": "the right numbers"},
        {"tab": "loss", "end": "all at the mean of the targets"},
        {"tab": "matmul"},
        {"tab": "reduce"},
    )
    before = [drawn(opened(**tab)) for tab in tabs]
    accumulate = Tensor.accumulate
    monkeypatch.setattr(Tensor, "accumulate", lambda self, message: accumulate(self, message * 1.1))
    for tab, right in zip(tabs, before, strict=True):
        now = drawn(opened(**tab))
        name = next(key for key in right if key.startswith("gradient of") or key == "right")
        assert now[name]["cells"] != right[name]["cells"]
