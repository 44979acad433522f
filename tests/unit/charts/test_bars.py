"""Bars: each carries its number, and words and table say the same."""

from lab.charts import bars

QUANTITIES = {"time": [1.0, 6.5], "memory": [1.0, 0.25]}


def test_each_bar_carries_its_number_and_so_do_the_words_and_the_table():
    chart = bars("Price", ["one", "other"], QUANTITIES)
    time, memory = chart.spec["series"]
    assert [bar["value"] for bar in time["data"]] == [1.0, 6.5]
    assert memory["data"][1]["label"]["formatter"] == "0.25"
    assert chart.alt == "Price. one: time 1, memory 1. other: time 6.5, memory 0.25."
    assert chart.headers == ("", "time", "memory")
    assert chart.rows == [("one", "1", "1"), ("other", "6.5", "0.25")]
    assert chart.spec["xAxis"]["min"] == 0  # else lengths would not compare


def test_more_bars_make_a_taller_chart():
    assert bars("Price", ["one"], {"time": [1.0]}).height < bars("Price", ["one", "other"], QUANTITIES).height
