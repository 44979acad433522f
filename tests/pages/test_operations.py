"""Operations without a browser: one page made of the operation table and the engine; what is added there appears here."""

import subprocess
import sys

import numpy as np

from lab.operation_table import OPS
from lab.ui.table import escape_markdown
from model import Tensor
from tests.pages.conftest import ROOT, components, open_at, press, texts


def opened(**parameters):
    return open_at("operations", **parameters)


def rows(at):
    (found,) = [text.value.partition("\n\n")[2] for text in at.markdown if "\n\n| name" in text.value]
    return [
        [cell.strip().replace("\\", "").replace("\u200b", "") for cell in line.strip("|").split("|")]
        for line in found.split("\n")[2:]
    ]


def test_every_operation_has_a_row_and_passes():
    at = opened()
    assert [row[0] for row in rows(at)] == list(OPS)
    assert all(row[1].startswith("✓") for row in rows(at))
    assert f"{len(OPS)} of {len(OPS)} pass" in texts(at.markdown)
    assert at.selectbox(key="operations-op").options == list(OPS)


def test_an_elementwise_operation_has_its_rule_its_code_and_a_point_on_its_curve():
    at = opened(op="relu", x=2)
    assert "At x = 2: y = **2**, slope in x **1**." in texts(at.markdown)
    assert "\\partial y/\\partial x = [x > 0]" in texts(at.markdown)
    assert escape_markdown(OPS["relu"].at_kinks) in texts(at.caption)
    assert "self.accumulate(_chosen(result > 0.0, upstream))" in texts(at.code)
    assert "The gradients agree" in texts(at.success)
    assert len(components(at, "charts")) == 1
    assert "y = **NaN**, backward() gives x **−0.3333**." in texts(opened(op="log", x=-3).markdown)  # no slope
    at.slider(key="operations-x").set_value(0.0).run()
    assert "At x there is no derivative: the slope is 0 on the left and 1 on the right. This engine" in texts(
        at.markdown
    ).replace("\\", "")


def test_of_two_operands_each_has_its_curve():
    at = opened(op="*", x=3, element="b")
    assert "At a = 2, b = 3: y = **6**, slope in b **2**." in texts(at.markdown)
    at.selectbox(key="operations-element").set_value("a").run()
    assert "At a = 3, b = 2: y = **6**, slope in a **2**." in texts(at.markdown)
    assert escape_markdown(OPS["**"].convention) in texts(opened(op="**").caption)  # a**0 is not bold


def test_the_others_show_shapes_and_numbers():
    at = opened(op="@")
    (table,) = [text.value.replace("\\", "") for text in at.markdown if text.value.startswith("|  | shape")]
    assert "| a | (2, 3) |" in table
    assert "| g | (2, 2) | [[1, 2], [3, 4]] |" in table
    assert "| gradient of b | (3, 2) |" in table
    at = opened(op="mean")
    assert "\\partial y/\\partial x = \\frac{1}{n}" in texts(at.markdown)
    said = texts(at.markdown).replace("\\", "")
    assert "slope in x[0, 0] **0.1667**. By finite differences: 0.1667" in said
    at.selectbox(key="operations-element").set_value("x[1, 1]").run()
    at.slider(key="operations-x").set_value(-2.0).run()
    assert "At x[1, 1] = −2" in texts(at.markdown).replace("\\", "")
    at = opened(op="max", element="x[0, 1]", x=1.2)
    assert len(components(at, "charts")) == 1
    at = opened(op="mean")
    assert "Made of: sum, /" in texts(at.markdown).replace("\\", "")


def test_a_name_from_another_operation_s_list_is_its_first_element():
    """As when a new choice cuts a run off: the list in the browser is still that of the operation before."""
    for op, first in (("mean", "x[0, 0]"), ("*", "a")):
        at = opened(op=op)
        message = at._tree.get_widget_states()
        next(one for one in message.widgets if one.id.endswith("operations-element")).string_value = "weight[0, 0]"
        at._run(message)
        assert not at.exception
        assert at.selectbox(key="operations-element").value == first


def test_operations_are_found_by_their_kind():
    at = opened()
    at.selectbox(key="operations-kind").select("joining").run()
    assert [row[0] for row in rows(at)] == ["concatenate", "stack"]
    assert at.selectbox(key="operations-op").value == "concatenate"
    at = opened(op="sin", kind="joining")  # a link keeps its operation
    assert at.selectbox(key="operations-op").value == "sin"
    assert opened(op="nobody").selectbox(key="operations-op").value == "tanh"


def test_other_numbers_are_checked_on_demand():
    at = opened(op="sqrt")
    before = texts(at.success)
    press(at, "operations again")
    assert texts(at.success) != before
    assert at.query_params["operations-draw"] == "1"


def test_a_broken_rule_of_the_engine_fails_its_check(monkeypatch):
    def tanh(self):
        result = np.tanh(self.read())
        return self.node(result, (self,), "tanh", lambda upstream: self.accumulate(upstream * (1.0 - result)))

    monkeypatch.setattr(Tensor, "tanh", tanh)
    at = opened(op="tanh", x=1)
    assert "The gradients disagree" in texts(at.error)
    assert "upstream * (1.0 - result)" in texts(at.code)
    assert [row[0] for row in rows(at) if row[1].startswith("✗")] == ["tanh"]
    assert f"slope in x **{1 - np.tanh(1):.4g}**" in texts(at.markdown)


METHOD = """
    def cube(self) -> Tensor:
        value = self.read()

        def _backward(upstream: Array) -> None:
            self.accumulate(upstream * 3.0 * value * value)  # d(value^3)/d value = 3 value^2

        return self.node(value**3, (self,), "cube", _backward)

    def tanh(self)"""
ROW = """
    Op("cube", "elementwise", derivatives=(Derivative("3·{a}²", "3 {a}^2", "3 * a * a"),), not_finite=OVERFLOW),
    _function("sin","""
LOOK = """
from streamlit.testing.v1 import AppTest
from lab.trace.operation_example import example
from lab.expression.parser import parse
from lab.operation_table import OPS
from lab.trace.derivation import derive
from lab.trace.recording import record
from model import Tensor

at = AppTest.from_file("{page}", default_timeout=120)
at.query_params["operations-op"] = "cube"
at.run()
assert not at.exception, at.exception
said = "\\n".join(text.value.replace("\\\\", "") for text in at.markdown)
assert "| elementwise | 3·x² |" in said, said
assert "At x = 1: y = **1**, slope in x **3**." in said
assert "The gradients agree" in at.success[0].value
assert "3.0 * value * value" in at.code[0].value
assert parse("cube(a)*2")(a=Tensor(3.0)).item() == 54
(term,) = derive(record(parse("cube(a)*2"), {{"a": 3.0}}))[0]["terms"]
assert (term["text"], term["agrees"]) == ("3·a²", True)
assert example(OPS["cube"]).check()
"""


def test_an_operation_that_gets_a_rule_and_a_row_is_everywhere(tmp_path):
    """In a copy of the project, where model.py has one method more and lab/operation_table.py one row."""
    for name in ("assets", "static", "pages", "practice"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "lab").mkdir()
    for path in (ROOT / "lab").iterdir():
        if path.name not in ("operation_table.py", "__pycache__"):
            (tmp_path / "lab" / path.name).symlink_to(path)
    (tmp_path / "nn.py").symlink_to(ROOT / "nn.py")
    for name, before, after in (
        ("model.py", "\n    def tanh(self)", METHOD),
        ("lab/operation_table.py", '\n    _function("sin",', ROW),
    ):
        text = (ROOT / name).read_text("utf-8")
        assert text.count(before) == 1
        (tmp_path / name).write_text(text.replace(before, after), "utf-8")
    page = tmp_path / "pages" / "operations.py"
    command = [sys.executable, "-c", LOOK.format(page=page)]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stdout + result.stderr
