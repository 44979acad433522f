"""Tables as people have them: missing numbers, percent signs, thousands separators, dates."""

import numpy as np
import pytest

from lab.training.datasets import from_table
from lab.training.samples import DataError


def of(rows, header="a,b,y"):
    return from_table("\n".join([header, *rows]), "t.csv", val_fraction=0.0)


def rows(cells, other=lambda i: str(i * i)):
    return [f"{cell},{other(i)},{'pq'[i % 2]}" for i, cell in enumerate(cells)]


@pytest.mark.parametrize("mark", ["NA", "NaN", "nan", "?", "N/A", "null", ""])
def test_marks_of_missing_numbers_are_empty_cells(mark):
    data = of(rows(["1", mark, "3", "5", "9", "2"]))
    filled = of(rows(["1", "4", "3", "5", "9", "2"]))  # 4 is the mean of the others
    np.testing.assert_allclose(data.train_x, filled.train_x, rtol=1e-6)
    assert any("empty cells: 1, each replaced by the mean" in note for note in data.notes)
    assert any("NA, NaN, null or ?: 1, read as empty" in note for note in data.notes) is (mark != "")


def test_a_class_may_be_called_na_and_a_number_to_find_may_not():
    data = of([f"{i},{i * i},{('NA', 'DE')[i % 2]}" for i in range(20)])
    assert data.classes == ("DE", "NA")
    with pytest.raises(DataError, match="row 5: the label in 'y' is empty"):
        of([f"{i},{i * i},{'NA' if i == 3 else i + 0.5}" for i in range(40)])


def test_percent_signs_are_read_where_a_whole_column_has_them():
    data, plain = of(rows(["1%", "2.5 %", "-3%", "40%"])), of(rows(["1", "2.5", "-3", "40"]))
    np.testing.assert_array_equal(data.train_x, plain.train_x)
    assert any("percent signs in 'a'" in note for note in data.notes)
    with pytest.raises(DataError, match="row 4, column 'a': '-3%' is not a number"):
        of(rows(["1", "2.5", "-3%", "40"]))


def test_thousands_separators_are_read_and_decimal_commas_are_not_taken_for_them():
    data, plain = (
        of(rows(['"1,234"', '"12,345,678.5"', "7", '"-1,000"'])),
        of(rows(["1234", "12345678.5", "7", "-1000"])),
    )
    np.testing.assert_array_equal(data.train_x, plain.train_x)
    assert any("thousands separators in 'a'" in note for note in data.notes)
    for wrong in ('"1,5"', '"0,123"', '"1,23,456"'):
        with pytest.raises(DataError, match="column 'a'"):
            of(rows(['"1,234"', wrong, "7", "8"]))


@pytest.mark.parametrize("date", ["2024-01-0{}", "0{}.02.2024", "{}/3/2024", "2024/1/{}", "2024-01-0{}T10:30:00"])
def test_dates_are_refused_by_name(date):
    with pytest.raises(DataError, match=r"the column 'a' holds dates, such as '.*': put numbers in their place"):
        of(rows([date.format(i) for i in (1, 2, 3, 1, 2, 3)]))


def test_what_only_looks_like_a_date_is_not_one():
    assert of(rows(["2024.5", "2023.1", "2022.25", "2021.75"])).columns == ("a", "b")
    assert of(rows(["10-12", "10-13", "10-12", "10-13"])).columns == ("a “10-12”", "a “10-13”", "b")


@pytest.mark.parametrize(
    ("targets", "classes"),
    [
        ([i / 7 for i in range(1, 13)], 0),
        ([245, 312, 279, 308, 199, 219, 405, 324, 319, 255, 260, 310], 0),  # prices, each once
        ([3, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 9], 0),  # prices, most of them twice
        ([i % 2 + 0.5 for i in range(12)], 2),  # many rows of each
        ([1, 2, 3] * 4, 3),
        ([0, 1] * 3, 2),
    ],
)
def test_a_few_rows_have_a_measured_target_or_classes(targets, classes):
    data = of([f"{i},{i * i},{target}" for i, target in enumerate(targets)])
    assert len(data.classes) == classes
    assert any("(regression)" in note for note in (data.name, *data.notes)) == (not classes)


@pytest.mark.parametrize("targets", [[0, 1, 2] * 10 + [3], [0, 1, 1, 1]])
def test_numbers_that_may_be_classes_are_refused_with_the_task_that_takes_them(targets):
    table = "\n".join(["a,b,y", *(f"{i},{i * i},{target}" for i, target in enumerate(targets))])
    with pytest.raises(DataError, match=r"only one sample.*choose the task regression \(--task regression\)\.$"):
        from_table(table, "t.csv")
    assert from_table(table, "t.csv", task="regression").classes == ()
