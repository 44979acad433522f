"""Tables as people save them: what is read, what is decided about each column, and how it is said."""

import io
import json
import random
import zipfile

import numpy as np
import pandas as pd
import pytest

from lab.text.numbers import number
from lab.training import columns, table_file
from lab.training.datasets import from_table, load
from lab.training.samples import DataError
from tests.unit.training.brought_tables import BROUGHT


def of(rows, header="a,b,y", **chosen):
    return from_table("\n".join([header, *rows]), "t.csv", val_fraction=0.0, **chosen)


def rows(cells, other=lambda i: str(i * i + 3)):
    return [f"{cell},{other(i)},{'pq'[i % 2]}" for i, cell in enumerate(cells)]


def said(data):
    """Return what was decided: the notes without the first, which tells the size, and the last, which is always so."""
    return list(data.notes[1:-1])


# Numbers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12", (12, "")),
        ("-3.5e2", (-350, "")),
        ("1,234", (1234, "")),
        ("12,34,567.5", (1234567.5, "")),
        ("3,5", (3.5, "")),
        ("0,123", (0.123, "")),
        ("1.234.567", (1234567, "")),
        ("1.234,50", (1234.5, "")),
        ("1'234.50", (1234.5, "")),
        ("1 234 567", (1234567, "")),
        ("$1,234.50", (1234.5, "$")),
        ("-€ 5", (-5, "€")),
        ("CHF 12", (12, "chf")),
        ("12 EUR", (12, "eur")),
        ("12.5 %", (12.5, "%")),
        ("75kg", (75, "kg")),
        ("102 m²", (102, "m²")),
        ("36 months", (36, "month")),
        ("12k", (12000, "")),
        ("1.5M", (1500000, "")),
        ("(1,234)", (-1234, "")),
        ("−5", (-5, "")),
        ("1:30", (1.5, "hours")),
        ("12:15 PM", (12.25, "hours")),
        ("2h 05min", (2 + 5 / 60, "hours")),
        ("<0.5", (0.5, "<")),
        ("10.2 ± 0.5", (10.2, "±")),
        ("1.5D+03", (1500, "")),
        ("￥１，２００", (1200, "¥")),
        ("－５０％", (-50, "%")),
        ("3,000円", (3000, "円")),
        ("٣٠", (30, "")),
        ("77 kW (105 PS)", (77, "kw")),
        *((text, None) for text in ("S1", "Car 17", "A/12", "1 1/2", "10-12", "192.168.0.1", "1_000", "10⁵")),
        *((text, None) for text in ("3½", "3 5", "", "-", "$")),
        *((text, None) for text in ("1,23,4", "5'10\"", "Inc. 5", "9" * 50 + " kg")),
    ],
)
def test_a_number_is_read_as_people_write_it(text, expected):
    found = number(text)
    assert (found and (found.value(comma=False), found.unit)) == expected


@pytest.mark.parametrize(("text", "as_point", "as_comma"), [("1,234", 1234, 1.234), ("1.234", 1.234, 1234)])
def test_what_a_single_mark_means_depends_on_the_other_numbers(text, as_point, as_comma):
    assert (number(text).value(comma=False), number(text).value(comma=True)) == (as_point, as_comma)


@pytest.mark.parametrize(
    ("cells", "values", "kind"),
    [
        (['"1,234"', '"2,5"', '"3,25"', '"7,75"'], [1.234, 2.5, 3.25, 7.75], "decimal commas: '1,234' in 'a'"),
        (['"1,234"', '"2,500.5"', "3", "7"], [1234, 2500.5, 3, 7], "thousands separators: '1,234' in 'a'"),
        (['"1.234,5"', '"2,5"', '"3"', '"7"'], [1234.5, 2.5, 3, 7], "thousands separators: '1.234,5' in 'a'"),
        (["1 %", "2.5 %", "3%", "40"], [1, 2.5, 3, 40], "units left out: '%' in 'a'"),
        (["0:30", "1:00", "2:15", "10:45"], [0.5, 1, 2.25, 10.75], "clock times read as hours: 'a'"),
    ],
)
def test_a_column_tells_how_its_numbers_are_written(cells, values, kind):
    data = of(rows(cells))
    np.testing.assert_allclose(data.train_x[:, 0] * data.scale[0] + data.mean[0], values, rtol=1e-4)
    assert kind in said(data)


def test_a_few_values_below_what_can_be_measured_are_numbers():
    data = of(rows(["<0.5" if i % 3 == 0 else str(i * i + 1) for i in range(30)]))
    assert data.columns == ("a", "b")
    assert "units left out: '<' in 'a'" in said(data)
    assert of(rows(["<=50", "<=50", ">50"] * 10)).columns == ("a “<=50”", "a “>50”", "b")


def test_two_units_in_a_column_are_texts():
    assert of(rows(["5 kg", "500 g", "5 kg"] * 10)).columns == ("a “5 kg”", "a “500 g”", "b")


# Dates


@pytest.mark.parametrize(
    ("cells", "form", "steps"),
    [
        (["2024-01-31", "2024-02-01", "2024-02-03"], "ISO8601", [1, 2]),
        (["1/31/2024", "2/1/2024", "2/3/2024"], "%m/%d/%Y", [1, 2]),
        (["31/1/2024", "1/2/2024", "3/2/2024"], "%d/%m/%Y", [1, 2]),
        (["31.1.24", "1.2.24", "3.2.24"], "%d.%m.%y", [1, 2]),
        (["31 Jan 2024", "1 Feb 2024", "3 Feb 2024"], "%d %b %Y", [1, 2]),
        (
            ["2024-01-31T12:00:00+01:00", "2024-02-01T00:00:00+01:00", "2024-02-03T06:00:00+01:00"],
            "ISO8601",
            [0.5, 2.25],
        ),
        (["1/31/2024 6:00 AM", "1/31/2024 6:00 PM", "2/1/2024 12:00 AM"], "%m/%d/%Y %I:%M %p", [0.5, 0.25]),
        (["2024/01/31 6:00:00 AM GMT+2", "2024/01/31 6:00:00 PM GMT+2"], "%Y/%m/%d %I:%M:%S %p", [0.5, -0.5]),
        ([20240131, 20240201, 20240203], "%Y%m%d", [1, 2]),
        (["2024年1月31日", "2024年2月1日", "2024年2月3日"], "%Y年%m月%d日", [1, 2]),
        (["1/2024", "2/2024", "4/2024"], "%m/%Y", [31, 60]),
    ],
)
def test_dates_are_days(cells, form, steps):
    data = of(rows([*map(str, cells * 2)]))
    assert data.cells[0] == ("a", None, form)
    read = data.train_x[:3, 0].astype(float) * data.scale[0] + data.mean[0]
    np.testing.assert_allclose(np.diff(read), steps, atol=0.01)
    assert f"dates read as days: 'a', {cells[0]!r} by {form}" in said(data)


def test_what_only_looks_like_a_date_is_not_one():
    assert of(rows(["2024.5", "2023.1", "2022.25", "2021.75"])).columns == ("a", "b")
    assert of(rows(["20240131", "20240230", "20240131", "20240229"])).cells[0] == ("a", None, None)  # no such day
    assert of(rows(["10-12", "10-13", "10-12", "10-13"])).columns == ("a “10-12”", "a “10-13”", "b")


# Missing cells and spellings


@pytest.mark.parametrize("mark", ["NA", "NaN", "nan", "?", "N/A", "null", "-", "#N/A", "#VALUE!", "\\N", "None", ""])
def test_marks_of_missing_numbers_are_empty_cells(mark):
    data = of(rows(["1", mark, "3", "5", "9", "2"]))
    filled = of(rows(["1", "4", "3", "5", "9", "2"]))  # 4 is the mean of the others
    np.testing.assert_allclose(data.train_x, filled.train_x, rtol=1e-6)
    assert "missing cells: 1 in 'a', each replaced by the mean of its column's training samples" in said(data)
    assert (f"read as missing: {mark!r} in columns of numbers" in said(data)) is (mark != "")


def test_a_class_may_be_called_na_if_it_is_common():
    assert of([f"{i},{i * i},{('NA', 'DE')[i % 2]}" for i in range(20)]).classes == ("DE", "NA")
    rare = of([f"{i},{i * i},{'NA' if i in (3, 8) else 'DF'[i % 2]}" for i in range(40)])
    assert rare.classes == ("D", "F")
    assert said(rare)[0] == "rows without a target: 2, left out"
    assert "read as missing: 'NA' in 'y'" in said(rare)
    assert "rows without a target: 1, left out" in said(
        of([f"{i},{i * i},{'NA' if i == 3 else i + 0.5}" for i in range(40)])
    )


@pytest.mark.parametrize(
    ("wrong", "note"),
    [("x", "no number, read as missing: 'x' in 'a'"), ("1e200", "too large, read as missing: 1 in 'a'")],
)
def test_a_few_cells_that_are_no_numbers_do_not_cost_the_column(wrong, note):
    data = of(rows([wrong if i == 4 else str(i % 7) for i in range(30)]))
    assert data.columns == ("a", "b")
    assert note in said(data)


def test_spellings_of_a_text_are_joined():
    data = of([f"{i},{('Red', 'red ', ' RED', 'blue')[i % 4]},{('Fraud', ' FRAUD', 'fine')[i % 3]}" for i in range(36)])
    assert data.columns == ("b “Red”", "b “blue”")
    assert len(data.classes) == 2
    assert "spellings joined: of 'Red' in 'b', of 'Fraud' in 'y'" in said(data)
    texts, classes = ("a-", "A+", "a b", "ab"), ("not spam", "Not-Spam", "not_spam", "spam")
    data = of([f"{i},{texts[i % 4]},{classes[i % 4]}" for i in range(40)])
    assert data.columns == ("a", "b “A+”", "b “a b”", "b “a-”", "b “ab”")
    assert data.classes == ("not spam", "spam")


# What is left out


CASES = {  # name of the decision -> header, rows, the columns that are used, the note
    "empty": ("a,b,y", lambda i: f",{i * i},{'pq'[i % 2]}", ["b"], "left out, because empty: 'a'"),
    "constant": ("a,b,y", lambda i: f"7,{i * i},{'pq'[i % 2]}", ["b"], "left out, because the same in every row: 'a'"),
    "free text": (
        "a,b,y",
        lambda i: f"so {i},{i * i},{'pq'[i % 2]}",
        ["b"],
        "left out, because of too many different texts: 'a' (40 in 40 rows)",
    ),
    "row number": (
        "n,b,y",
        lambda i: f"{i},{i * i % 17},{'pq'[i % 2]}",
        ["b"],
        "left out, because it only numbers the rows: 'n'",
    ),
    "named id": (
        "b,customerId,y",
        lambda i: f"{i * i % 17},{i * 37 % 101},{'pq'[i % 2]}",
        ["b"],
        "left out, because it only numbers the rows: 'customerId'",
    ),
    "number of many digits": (
        "b,bank,y",
        lambda i: f"{i * i % 17},{7_000_000_019 * (i * 37 % 101 + 20) % 8_000_000_000 + 10**9},{'pq'[i % 2]}",
        ["b"],
        "left out, because it only numbers the rows: 'bank'",
    ),
    "copy": (
        "a,b,y",
        lambda i: f"{i * i},{3 * i * i + 1},{'pq'[i % 2]}",
        ["a"],
        "left out, because it repeats another column: 'b' (like 'a')",
    ),
    "copy of texts": (
        "a,b,y",
        lambda i: f"{'uvw'[i % 3]},{'rst'[i % 3]},{'pq'[i % 2]}",
        ["a “u”", "a “v”", "a “w”"],
        "left out, because it repeats another column: 'b' (like 'a')",
    ),
    "code of the class": (
        "a,b,y",
        lambda i: f"{i * i},{i % 3 + 7},{'pqr'[i % 3]}",
        ["a"],
        "left out, because it tells the target exactly: 'b'",
    ),
    "target in another unit": (
        "a,b,y",
        lambda i: f"{i * i % 19},{2 * i + 1},{i / 7}",
        ["a"],
        "left out, because it tells the target exactly: 'b'",
    ),
    "filled for one class only": (
        "a,b,y",
        lambda i: f"{i * i % 7 if i % 2 else ''},{i * i % 17},{'pq'[i % 2]}",
        ["b"],
        "left out, because whether a cell is empty gives the target away: 'a' (filled nearly only for 'q')",
    ),
    "texts of one class each": (
        "a,b,y",
        lambda i: f"{('Junk', 'Spam', 'Inbox', 'Archive')[i % 4]},{i * i % 17},{'sh'[i % 4 > 1]}",
        ["b"],
        "left out, because it tells the target exactly: 'a'",
    ),
    "0 for one class only": (
        "a,b,y",
        lambda i: f"{i % 2 * (i + 0.5)},{i * i % 17},{'pq'[i % 2]}",
        ["b"],
        "left out, because it tells the target exactly: 'a'",
    ),
    "numbers that lie apart": ("a,b,y", lambda i: f"{i + 0.5},{i * i % 17},{'pq'[i > 19]}", ["a", "b"], None),
    "a mark or nothing": (
        "a,b,y",
        lambda i: f"{'x' if i % 3 == 0 else ''},{i * i % 17},{'pq'[i % 2]}",
        ["a “”", "a “x”", "b"],
        "an empty cell counts as no: 'a'",
    ),
    "nines for missing": (
        "a,b,y",
        lambda i: f"{-999.9 if i % 9 == 0 else i * i % 7},{999 if i == 7 else i * i % 17},{'pq'[i % 2]}",
        ["a", "b"],
        "far from all others, read as missing: -999.9 in 'a'",
    ),
    "a common class": (
        "a,b,y",
        lambda i: f"{i if i % 7 else ''},{i * i % 17},{'pq'[i % 8 == 1]}",
        ["a", "b"],
        "missing cells: 6 in 'a', each replaced by the mean of its column's training samples",
    ),
    "one-hot siblings": (
        "x,is_a,is_b,is_c",
        lambda i: f"{i * i},{int(i % 3 == 0)},{int(i % 3 == 1)},{int(i % 3 == 2)}",
        ["x"],
        "left out, because exactly one of them and the target is 1 in each row: 'is_a', 'is_b'",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_column_that_is_no_input_is_left_out_and_said(case):
    header, row, used, note = CASES[case]
    data = of([row(i) for i in range(40)], header)
    assert list(data.columns) == used
    assert note is None or note in said(data)


@pytest.mark.parametrize(
    "case",
    [
        *("row number", "named id", "copy", "code of the class", "filled for one class only", "one-hot siblings"),
        "0 for one class only",
    ],
)
def test_what_is_left_out_on_suspicion_can_be_kept(case):
    header, row, _, _ = CASES[case]
    texts = [row(i) for i in range(40)]
    left_out = [name for name, used in of(texts, header).choices if not used]
    assert left_out
    kept = of(texts, header, keep=left_out)
    assert {*left_out} <= {*kept.columns}
    assert all(used for _, used in kept.choices)


def test_a_column_is_dropped_by_name_or_number_and_can_come_back():
    texts = [f"{i * i},{i % 7},{i % 5},{'pq'[i % 2]}" for i in range(40)]
    data = of(texts, "a,b,c,y", drop=["c", "1"])
    assert data.columns == ("b",)
    assert "left out, as you asked: 'a', 'c'" in said(data)
    assert data.choices == (("a", False), ("b", True), ("c", False))
    with pytest.raises(DataError, match="no column 'd': choose one of a, b, c, y"):
        of(texts, "a,b,c,y", drop=["d"])
    with pytest.raises(DataError, match="the target 'y' cannot be left out"):
        of(texts, "a,b,c,y", drop=["y"])


def test_whole_numbers_that_rise_through_a_long_table_number_its_rows():
    data = of([f"{4400 + 17 * i},{i * i % 17},{'pq'[i % 2]}" for i in range(120)])
    assert "left out, because it only numbers the rows: 'a'" in said(data)
    few = of([f"{10 * i},{i * i % 17},{'pq'[i % 2]}" for i in range(1, 40)])  # a measurement may rise, too
    assert few.columns == ("a", "b")


def test_a_target_of_several_units_is_read_if_it_is_to_be_predicted():
    texts = [f"{i * i % 17},{(f'￥{i}０００', f'{i}，5００円')[i % 2]}" for i in range(1, 60)]
    with pytest.raises(DataError, match="since it has numbers of several units: '円', '¥', the task regression"):
        of(texts, "a,y")
    data = of(texts, "a,y", task="regression")
    assert data.target[0] == pytest.approx(np.mean([i * 1000 + 500 * (i % 2 == 1) for i in range(1, 60)]))
    assert "units left out: '円', '¥' in 'y'" in said(data)


def test_a_doubtful_column_is_used_if_nothing_else_is_left():
    data = of([f"{i},{i / 7}" for i in range(40)], "x,y")
    assert data.columns == ("x",)
    assert "used, although to be left out because it only numbers the rows: 'x'" in said(data)


def test_one_report_names_everything():
    texts = [f"{i},7,,{'uv'[i % 2]},{i}.1.2024,so {i},{'' if i % 9 == 0 else i % 5} kg,{i / 7}" for i in range(1, 31)]
    assert said(of(texts, "id,const,empty,kind,when,text,mass,y")) == [
        "left out, because it only numbers the rows: 'id'",
        "left out, because the same in every row: 'const'",
        "left out, because empty: 'empty'",
        "left out, because it tells the target exactly: 'when'",
        "left out, because of too many different texts: 'text' (30 in 30 rows)",
        "no number, read as missing: 'kg' in 'mass'",
        "units left out: 'kg' in 'mass'",
        "text columns: 'kind', one input for each different text",
        "missing cells: 3 in 'mass', each replaced by the mean of its column's training samples",
    ]


# The target


@pytest.mark.parametrize(
    ("targets", "classes"),
    [
        ([i / 7 for i in range(1, 13)], 0),
        ([245, 312, 279, 308, 199, 219, 405, 324, 319, 255, 260, 310], 0),  # prices, each once
        ([3, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 9], 0),  # prices, most of them twice
        ([i % 10 / 2 + 0.5 for i in range(100)], 0),  # half stars
        ([i * i % 29 for i in range(300)], 0),  # counts
        ([i % 2 + 0.5 for i in range(12)], 2),  # many rows of each
        ([1, 2, 3] * 4, 3),
        ([0, 1] * 3, 2),
        ([f"{i + 0.5} EUR" for i in range(12)], 0),
    ],
)
def test_a_target_is_measured_or_classes(targets, classes):
    data = of([f"{i},{i * i},{target}" for i, target in enumerate(targets)])
    assert len(data.classes) == classes
    assert any("(regression)" in note for note in (data.name, *data.notes)) == (not classes)


def test_a_class_of_a_single_row_is_left_out_and_the_other_task_named():
    texts = [f"{i},{i * i},{target}" for i, target in enumerate([0, 1, 2] * 10 + [3])]
    data = of(texts)
    assert data.classes == ("0", "1", "2")
    left_out = "classes with a single row: '3', left out, or, if the target is a number to predict, choose the task"
    assert f"{left_out} regression" in said(data)
    assert of(texts, task="regression").classes == ()


# The file


@pytest.mark.parametrize(
    ("encoding", "note"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("cp1252", "CP1252 (Western European)"),
    ],
)
def test_a_file_is_read_in_its_encoding(tmp_path, encoding, note):
    (tmp_path / "t.csv").write_bytes(
        ("größe,preis €,y\n" + "".join(f"{i * i},{i % 7},{'jn'[i % 2]}ä\n" for i in range(20))).encode(encoding)
    )
    data = load(f"csv:{tmp_path / 't.csv'}")
    assert data.columns == ("größe", "preis €")
    assert f": read as {note}, target 'y'; " in data.notes[0]
    assert any("encoding is a guess" in one for one in said(data)) == (encoding == "cp1252")


PLAIN = "a,b,y\n" + "".join(f"{i * i}.5,{i % 7}.25,{'pq'[i % 2]}\n" for i in range(20))
FORMS = {
    "semicolons": PLAIN.replace(",", ";"),
    "tabs": PLAIN.replace(",", "\t"),
    "pipes": PLAIN.replace(",", "|"),
    "white space": PLAIN.replace(",", "   "),
    "white space and tabs": PLAIN.replace(",", "  ", 1).replace(",", " \t "),
    "decimal commas": PLAIN.replace(",", ";").replace(".", ","),
    "markdown": "\n".join(
        ["|a|b|y|", "|--:|---|:-|", *(f"| {' | '.join(row.split(','))} |" for row in PLAIN.split()[1:])]
    ),
    "title lines": f"Export 17,,\n,,\n{PLAIN}",
    "a title and a blank line": f"Export of today\n\n{PLAIN}",
    "comments": f"# station 12\n# of today\n{PLAIN}",
    "a header in a comment": f"# station 12\n#{PLAIN}",
    "sep=": "sep=;\n" + PLAIN.replace(",", ";"),
    "totals": f"{PLAIN}Total,,\n",
    "printed": "\n".join(
        [
            "shape: (20, 3)",
            "┌───┬───┬───┐",
            "│ a ┆ b ┆ y │",
            "│ --- ┆ --- ┆ --- │",
            "│ f64 ┆ f64 ┆ str │",
            "╞═══╪═══╪═══╡",
            *(f"│ {' ┆ '.join(row.split(','))} │" for row in PLAIN.split()[1:]),
            "└───┴───┴───┘",
        ]
    ),
    "printed by a database": "\n".join(
        [
            "+---+---+---+",
            "| a | b | y |",
            "+---+---+---+",
            *(f"| {' | '.join(row.split(','))} |" for row in PLAIN.split()[1:]),
            "+---+---+---+",
        ]
    ),
    "JSON in an envelope": json.dumps(
        {"status": "ok", "rows": [dict(zip("aby", row.split(","), strict=True)) for row in PLAIN.split()[1:]]}
    ),
    "Windows": PLAIN.replace("\n", "\r\n"),
    "old Mac": PLAIN.replace("\n", "\r"),
    "quotes": PLAIN.replace("p\n", '"p"\n').replace(",y", ',"y"'),
    "spaces after commas": PLAIN.replace(",", ", "),
    "trailing commas": PLAIN.replace("\n", ",\n"),
    "trailing commas but in the header": PLAIN.replace("\n", ",\n").replace("y,\n", "y\n"),
    "ARFF with quotes": "@relation t\n@attribute a real\n@attribute b real\n@attribute y {'p','q'}\n@data\n"
    + PLAIN.partition("\n")[2].replace("p\n", "'p'\n"),
    "ARFF": "% hi\n@RELATION t\n@attribute a numeric\n@attribute 'b' real\n@attribute y {p,q}\n\n@data\n"
    + PLAIN.partition("\n")[2],
    "JSON lines": "\n".join(
        json.dumps(dict(zip("aby", (float(a), float(b), y), strict=True)))
        for a, b, y in (row.split(",") for row in PLAIN.split()[1:])
    ),
    "JSON list": json.dumps(
        [{"a": float(a), "b": float(b), "y": y} for a, b, y in (row.split(",") for row in PLAIN.split()[1:])]
    ),
    "JSON rows by number": json.dumps(
        {str(at): dict(zip("aby", row.split(","), strict=True)) for at, row in enumerate(PLAIN.split()[1:])}
    ),
    "JSON columns of lists": json.dumps(
        {"of": {name: [row.split(",")[at] for row in PLAIN.split()[1:]] for at, name in enumerate("aby")}}
    ),
    "JSON rows of lists": json.dumps([row.split(",") for row in PLAIN.split()]),
    "JSON names and rows": json.dumps(
        {"columns": ["a", "b", "y"], "data": [row.split(",") for row in PLAIN.split()[1:]]}
    ),
    "JSON by keys": json.dumps(
        {f"n{at}": dict(zip("aby", row.split(","), strict=True)) for at, row in enumerate(PLAIN.split()[1:])}
    ),
    "JSON columns": json.dumps(
        {
            name: {str(at): row.split(",")[column] for at, row in enumerate(PLAIN.split()[1:])}
            for column, name in enumerate("aby")
        }
    ),
    "a row too long": f"{PLAIN}1,2,p,4\n",
    "much too long": f"{PLAIN}1,2,p,4,5,6,7\n",
    "a row too short": f"{PLAIN}1,2\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_a_table_give_the_same_data(form):
    assert from_table(FORMS[form], "t").fingerprint == from_table(PLAIN, "t").fingerprint


def test_a_separator_that_cuts_cells_in_which_another_one_stands_is_none():
    table = "n;k;model;price\n" + "".join(f"A{i};{'xy'[i % 2]};{i * i % 7};1{i % 9}.490,00 €\n" for i in range(40))
    assert from_table(table, "t.csv").columns == ("k “x”", "k “y”", "model")


def test_texts_in_arff_are_without_their_quotes():
    assert from_table(FORMS["ARFF with quotes"], "t").classes == ("p", "q")


@pytest.mark.parametrize(
    ("form", "note"),
    [
        ("title lines", "lines that are no rows of the table: 1, left out"),
        ("totals", "lines that are no rows of the table: 1, left out"),
        ("comments", "lines that are no rows of the table: 2, left out"),
        ("a row too long", "rows with too many cells: 1, left out"),
        ("much too long", "rows with too many cells: 1, left out"),
        ("a row too short", "rows without a target: 1, left out"),
        ("decimal commas", "decimal commas: 3,14 is read as 3.14"),
        ("ARFF", "read as ARFF"),
        ("JSON lines", "read as JSON"),
    ],
)
def test_what_was_done_to_the_file_is_said(form, note):
    assert said(from_table(FORMS[form], "t"))[0] == note


@pytest.mark.parametrize("names", [True, False])
def test_cells_that_stand_below_each_other_may_hold_spaces_or_be_empty(names):
    table = pd.DataFrame(
        {"city": ["New York", "Rome", "Los Angeles"] * 40, "a": range(0, 600, 5), "y": list("pqr") * 40}
    )
    table["b"] = np.where(table.index % 7, table.index % 11 + 0.5, np.nan)
    data = from_table(table[["city", "a", "b", "y"]].to_string(index=names, na_rep=""), "t", keep=["city", "a"])
    assert len(data.train_x) + len(data.val_x) == 120
    assert data.columns[:3] == ("city “Los Angeles”", "city “New York”", "city “Rome”")
    assert "missing cells: 18 in 'b', each replaced by the mean of its column's training samples" in said(data)


def test_a_table_without_a_header_has_numbered_columns():
    assert from_table(PLAIN.partition("\n")[2], "t").columns == ("column 1", "column 2")
    mushrooms = "\n".join(f"{'xb'[i % 2]},{'sy'[i % 3 > 0]},{'pe'[i % 5 > 1]}" for i in range(40))
    assert from_table(mushrooms, "t").cells[0].column == "column 1"


@pytest.mark.parametrize(
    ("above", "names", "note"),
    [
        ("a,b,y\ncm,kg,kind\n", ("a", "b"), "lines that are no rows of the table: 1, left out"),
        ("f,g,y\n1,2,p\nf,g,y\n3,4,q\nf,g,y\n", ("f", "g"), "lines that are no rows of the table: 2, left out"),
        ("Here are my numbers:\n\na,b,y\n", ("a", "b"), "lines that are no rows of the table: 1, left out"),
        (",b,y\n", ("", "b"), None),
    ],
)
def test_what_stands_above_the_data_are_names(above, names, note):
    width = len(names)
    body = "".join(
        f"{','.join(f'{i * (at + 2) % 23 + 0.5}' for at in range(width))},{'pq'[i % 2]}\n" for i in range(30)
    )
    data = from_table(above + body, "t")
    assert data.columns == names
    assert note in said(data) if note else not any("no rows of the table" in one for one in said(data))


def test_row_names_as_r_writes_them_are_a_column():
    text = '"a" "b" "y"\n' + "".join(f'"{i + 1}" {i * i} {i % 7} "{"pq"[i % 2]}"\n' for i in range(20))
    assert from_table(text, "t").columns == ("a", "b")


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (b"PK\x03\x04rest", "an Excel file or a zip archive: save the sheet as CSV, or install openpyxl to read it"),
        (b"\xd0\xcf\x11\xe0rest", "an old Excel file: save the sheet as CSV"),
        (b"\x1f\x8brest", "compressed: unpack it first"),
        (b"<html><table>", "a web page or XML: save the table as CSV"),
        (b"PAR1rest", "a Parquet file: save the table as CSV"),
        (b"\x00\x01\x02rest", "not a text file"),
    ],
)
def test_what_is_no_text_is_named(start, words, monkeypatch):
    monkeypatch.setattr(table_file, "_sheet", lambda *_: None)  # as without openpyxl
    with pytest.raises(DataError, match=words):
        table_file.utf8(start, "t.xlsx")


def test_the_largest_sheet_of_an_excel_file_is_read():
    openpyxl = pytest.importorskip("openpyxl")
    book, out = openpyxl.Workbook(), io.BytesIO()
    book.create_sheet("About").append(["Made by", "us"])
    for row in [
        (None,),
        ("Export of today",),
        (None,),
        ("a", "b", "y"),
        *((i * i, bool(i % 7), "pq"[i % 2]) for i in range(20)),
        ("Sum", None, None),
    ]:
        book.active.append(row)
    book.save(out)
    content, encoding = table_file.utf8(out.getvalue(), "t.xlsx")
    assert encoding == "Excel, sheet 'Sheet', the largest of 2"
    assert from_table(content.decode(), "t").columns == ("a", "b “False”", "b “True”")
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", bytes(table_file.MAX_UNPACKED + 1))
    with pytest.raises(DataError, match="unpacks to 30 MB"):
        table_file.utf8(bomb.getvalue(), "t.xlsx")


def test_nested_json_becomes_columns_and_its_lists_are_left_out():
    rows = [
        {"id": f"{i * i}", "of": {"at": {"x": i % 7}, "tags": [1]}, "more": [], "y": "pq"[i % 2]} for i in range(20)
    ]
    data = from_table(json.dumps({"meta": {"n": 20}, "found": {"rows": rows}}), "t")
    assert data.columns == ("of.at.x",)
    assert said(data)[:2] == ["read as JSON", "lists, left out: 'of.tags', 'more'"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{broken", "looks like JSON, but cannot be read as JSON"),
        ("[1, 2]", "is JSON, but not a table"),
        ("[" * 100_000, "looks like JSON"),
        (
            "[" + ",".join(f'{{"k{i}": 1}}' for i in range(1000)) + "]",
            "too large, with 1,000 rows or more of 1,000 columns",
        ),
    ],
)
def test_other_json_is_refused(text, words):
    with pytest.raises(DataError, match=words):
        from_table(text, "t")


@pytest.mark.parametrize("classes", [("FALSE", "TRUE"), ("false", "true"), ("False", "True")])
def test_classes_are_spelled_as_in_the_file(classes):
    rows = [(i * i, classes[i % 3 > 0]) for i in range(60)]
    assert of([f"{a},{y}" for a, y in rows], "a,y").classes == classes
    text = ",".join(f'{{"a": {a}, "y": {y}}}' for a, y in rows)
    assert classes != ("false", "true") or from_table(f"[{text}]", "t").classes == classes


def test_a_table_with_too_many_inputs_can_be_made_smaller():
    texts = [",".join([*(f"v{i * (at + 3) % 19}" for at in range(12)), "pq"[i % 2]]) for i in range(400)]
    with pytest.raises(
        DataError, match=r"has 228 inputs, one for each .* takes up to 100: leave out text columns"
    ) as error:
        of(texts, ",".join([*(f"c{at}" for at in range(12)), "y"]))
    assert error.value.choices == tuple((f"c{at}", True) for at in range(12))
    few = of(texts, ",".join([*(f"c{at}" for at in range(12)), "y"]), drop=[f"c{at}" for at in range(8)])
    assert len(few.columns) == 76


# Whole tables


@pytest.mark.parametrize("case", BROUGHT)
def test_a_table_as_it_was_brought_is_read(case, tmp_path):
    """At first look, before the reader had met them, 16 of the 22 were right."""
    content, expected = BROUGHT[case]()
    (tmp_path / "t.csv").write_bytes(content)
    if "refused" in expected:
        with pytest.raises(DataError, match=expected["refused"]):
            load(f"csv:{tmp_path / 't.csv'}")
        return
    data = load(f"csv:{tmp_path / 't.csv'}")
    assert bool(data.classes) == (expected["task"] == "classification")
    assert list(dict.fromkeys(cell.column for cell in data.cells)) == expected["used"]
    assert f"target {expected['target']!r}" in data.notes[0]
    assert len(data.classes) == expected.get("classes", len(data.classes))


def test_any_table_is_read_or_refused_with_a_sentence():
    """Random cells of many kinds in random forms, with seeds; a table that is read has finite inputs."""
    cells = [
        "1",
        "2,5",
        "3.5",
        "x",
        "",
        "NA",
        "$5",
        "5 kg",
        "2024-01-02",
        "1:30",
        "-",
        "ja",
        "nein",
        '"a,b"',
        "#",
        "é",
        "1e300",
        "inf",
    ]
    trained = 0
    for seed in range(150):
        chance = random.Random(seed)
        kinds = [chance.sample(cells, chance.randint(1, 5)) for _ in range(chance.randint(1, 6))]
        lines = [[chance.choice(kind) for kind in kinds] for _ in range(chance.randint(0, 40))]
        mark = chance.choice(",;\t| ")
        text = "\n".join(mark.join(line[: chance.choice([len(line)] * 9 + [1])]) for line in lines)
        header = chance.choice(["", mark.join(f"c{at}" for at in range(len(kinds))) + "\n", "Title\n"])
        try:
            data = from_table(header + text, "t", val_fraction=chance.choice([0, 0.2]))
        except DataError:
            continue
        trained += 1
        assert np.isfinite(data.train_x).all()
        assert data.train_x.shape[1] == len(data.cells) == len(data.columns)
        assert "\n" not in "".join(data.notes)
    assert trained > 60


def test_the_words_for_a_missing_cell_are_in_small_letters():
    assert all(word == word.lower() for word in columns.MISSING)
