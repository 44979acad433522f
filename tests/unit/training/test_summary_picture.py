"""The picture of a run, as the command line draws it."""

from matplotlib.figure import Figure

from lab.training.cli import main
from lab.training.summary_picture import _scale

SMALL = ["--data", "moons", "--hidden", "6", "--epochs", "3", "--batch-size", "200", "--quiet"]


def test_a_loss_that_hardly_moves_is_drawn_as_one():
    panel = Figure().subplots()
    panel.plot([0.69317, 0.69315, 0.69316])
    _scale(panel)
    low, high = panel.get_ylim()
    assert high - low > 0.05
    panel.figure.draw_without_rendering()
    assert panel.yaxis.get_offset_text().get_text() == ""  # no "1e-5+6.931e-1" across the legend
    assert {label.get_text() for label in panel.get_yticklabels()} >= {"0.68", "0.7"}


def test_nothing_is_called_validation_where_nothing_was_held_out(tmp_path, monkeypatch):
    drawn = []

    def kept(figure, *file, **form):
        drawn.append([text for axes in figure.axes for text in axes.get_legend_handles_labels()[1]])
        return right(figure, *file, **form)

    right = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", kept)
    assert main([*SMALL, "--val-fraction", "0", "--out", str(tmp_path / "all")]) == 0
    assert main([*SMALL, "--out", str(tmp_path / "some")]) == 0
    of_all, of_some = drawn
    assert "training (nothing held out)" in of_all
    assert "validation" not in of_all
    assert "validation" in of_some
