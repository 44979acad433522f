"""What two engines answer, as a picture: an outcome that differs is never marked by its colour alone."""

from lab.charts import answers
from lab.designs.frameworks import QUESTIONS, EngineAnswer, differing
from pages.parts.wider_field import rows

HERE = {key: EngineAnswer("6") for key in QUESTIONS} | {
    "twice": EngineAnswer("RuntimeError: one", failed=True),
    "write": EngineAnswer("MutationError", failed=True),
}
THERE = HERE | {"twice": EngineAnswer("RuntimeError: in other words", failed=True), "write": EngineAnswer("8")}


def shown(chart):
    """Of each row what its three cells say."""
    texts = {tuple(cell["value"][:2]): cell["label"] for cell in chart.spec["series"][0]["data"]}
    return {key: [texts[column, row] for column in range(3)] for row, key in enumerate(QUESTIONS)}


def test_before_pytorch_is_asked_nothing_is_compared():
    chart = answers(rows(HERE, {}), "")
    assert [cell["formatter"] for cell in shown(chart)["write"]] == ["✗ error", "", "?"]
    assert chart.alt == "PyTorch has not been asked yet."
    assert {row[2] for row in chart.rows} == {"?"}


def test_two_errors_are_one_outcome_and_a_number_instead_of_an_error_is_marked_by_a_sign():
    assert differing(HERE, THERE) == ["write"]
    chart = answers(rows(HERE, THERE), "2.0", "dark")
    assert [cell["formatter"] for cell in shown(chart)["write"]] == ["✗ error", "≠", "8"]
    assert {cell["fontWeight"] for cell in shown(chart)["write"]} == {"bold"}
    assert [cell["formatter"] for cell in shown(chart)["twice"]] == ["✗ error", "=", "✗ error"]
    assert chart.alt == f"PyTorch’s outcome differs in 1 of {len(QUESTIONS)} questions: x.data += 1."
    assert chart.headers == ("question", "this engine", "PyTorch 2.0")
    assert chart.rows[2] == ("Backward twice through one graph?", "RuntimeError: one", "RuntimeError: in other words")
