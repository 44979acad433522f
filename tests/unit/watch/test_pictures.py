"""The stories of docs/watch.md: what it says of its pictures is what their programs do."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("torch")

from docs.watch_pictures import graph_kept_by, run

ROOT = Path(__file__).parents[3]
STORIES = (ROOT / "docs" / "watch.md").read_text("utf-8")


def test_the_nan_comes_at_the_step_that_the_story_names():
    gaps = run("nan_at_step_400.py", after_step=lambda now: float((1 - now["p"]).min().detach()))
    assert f"## A nan at step {gaps.index(0.0) + 1}\n" in STORIES


@pytest.mark.filterwarnings("ignore")
def test_memory_grows_by_what_the_story_says():
    kept = run("running_total.py", after_step=lambda now: graph_kept_by(now["total"]))
    (growth,) = {after - before for before, after in pairwise(kept[1:])}
    assert f"{growth} more each step" in STORIES
    cured = run("running_total.py", "+= loss", "+= loss.item()", after_step=lambda now: graph_kept_by(now["total"]))
    assert set(cured) == {0}


def test_each_picture_stands_in_the_docs():
    for name in ("none", "nan", "memory"):
        assert f"(watch-{name}.svg)" in STORIES
        assert (Path(__file__).parents[3] / "docs" / f"watch-{name}.svg").exists()


@pytest.mark.parametrize("story", re.findall(r"^    \$ python -m lab\.watch (.*)\n((?:    .*\n)+)", STORIES, re.M))
def test_each_command_prints_what_its_story_shows(story, watched_script):
    arguments, shown = story
    assert watched_script(*arguments.split()) == re.sub("^    ", "", shown, flags=re.M)
