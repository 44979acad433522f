"""A trained network in use: loaded with the preparation of its inputs, and asked."""

import csv
import io

import numpy as np
import pytest

from lab.training import cli as command_line
from lab.training import load
from lab.training.config import Config
from lab.training.datasets import load_dataset
from lab.training.predictions import predict_table
from lab.training.run_folder import RunError, RunFolder
from lab.training.samples import Cell, DataError
from lab.training.table_to_samples import inputs_of_file

pytestmark = pytest.mark.usefixtures("pictures_once")
TABLE = "size,colour,price,kind\n" + "".join(
    f'{i / 10},{"red" if i % 3 else "blue"},"{1000 + 100 * i + i % 7:,}",{"big" if i > 30 else "small"}\n'
    for i in range(60)
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    (folder / "things.csv").write_text(TABLE)
    words = f"--data csv:{folder / 'things.csv'} --hidden 8 --epochs 30 --lr 0.02 --quiet --out {folder / 'run'}"
    assert command_line.main(words.split()) == 0
    (folder / "things.csv").unlink()  # a trained network needs its data no more
    return folder / "run"


def test_it_answers_what_it_was_trained_on(run):
    model = load(run)
    assert model.cells == (Cell("size"), Cell("colour", "blue"), Cell("colour", "red"), Cell("price"))
    samples = [[0.5, 0, 1, 1500], [5.5, 1, 0, 6500]]
    assert model.predict(samples).tolist() == ["small", "big"]
    assert model.probabilities(samples).shape == (2, 2)
    assert "classes=('big', 'small')" in repr(model)
    assert "MLP(4-8-2, relu" in repr(model)


def test_a_table_is_answered_with_what_people_write_in_cells(run, tmp_path, capsys):
    (tmp_path / "new.csv").write_text('colour,price,note,size\nred,"1,500",x,0.5\ngreen,"6,400",y,NA\n,"6,500",z,\n')
    assert command_line.main(["predict", str(run), str(tmp_path / "new.csv")]) == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows[0] == ["colour", "price", "note", "size", "prediction", "probability"]
    assert [row[:4] for row in rows[1:]] == [
        ["red", "1,500", "x", "0.5"],
        ["green", "6,400", "y", "NA"],
        ["", "6,500", "z", ""],
    ]
    assert [row[4] for row in rows[1:]] == ["small", "big", "big"]
    assert all(0.5 <= float(row[5]) <= 1 for row in rows[1:])


def test_a_table_to_predict_has_the_encoding_of_the_training_or_its_own(tmp_path):
    rows = "".join(f"{i * i % 17},{'x' if i % 3 else ''},{('měď', 'železo')[i % 2]}\n" for i in range(40))
    (tmp_path / "t.csv").write_bytes(f"věk,mark,kov\n{rows}".encode("cp1250"))
    words = f"--data csv:{tmp_path}/t.csv --encoding cp1250 --epochs 1 --out {tmp_path}/run"
    assert command_line.main(words.split()) == 0
    (tmp_path / "new.csv").write_text("věk,mark\n3,x\n4,\n", "utf-8")
    model = load(tmp_path / "run")
    assert predict_table(model, f"{tmp_path}/t.csv").startswith("věk,mark,kov,prediction")
    heard = []
    assert predict_table(model, f"{tmp_path}/new.csv", "utf-8", heard.append).startswith("věk,mark,prediction")
    assert heard == []  # an empty cell of a column of marks is known, too


def test_an_unknown_text_is_answered_and_said(run, tmp_path, capsys):
    (tmp_path / "new.csv").write_text("size,colour,price\n1,red,5\n2,green,5\n3,,5\n")
    assert command_line.main(["predict", str(run), str(tmp_path / "new.csv")]) == 0
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 4
    assert (
        "row 2 of the table, column 'colour': 'green' is unknown: the network was trained only on 'blue', 'red'"
        in said.err
    )
    assert said.err.count("warning: ") == 1


def test_a_cell_that_cannot_be_read_is_said_and_answered_as_if_it_were_empty(run, tmp_path, capsys):
    (tmp_path / "wrong.csv").write_text("size,colour,price\nmuch,red,5\n,red,5\n")
    assert command_line.main(["predict", str(run), str(tmp_path / "wrong.csv")]) == 0
    said = capsys.readouterr()
    assert "row 1 of the table, column 'size': 'much' is unknown: the network was trained only on numbers" in said.err
    wrong, empty = csv.reader(io.StringIO(said.out.partition("\n")[2]))
    assert wrong[3:] == empty[3:]


def test_a_table_to_predict_is_read_as_the_table_of_the_training(tmp_path):
    """Dates of an ambiguous day, units, decimal commas, spellings and a preface."""
    days = [f"{i % 28 + 1}/{i % 12 + 1}/2024" for i in range(60)]
    rows = "".join(f"{day};{i},5 kg;{'Ab' if i % 2 else 'cd'};{i * 2 + i % 5},25\n" for i, day in enumerate(days))
    (tmp_path / "t.csv").write_text(f"day;mass;kind;y\n{rows}", "utf-16")
    words = f"--data csv:{tmp_path / 't.csv'} --hidden 4 --epochs 1 --quiet --out {tmp_path / 'run'}"
    assert command_line.main(words.split()) == 0
    assert load(tmp_path / "run").cells == (
        Cell("day", None, "%d/%m/%Y"),
        Cell("mass"),
        Cell("kind", "Ab"),
        Cell("kind", "cd"),
    )
    (tmp_path / "new.csv").write_text('Export of today\nkind,mass,day,note\n AB ,1.5,3/4/2024,a\ncd,"1,234.5 kg",,b\n')
    header, given, inputs = inputs_of_file(str(tmp_path / "new.csv"), load(tmp_path / "run").cells)
    assert header == ["kind", "mass", "day", "note"]
    assert given[1] == ["cd", "1,234.5 kg", "", "b"]
    third_of_april = (np.datetime64("2024-04-03") - np.datetime64("1970-01-01")).astype(int)
    np.testing.assert_array_equal(inputs, [[third_of_april, 1.5, 1, 0], [np.nan, 1234.5, 0, 1]])


def test_other_columns_may_hold_anything(run, tmp_path):
    (tmp_path / "new.csv").write_text("when;size;colour;price;version\n2024-01-02;0,5;red;1;1.5\n")
    assert predict_table(load(run), str(tmp_path / "new.csv")).splitlines()[1].startswith('2024-01-02,"0,5",red,1,1.5,')


def test_two_columns_of_one_name_are_told_apart(tmp_path):
    rows = "".join(f"{i * 7 % 40},{i},{'ab'[i > 20]}\n" for i in range(40))
    (tmp_path / "twice.csv").write_text(f"x,x,y\n{rows}")
    words = f"--data csv:{tmp_path / 'twice.csv'} --hidden 8 --epochs 60 --lr 0.03 --quiet --out {tmp_path / 'run'}"
    assert command_line.main(words.split()) == 0
    answered = list(csv.reader(io.StringIO(predict_table(load(tmp_path / "run"), str(tmp_path / "twice.csv")))))[1:]
    assert np.mean([row[2] == row[3] for row in answered]) > 0.9


def test_a_network_with_one_input_answers_a_table_of_one_column(tmp_path):
    (tmp_path / "line.csv").write_text("x,y\n" + "".join(f"{i / 7},{i / 3}\n" for i in range(40)))
    words = f"--data csv:{tmp_path / 'line.csv'} --hidden 4 --epochs 2 --quiet --out {tmp_path / 'run'}"
    assert command_line.main(words.split()) == 0
    (tmp_path / "new.csv").write_text("x\n1\n2\n")
    assert len(predict_table(load(tmp_path / "run"), str(tmp_path / "new.csv")).splitlines()) == 3
    (tmp_path / "new.csv").write_text("1\n2\n")
    with pytest.raises(DataError, match=r"no column 'x', .*: add it, or begin the file with a row of column names"):
        predict_table(load(tmp_path / "run"), str(tmp_path / "new.csv"))


def test_what_cannot_be_answered_gets_a_sentence(run, tmp_path, capsys):
    (tmp_path / "lacking.csv").write_text("size,colour\n1,red\n2,red\n")
    for name, said in (
        ("lacking", "has no column 'price'"),
        ("none", "cannot be"),
    ):
        assert command_line.main(["predict", str(run), str(tmp_path / f"{name}.csv")]) == 2
        assert said in capsys.readouterr().err
    with pytest.raises(DataError, match="samples of 4 numbers"):
        load(run).predict([[1, 2]])
    RunFolder.create(tmp_path / "empty", Config())
    with pytest.raises(RunError, match="no complete epoch"):
        load(tmp_path / "empty")


def test_a_first_row_of_decimal_commas_is_no_header(tmp_path):
    (tmp_path / "new.csv").write_text("0,5;1,0\n1,5;2,0\n")
    header, given, inputs = inputs_of_file(str(tmp_path / "new.csv"), (Cell("column 1"), Cell("column 2")))
    assert (header, given) == (["column 1", "column 2"], [["0,5", "1,0"], ["1,5", "2,0"]])
    assert inputs.tolist() == [[0.5, 1.0], [1.5, 2.0]]


def test_a_regression_answers_in_the_units_of_its_target(tmp_path):
    rows = "".join(f"{i / 50},{1e6 * i / 50 + 3e6}\n" for i in range(100))
    (tmp_path / "line.csv").write_text(f"x,y\n{rows}")
    words = f"--data csv:{tmp_path / 'line.csv'} --hidden 16 --epochs 60 --lr 0.02 --quiet --out {tmp_path / 'run'}"
    assert command_line.main(words.split()) == 0
    model = load(tmp_path / "run")
    assert model.predict([[1.0]]) == pytest.approx([4e6], rel=0.05)
    with pytest.raises(DataError, match="not probabilities"):
        model.probabilities([[1.0]])


@pytest.mark.parametrize("words", ["--data digits --hidden 16", "--data circles --hidden --features x2 y2"])
def test_it_is_the_network_of_the_best_epoch(tmp_path, words):
    out = tmp_path / "run"
    assert command_line.main([*words.split(), "--lr", "0.02", "--epochs", "4", "--quiet", "--out", str(out)]) == 0
    model, data = load(out), load_dataset(RunFolder(out).config())
    answers = model.predict(data.val_x * data.scale + data.mean)
    right = np.mean(answers == np.array(data.classes)[data.val_y])
    assert right == max(record["val_accuracy"] for record in RunFolder(out).records())
