"""`train.py report`: on real runs, made here; what it must not do is believe the texts that it finds in them."""

import base64
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import train
from lab.training import summary
from lab.training.summary import _scale

SMALL = ["--data", "moons", "--hidden", "6", "--epochs", "3", "--batch-size", "200", "--quiet"]
PNG = b"\x89PNG"


class Page(HTMLParser):
    """The tables, as lists of lists of texts, the pictures, the elements of a page, and the frames around wide ones."""

    def __init__(self, html):
        super().__init__()
        self.tables, self.images, self.tags, self.text = [], [], set(), ""
        self.in_cell = False
        self.parents, self.frames = [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag in ("table", "img"):
            self.frames.append(self.parents[-1][1])
        if tag not in ("img", "meta"):
            self.parents.append((tag, dict(attributes)))
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self.in_cell = True
        elif tag == "img":
            self.images.append(dict(attributes))

    def handle_endtag(self, tag):
        self.in_cell = self.in_cell and tag not in ("td", "th")
        assert self.parents.pop()[0] == tag

    def handle_data(self, data):
        self.text += data
        if self.in_cell:
            self.tables[-1][-1][-1] += data


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(capsys, *arguments):
    code = train.main([str(argument) for argument in arguments])
    return code, *capsys.readouterr()


def test_runs_are_compared_in_one_file_that_needs_no_other(here, capsys):
    call(capsys, *SMALL, "--lr", "0.05", "--out", "good")
    call(capsys, *SMALL, "--lr", "0.0001", "--init", "zeros", "--patience", "1", "--out", "poor")
    Path("good/summary.png").unlink()
    code, out, err = call(capsys, "report", "poor", "good")
    assert (code, out, err) == (0, "report of 2 runs in report.html\n", "")
    assert Path("good/summary.png").read_bytes().startswith(PNG)
    html = Path("report.html").read_text()
    page = Page(html)
    results, differences, common, *epochs = page.tables
    assert [row[0] for row in results[1:]] == ["good", "poor"]
    assert results[2][-1] == "stopped early"
    best = np.max([float(row[4]) for row in epochs[0][1:]])
    assert float(results[1][1].rstrip("%")) / 100 == pytest.approx(best, abs=1e-4)
    assert set(differences[0]) == {"run", "lr", "init", "patience"}
    assert dict(zip(differences[0], differences[1], strict=True)) == {
        "run": "good",
        "lr": "0.05",
        "init": "he",
        "patience": "none",
    }
    assert ["data", "moons"] in common
    assert len(epochs[0]) == 1 + 3
    assert len(page.images) == 3
    for image in page.images:
        kind, picture = image["src"].split(",")
        assert kind == "data:image/png;base64"
        assert base64.b64decode(picture).startswith(PNG)
        assert image["alt"]
    assert len(page.frames) == len(page.tables) + len(page.images)
    for frame in page.frames:  # on a phone it scrolls, also with the keyboard, and has a name
        assert (frame["class"], frame["tabindex"], frame["role"]) == ("wide", "0", "group")
        assert frame["aria-label"]
    assert page.parents == []
    assert not re.search(r"https?:|<script|<link|@import|url\(", html)
    assert "What the doctor says" in page.text


@pytest.mark.usefixtures("pictures_once")
def test_a_sweep_is_reported_as_its_runs(here, capsys):
    for rate in ("0.1", "0.2"):
        call(capsys, *SMALL, "--lr", rate, "--out", f"sweep/lr={rate}")
    assert call(capsys, "report", "sweep", "--out", "page.html")[0] == 0
    page = Page(Path("page.html").read_text())
    assert sorted(row[0] for row in page.tables[0][1:]) == ["sweep/lr=0.1", "sweep/lr=0.2"]
    assert page.tables[1][0] == ["run", "lr"]


@pytest.mark.usefixtures("pictures_once")
def test_the_results_of_a_regression_are_its_r_squared(here, capsys):
    said = call(capsys, "--data", "sine", "--samples", 60, "--hidden", 8, "--lr", 0.02, "--epochs", 9, "--out", "wave")[
        1
    ]
    assert call(capsys, "report", "wave", "--out", "page.html")[0] == 0
    head, row = Page(Path("page.html").read_text()).tables[0]
    best = row[head.index("best validation accuracy")]
    assert best.startswith("R² ")
    assert f"best validation {best} in epoch" in said
    assert row[head.index("training accuracy")].startswith("R² ")


def test_texts_from_runs_are_only_texts(here, capsys):
    name = "<img src=x onerror=alert(1)> $x_ & co"
    Path("a<b>.csv").write_text("".join(f"{n},{n % 2}\n" for n in range(40)))
    call(capsys, "--data", "csv:a<b>.csv", "--epochs", 1, "--out", name)
    assert call(capsys, "report", name)[0] == 0
    page = Page(Path("report.html").read_text())
    assert page.tables[0][1][0] == name
    assert ["data", "csv:a<b>.csv"] in page.tables[1]
    assert "b" not in page.tags
    assert len(page.images) == 1


def test_a_loss_that_hardly_moves_is_drawn_as_one():
    panel = Figure().subplots()
    panel.plot([0.69317, 0.69315, 0.69316])
    _scale(panel)
    low, high = panel.get_ylim()
    assert high - low > 0.05
    panel.figure.draw_without_rendering()
    assert panel.yaxis.get_offset_text().get_text() == ""  # no "1e-5+6.931e-1" across the legend
    assert {label.get_text() for label in panel.get_yticklabels()} >= {"0.68", "0.7"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A run, one with metrics that are not those of a run, and one that has not completed an epoch."""
    folder = tmp_path_factory.mktemp("folders")
    assert train.main([*SMALL, "--out", str(folder / "r")]) == 0
    for name in ("broken", "new"):
        shutil.copytree(folder / "r", folder / name)
    (folder / "broken" / "metrics.jsonl").write_text("{}\n")
    (folder / "new" / "metrics.jsonl").unlink()
    return folder


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["report"], "required: RUN; python train.py report --help"),
        (["report", "nowhere"], "no run in 'nowhere'"),
        (["report", "n" * 300], "There is no run in"),
        (["report", "r", "broken"], "metrics.jsonl in 'broken' is damaged"),
        (["report", "new"], "has no complete epoch yet"),
        (["report", "r", "--out", "none/report.html"], "could not be written"),
    ],
)
def test_what_cannot_be_reported_is_one_line(folders, monkeypatch, capsys, flags, words):
    monkeypatch.chdir(folders)
    code, out, err = call(capsys, *flags)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert words in err
    assert not Path("report.html").exists()


def test_nothing_is_called_validation_where_nothing_was_held_out(here, capsys, monkeypatch):
    drawn = []

    def kept(figure):
        drawn.append([text for axes in figure.axes for text in axes.get_legend_handles_labels()[1]])
        return right(figure)

    right = summary._png
    monkeypatch.setattr(summary, "_png", kept)
    call(capsys, *SMALL, "--val-fraction", "0", "--out", "all")
    call(capsys, *SMALL, "--out", "some")
    assert call(capsys, "report", "all", "some", "--out", "r.html")[0] == 0
    of_all, of_some, *_ = drawn
    assert "training (nothing held out)" in of_all
    assert "validation" not in of_all
    assert "validation" in of_some
    page = Page(Path("r.html").read_text())
    results = {row[0]: row[1:4] for row in page.tables[0]}
    assert results["all"][:2] == ["nothing held out"] * 2
    assert results["all"][2].endswith("%")
    assert results["some"][0].endswith("%")
    assert sorted(len(table[0]) for table in page.tables if table[0][0] == "epoch") == [3, 5]
