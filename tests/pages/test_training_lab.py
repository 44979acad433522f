"""The Training lab's controls, one by one, without a browser. A timer never fires here: each run of the page is a tick.

What a run, the doctor, a remedy, a table or a shelf does is tested in tests/unit/training: here, that the page has it.
"""

import itertools
import json
import math
import shlex
import subprocess
import sys
import time
from dataclasses import replace
from unittest.mock import Mock, patch

import numpy as np
import pytest

from lab.text import short
from lab.training import cli, points
from lab.training.config import Config
from lab.training.doctor import diagnose
from lab.training.fair_queue import FairQueue
from lab.training.lessons import FIRST, LESSONS
from lab.training.live import LiveRun
from lab.training.predictions import answers
from lab.training.trial import can_be_tried
from lab.training.worker import MAX_PROCESSES, Worker
from pages.parts.training import one_input, upload
from pages.parts.training import shelf as shelf_part
from pages.parts.training.instruments import PANEL, View
from pages.parts.training.settings import change_network
from tests.pages.conftest import ROOT, address, app, kinds, run, switch, texts
from train import train

# ---------------------------------------------------------------- what the tests share


@pytest.fixture
def at():
    at = new()
    yield at
    if "training worker" in at.session_state:
        at.session_state["training worker"].pause()


def new():
    at = app("pages/training_lab.py")
    open_popovers(at)
    return at


def open_popovers(at):
    at.session_state["training settings"] = at.session_state["training view"] = True


def click(at, key):
    at.button(key=f"training {key}").click().run()
    assert not at.exception


def put(at, **state):
    """Set what the browser would say of these, without their common prefix."""
    for name, value in state.items():
        held = f"training-{name}"
        at.session_state[held if held in at.session_state else f"training {name.replace('_', ' ')}"] = value
    return run(at)


def choose(at, name, value):
    """Choose a setting of the network or of its training."""
    lessons = at.menu_button(key="training lesson")
    (lessons if name == "lesson" else at.selectbox(key=f"training-{name}")).set_value(value).run()
    assert not at.exception


def hidden(at, text):
    at.text_input(key="training-hidden").set_value(text).run()
    assert not at.exception


def group(at, key):
    return next((group for group in at.get("button_group") if group.key == key), None)


def live(at):
    return at.session_state["training worker"].run


def shelf(at):
    return at.session_state["training shelf"]


def shown(at):
    """What the charts of the page were told to show."""
    return json.loads(find(at.main, "feed-training").children[0].value)


def chart(at, key):
    return shown(at)[key]["spec"]


def find(block, key):
    """The container with a key, at any depth; None if there is none."""
    for child in block.children.values():
        if getattr(child, "key", None) == key:
            return child
        found = find(child, key) if hasattr(child, "children") else None
        if found:
            return found
    return None


def tick(at, *names):
    """Tick these runs in the table of the shelf, and no others."""
    put(at, shelf_open=True)
    listed = at.dataframe[0].value["run"].tolist()
    key, _ = at.session_state["training shelf table"]
    at.session_state[key] = {"selection": {"rows": [listed.index(name) for name in names], "columns": [], "cells": []}}
    run(at)


TABLE = b"a,b,class\n" + b"".join(f"{i / 10},{i % 3},{int(i > 20)}\n".encode() for i in range(40))


def upload_table(at, name="mine.csv", content=TABLE):
    at.get("file_uploader")[0].set_value((name, content, "text/csv")).run()
    assert not at.exception


def line_series(at, key, name):
    return next(s for s in chart(at, key)["series"] if s.get("name") == name)


def line(at, key, name):
    return line_series(at, key, name)["data"]


def heading(at, title):
    charts = [entry for key, entry in shown(at).items() if key != "tables" and "spec" in entry]
    return next((f"{entry['title']} {entry['note']}".strip() for entry in charts if entry["title"] == title), "")


def network(at):
    return shown(at)["network"]


def progress(at):
    return shown(at)["progress"]["text"]


def command(at):
    put(at, tab="Command line")
    return next(c.value for c in at.code if c.value.startswith("python train.py"))


def boxes(at):
    return " ".join(box.value for box in [*at.success, *at.info, *at.warning])


def run_to_the_end(at):
    """In the training process, as a visitor sees it."""
    put(at, speed=math.inf)
    click(at, "toggle")
    finish(at)


def finish(at):
    """Let the run that is under way come to its end: what the page shows meanwhile is not looked at."""
    worker = at.session_state["training worker"]

    def over():
        worker.watch(worker._turn)
        return worker.run.done

    wait_until(over)
    tick_until(at, lambda: not at.session_state["training running"])


def train_epochs(at, epochs=None):
    """Bring a run that stands still so many epochs on, or to its end, in this process, and show it."""
    live(at).advance(epochs and epochs * live(at).trainer.steps_per_epoch)
    return run(at)


def wait_until(condition, pause=0.05):
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(pause)  # the training process needs a processor, too


def tick_until(at, condition, pause=0.05):
    def ticked():
        run(at)
        return condition()

    if not condition():
        wait_until(ticked, pause)


def start(at):
    """Press Start or Continue, and wait for a batch. At 10 batches/s no run ends while the page is slow."""
    before = live(at).batches
    click(at, "toggle")
    tick_until(at, lambda: live(at).batches > before)


# ---------------------------------------------------------------- the buttons of the run


def test_start_pause_continue_step_and_reset(at):
    run(at, epochs="300", speed="10")
    assert at.title[0].value == "Training lab"
    assert at.button(key="training toggle").label == "Start"
    watch = "how far training and validation drift apart."
    assert f"Press **Start**, and watch {watch}" in [caption.value for caption in at.caption]
    initial = live(at).trainer.weights()
    for batch in (1, 2):
        click(at, "step")
        assert live(at).batches == batch
    assert f"batch 2 of {live(at).trainer.steps_per_epoch}" in progress(at)
    start(at)
    assert at.button(key="training toggle").label == "Pause"
    assert f"Watch {watch}" in [caption.value for caption in at.caption]
    click(at, "toggle")
    assert at.button(key="training toggle").label == "Continue"
    count = live(at).batches
    assert live(run(at)).batches == count
    start(at)
    click(at, "step")
    assert not at.session_state["training running"]
    start(at)
    click(at, "reset")
    assert (live(at).trainer.weights() == initial).all()
    assert not live(at).batches
    assert not at.session_state["training running"]
    assert at.button(key="training toggle").label == "Start"


def test_what_a_fragment_draws_during_training_is_its_own(at):
    """Streamlit puts what it draws elsewhere into transparent blocks, and raises an error if a newer run of the page
    has taken them away meanwhile."""
    start(run(at, epochs="300", speed="10"))
    assert "flex_container" in kinds(at.main)
    assert "transparent" not in kinds(at.main)


def test_a_run_on_the_page_is_that_of_the_command_line_and_can_be_looked_back_at_rewound_and_repeated(at):
    run(at, data="blobs", hidden="6", epochs="4", lr="0.01")
    assert shown(at)["progress"]["cursor"] is None
    run_to_the_end(at)
    expected = list(train(Config(data="blobs", hidden=(6,), epochs=4, lr=0.01)))
    assert line(at, "loss", "validation")[1:] == [record["val_loss"] for record in expected]
    assert line(at, "gradients", "layer 2")[1:] == [r["grad_norm"]["layer2"] for r in expected]
    assert "Epoch 4 of 4, loss of the last batch" in progress(at)  # the doctor's is that of all samples
    assert at.button(key="training toggle").disabled
    assert at.button(key="training step").disabled
    full = {"reached": 4, "epochs": 4, "cursor": None, "text": "", "trained": "4"}
    assert shown(at)["progress"] | {"text": ""} == full
    put(at, panel="Accuracy")
    accuracy = shown(at)["accuracy"]
    assert accuracy["headers"] == ["epoch", "training", "validation", "gap in points"]
    assert [row[0] for row in accuracy["rows"]] == ["0", "1", "2", "3", "4"]
    assert accuracy["rows"][-1][2] == f"{live(at).history[-1]['val_accuracy']:.1%}"

    before = line(at, "loss", "validation")
    assert heading(at, "Decision boundary") == "Decision boundary validation samples"
    for epoch in (0, 2):
        put(at, cursor=epoch)
        assert f"epoch {epoch}" in heading(at, "Decision boundary")
    assert "2" in [mark["xAxis"] for mark in line_series(at, "loss", "validation")["markLine"]["data"]]
    assert shown(at)["progress"]["cursor"] == 2
    assert address(at)["epoch"] == "2"
    drawn = np.array(network(at)["wires"][0])
    np.testing.assert_allclose(drawn, live(at).network(2).layers[0].weight.numpy(), atol=1e-3)
    put(at, cursor=4)
    assert line(at, "loss", "validation") == before


def test_the_picture_moves_as_the_page_answers_to_the_press_and_the_speed_counts_from_then_on(at):
    """It stood still until the page asked again, half a second later."""
    run(at)
    put(at, speed=10)
    asked, rates = [], []

    def watch(worker, _turn):
        asked.append(worker)
        rates.append(worker.rate)
        if len(asked) > 1:  # after the first there is nothing yet
            worker.run.advance()

    with patch.object(Worker, "watch", watch):
        click(at, "toggle")
    assert "batch 1 of" in progress(at)
    assert set(rates) == {10}


def test_a_training_without_a_place_says_that_it_waits_and_for_how_many(at):
    run(at, epochs="300", speed="30")
    worker = at.session_state["training worker"]
    worker._places = places = FairQueue(1)
    places.ask("of somebody else", "somebody else", 1000)
    click(at, "toggle")
    waits = f"Waiting: this server trains {MAX_PROCESSES} runs at once, and 1 must end before this goes on"
    assert waits in progress(at)
    assert live(at).batches == 0
    places.release("of somebody else")
    tick_until(at, lambda: live(at).batches > 0)
    assert "Waiting" not in progress(at)


def test_another_seed_before_the_first_epoch_is_complete_begins_a_new_run(at):
    run(at, speed="10", batch_size="1")  # an epoch lasts longer than the slowest test
    start(at)
    before = at.session_state["training worker"]
    at.number_input(key="training-seed").set_value(1).run()
    assert not at.exception
    assert live(at).config.seed == 1
    tick_until(at, lambda: live(at).batches)  # it goes on: the instruments answer at once
    assert not before.training


def test_the_axis_of_the_loss_becomes_logarithmic_while_it_trains():
    run = LiveRun(replace(FIRST, epochs=30))
    view = View(run, 30, None, "weights", "validation")
    assert not view.log
    run.advance(None)
    assert view.log  # the same view: a fragment has no other
    spiked = LiveRun(replace(LESSONS["A layer dies"].config, epochs=2))
    spiked.advance(None)
    assert View(spiked, 2, None, "weights", "validation").log  # its first batches are far above its epochs


def test_a_link_to_an_epoch_trains_up_to_it_and_shows_it(at):
    run(at, data="blobs", hidden="6", epochs="8", epoch="3")
    finish(at)
    assert len(live(at).records) == 8
    assert "epoch 3" in heading(at, "Decision boundary")


# ---------------------------------------------------------------- settings


def test_a_mistake_gets_a_sentence_and_nothing_is_lost(at):
    run(at)
    click(at, "step")
    before = live(at)
    for text in ("8 -3", "eight", "3.5", "8 8 8 8 8 8 8", "100000", "8" * 400, "²"):
        hidden(at, text)
        assert len(at.error) == 1, text
        assert "--" not in at.error[0].value
        assert live(at) is before
        assert not any("Press **" in text.value for text in (*at.caption, *at.markdown))  # Start cannot be pressed
        assert at.button(key="training toggle").disabled
        assert at.button(key="training step").disabled
    assert "write for example 64 32" in at.error[0].value
    hidden(at, "8 8")
    assert not at.error
    assert any("Press **Continue**" in text.value for text in (*at.caption, *at.markdown))
    assert live(at) is before


@pytest.mark.sample(2)
@pytest.mark.parametrize("data", ["moons", "circles", "spirals", "xor", "blobs", "digits"])
def test_every_dataset_trains_and_every_tab_opens_before_and_after_it(at, data):
    run(at, data=data, epochs="1", hidden="8")
    for trained in (False, True):
        if trained:
            train_epochs(at)
        for tab in ("Histograms over the epochs", "Command line"):
            put(at, tab=tab)
        for tab, key in PANEL.items():
            if tab != "R²":  # which is of regressions
                put(at, panel=tab)
                assert key in shown(at)
    assert bool(heading(at, "Decision boundary")) == (data != "digits")
    assert bool(heading(at, "Samples and answers, mistakes first")) == (data == "digits")


def test_of_digits_the_first_layer_is_seen_as_images_and_mistakes_and_drawn_digits_can_be_seen(at):
    run(at, data="digits", hidden="8 12", epochs="6", lr="0.01")
    inputs, first, second, _ = network(at)["columns"]
    assert "inputs 64, layer 1 8, layer 2 12" in network(at)["label"]
    assert inputs["tiles"][0]["word"] == "64"
    assert first["side"] == 8
    assert len(first["tiles"][0]["map"]) == 64
    assert second["tiles"][11] | {"map": ""} == second["tiles"][11]
    assert [np.shape(wires) for wires in network(at)["wires"]] == [(1, 8), (8, 1), (1, 1)]
    train_epochs(at)
    wrong = ["✗" in item["label"]["formatter"] for item in chart(at, "samples")["series"][1]["data"]]
    assert wrong == sorted(wrong, reverse=True)  # the mistakes stand first
    assert any(wrong)
    put(at, pad=True)
    one = "".join("1" if 13 <= i % 32 < 19 and 2 <= i // 32 < 30 else "0" for i in range(1024))
    put(at, pad_0={"ink": one})
    assert any("takes it for **1**" in m.value for m in at.markdown)
    for hostile in ("1" * 5, 7, None, {"x": 1}, "2" * 1024):
        put(at, pad_0={"ink": hostile})


def test_a_regression_shows_its_curve_and_has_no_accuracy(at):
    run(at, data="sine", hidden="32 32", activation="tanh", lr="0.01", epochs="25", schedule="cosine")
    assert heading(at, "The curve that the network has learned")
    train_epochs(at)
    data = live(at).trainer.dataset
    samples, curve = chart(at, "plane")["series"]
    assert len(samples["data"]) == len(data.val_x)
    x, y = np.array(curve["data"]).T
    found = answers(live(at).network(), ((x[:, None] - data.mean) / data.scale).astype(np.float32))
    np.testing.assert_allclose(y, data.in_units(found), atol=1e-3)
    best = max(1 - r["val_loss"] / r["origin"]["baseline_val_loss"] for r in live(at).records)
    assert "validation R² 0.9" in boxes(at)
    assert "ccuracy" not in boxes(at)
    for tab in ("R²", "Norms and updates", "Lost units"):
        put(at, panel=tab)
        assert PANEL[tab] in shown(at)
    assert line(at, "loss", "validation")[1:] == [record["val_loss"] for record in live(at).records]
    put(at, panel="Accuracy")
    assert "accuracy" not in shown(at)
    put(at, probe_open=True)
    hidden(at, "4")
    data = live(at).trainer.dataset
    label, target = short(data.train_y[0]), short(data.in_units(data.train_y[0]), 6)
    assert f"should give {label}, which stands for {target}: the target is standardised" in texts(at.markdown)
    tick(at, "sine 32-32 adam 0.01")
    assert any(f"best validation R² {best:.3f}" in m.value for m in at.markdown)


SAMPLES = {  # which are drawn -> address
    "validation samples": {"data": "moons"},
    "training samples": {"data": "sine", "part": "training", "samples": "100"},
    "all samples": {"data": "points"},
}


@pytest.mark.parametrize("which", SAMPLES)
def test_the_picture_says_which_samples_it_shows(at, which):
    run(at, **SAMPLES[which])
    assert shown(at)["plane"]["note"] == which
    data, at_hand = live(at).trainer.dataset, {"training samples": "train_x", "validation samples": "val_x"}
    parts = [getattr(data, at_hand[which])] if which in at_hand else [data.train_x, data.val_x]
    drawn = [line for line in chart(at, "plane")["series"] if line["type"] == "scatter"]
    assert sum(len(line["data"]) for line in drawn) == sum(map(len, parts))


def test_of_a_regression_on_two_columns_no_axis_is_called_by_a_column(at):
    run(at, data="table", hidden="3")
    rows = "".join(f"{i * 13 % 17},{i % 7},{i**1.5:.2f}\n" for i in range(40))
    upload_table(at, content=f"a,b,goal\n{rows}".encode())
    assert heading(at, "Answers against targets") == "Answers against targets validation samples"


def test_the_address_restores_the_settings_and_carries_them_and_the_command_is_the_same_run(at):
    numbers = {"lr": 0.02, "batch_size": 50, "seed": 7, "epochs": 33, "weight_decay": 0.02, "l1": 0.003, "samples": 300}
    numbers |= {"noise": 0.4, "warmup": 2, "clip": 0.5, "patience": 3}
    words = {"data": "xor", "activation": "tanh", "schedule": "cosine"}
    run(at, hidden="12 5", part="training", **words, **numbers)
    assert live(at).config == Config(hidden=(12, 5), **words, **numbers)
    assert not at.info
    data = live(at).trainer.dataset
    assert len(data.train_x) + len(data.val_x) == 300
    assert "noise 0.4" in data.notes[0]
    assert at.selectbox(key="training-l1").value == 0.003
    assert at.number_input(key="training-patience").value == 3
    assert at.session_state["training-part"] == address(at)["part"] == "training"
    assert command(at) == (
        "python train.py --data xor --noise 0.4 --samples 300 --hidden 12 5 --activation tanh --lr 0.02 "
        "--schedule cosine --warmup 2 --weight-decay 0.02 --l1 0.003 --clip 0.5 --batch-size 50 --epochs 33 "
        "--patience 3 --seed 7"
    )
    hidden(at, "12, 4")
    assert address(at)["hidden"] == "12, 4"
    assert live(at).config.hidden == (12, 4)
    choose(at, "noise", 0.0)
    assert live(at).config.noise == 0
    assert address(at)["noise"] == "0"
    choose(at, "data", "digits")
    assert (live(at).config.noise, live(at).config.samples) == (None, None)
    choose(at, "data", "circles")
    assert live(at).config.samples == 300
    put(at, samples=None)  # the left end
    assert live(at).config.samples is None
    assert len(live(at).trainer.dataset.train_x) == 800


def test_momentum_belongs_to_sgd(at):
    run(at, optimizer="sgd", momentum="0.9")
    assert live(at).config.momentum == 0.9
    choose(at, "optimizer", "adam")
    assert live(at).config.momentum == 0
    assert not [box for box in at.selectbox if box.label == "Momentum"]


BAD = {
    "data": ["mnist", "csv:/etc/passwd"], "hidden": ["9999", "a"], "lr": ["nan", "-1", "1e999"],
    "clip": ["0", "nan"], "patience": ["-1"], "schedule": ["up"], "epochs": ["100000", "0"], "batch_size": ["0"],
    "seed": ["-1", "x"], "init": ["random"], "activation": ["__class__"], "optimizer": [""], "momentum": ["1"],
    "val_fraction": ["1", "-0.1"], "noise": ["-1", "nan", "99"], "samples": ["3", "1e3", "1000000"],
    "epoch": ["61", "-1", "2.5"], "points": ["0,0,A;9,9,B"],
}  # read by rows  # fmt: skip


@pytest.mark.parametrize("turn", range(3))
def test_what_does_not_fit_in_an_address_is_left_out(at, turn):
    run(at, **{name: values[turn] for name, values in BAD.items() if turn < len(values)})
    assert live(at).config == FIRST
    assert not at.session_state["training running"]


@pytest.mark.parametrize("address", [{"epochs": "5", "warmup": "5"}, {"warmup": "70"}])
def test_instead_of_settings_that_do_not_fit_together_the_usual_ones_are_used(at, address):
    run(at, **address)
    assert live(at).config == FIRST


def test_how_a_run_has_ended_is_said(at):
    run(at, data="moons", hidden="8", lr="0.05", patience="3")
    train_epochs(at)
    assert len(live(at).records) < 60
    assert "Stopped early" in progress(at)
    at = run(new(), optimizer="sgd", lr="100", init="normal", activation="softplus", hidden="64 64 64", epochs="50")
    train_epochs(at)
    assert live(at).trainer.diverged
    assert "no longer a number" in at.warning[0].value


@pytest.mark.sample(1)
@pytest.mark.parametrize(("data", "panel"), [("moons", "accuracy"), ("sine", "explained"), ("blobs", "confusion")])
def test_nothing_need_be_held_out_and_then_nothing_is_called_validation(at, data, panel):
    run(at, data=data, hidden="8", lr="0.03", epochs="20", val_fraction="0", samples="40")
    assert not at.info  # of what the address says, nothing was ignored
    assert at.selectbox(key="training-val_fraction").value == 0
    (said,) = (caption.value for caption in at.caption if "No samples are held out" in caption.value)
    for word in ("no gap", "doctor", "best epoch"):
        assert word in said
    train_epochs(at)
    put(at, panel=next(title for title, key in PANEL.items() if key == panel))
    for key, told in shown(at).items():
        assert "alidation" not in json.dumps(told), key
    assert "alidation" not in texts([*at.markdown, *at.success, *at.warning, *at.info])
    loss = shown(at)["loss"]
    assert loss["note"].startswith("band: loss of each batch")
    assert loss["headers"] == ["epoch", "training loss"]
    assert loss["rows"][-1] == ["20", short(live(at).history[-1]["train_loss"])]
    best = "best loss" if live(at).history[-1]["train_accuracy"] is None else "best accuracy"
    assert [part["name"] for part in line_series(at, "loss", "training")["markLine"]["data"]] == [best]
    assert address(at)["val_fraction"] == "0"
    before = live(at)
    choose(at, "val_fraction", 0.2)
    assert [one.config.val_fraction for one in (before, live(at))] == [0, 0.2]
    assert not any("No samples are held out" in caption.value for caption in at.caption)
    tick(at, shelf(at)[0].name)
    assert "best training " in texts(at.markdown)
    assert any(line["name"].endswith("(training)") for line in chart(at, "loss")["series"] if "name" in line)


# ---------------------------------------------------------------- lessons, the doctor, pictures


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("lesson", "verdict", "failures"),
    [("All weights zero", "flat", [16]), ("Rate too high", "rate-high", [17]), ("A healthy run", "healthy", []), ("Overfitting", "overfitting", [])],
)  # fmt: skip
def test_a_lesson_shows_what_its_name_says(at, one_seed, lesson, verdict, failures):
    """That the remedies help is seen in tests/unit/training/test_doctor.py."""
    run(at)
    choose(at, "lesson", lesson)
    assert at.menu_button(key="training lesson").label == lesson
    train_epochs(at)
    finding = diagnose(live(at).records, live(at).config)[0]
    assert finding.key == verdict
    assert finding.name in boxes(at)
    assert finding.remedy in boxes(at)
    if verdict == "healthy":
        assert not remedies(at)
        return
    ways = [box.value for box in at.markdown if box.value.endswith(": cause and fix")]
    assert ways == [f"Failure {number}: cause and fix" for number in failures]
    before, began = live(at), at.session_state["entry"]
    if can_be_tried(finding):
        try_the_remedy(at)
    (button,) = remedies(at)
    button.click().run()
    assert not at.exception
    assert live(at).config == replace(before.config, **finding.settings)
    assert at.session_state["entry"] != began  # the browser's Back undoes it
    assert not remedies(at)


@pytest.fixture
def one_seed(monkeypatch):
    """A remedy is tried with one pair of runs: each run is a process of its own. Only one test looks at all three."""
    monkeypatch.setattr("lab.training.trial.SEEDS", 1)


def tries(at):
    """The buttons that try a remedy."""
    return [button for button in at.button if button.key and button.key.startswith("training try ")]


def remedies(at):
    """The buttons under the doctor's word."""
    return [button for button in at.button if button.key and button.key.startswith("training remedy ")]


def try_the_remedy(at):
    (button,) = tries(at)
    button.click().run()
    tick_until(at, lambda: at.session_state["training trial"].done, pause=0.5)
    at.run()


STUCK = {"data": "moons", "samples": "200", "hidden": "16", "init": "zeros", "epochs": "25"}


def test_a_remedy_is_tried_side_by_side_and_only_then_shown(at):
    run(at, **STUCK)
    train_epochs(at)
    assert "(suspected)" in boxes(at)
    assert not remedies(at)  # no advice that was not tried
    (button,) = tries(at)
    assert button.label == "Try initial weights he"
    button.click().run()
    tick_until(at, lambda: at.session_state["training trial"].pair == 2)
    assert any("pair 2 of 3" in caption.value for caption in at.caption)
    tick_until(at, lambda: at.session_state["training trial"].done, pause=0.5)
    at.run()
    assert "(shown). Tried initial weights he: **cured**: validation loss" in boxes(at)
    assert "seeds 0, 1, 2, 25 epochs each" in boxes(at)
    (button,) = remedies(at)
    assert button.label == "Set initial weights to he"


def test_a_remedy_that_does_not_help_is_withdrawn_and_the_next_is_offered(at, one_seed):
    run(at, **STUCK)
    train_epochs(at)
    with patch("lab.training.trial.HELPFUL", ()):
        try_the_remedy(at)
        assert "(suspected)" in boxes(at)
        assert "Its remedy did not help" in boxes(at)
        assert "Start from random weights" not in boxes(at)
        assert all(button.label != "Try initial weights he" for button in tries(at))


def test_advice_that_cannot_be_tried_says_so_and_what_it_sets_in_the_words_of_the_settings(at):
    run(at, data="xor", hidden="64 64", epochs="60", lr="0.03", noise="0.3", samples="100")
    train_epochs(at)
    assert not tries(at)
    assert "It cannot be tried side by side: the samples change." in boxes(at)
    before = live(at)
    (button,) = remedies(at)
    assert button.label == "Set samples to 1000"
    button.click().run()
    assert at.selectbox(key="training-samples").value == 1000
    assert at.selectbox(key="training-noise").value == 0.3
    assert shelf(at)[0].config == before.config


@pytest.mark.sample(2)
@pytest.mark.parametrize(("answer", "right"), [("above 97 %", True), (None, False), ("below 90 %", False)])
def test_a_lesson_asks_first_and_its_own_run_answers(at, answer, right):
    run(at)
    assert any("Guess, then press Start" in m.value for m in at.markdown)
    if answer:
        group(at, "training-guess").set_value(answer).run()
        assert address(at)["guess"] == answer
    click(at, "step")
    assert group(at, "training-guess").proto.disabled
    train_epochs(at)
    assert group(at, "training-guess") is None
    reached = f"{live(at).history[-1]['val_accuracy']:.1%}"
    (said,) = (m.value for m in at.markdown if "Where will validation accuracy end?" in m.value)
    assert f"**above 97 %**; validation accuracy ended at {reached}." in said
    assert ("As you guessed" in said) == right
    assert ("No:" in said) == (answer is not None and not right)


def test_of_a_run_of_ones_own_nothing_is_asked(at):
    run(at, seed="4")
    assert group(at, "training-guess") is None
    assert at.menu_button(key="training lesson").label == "Your own settings"


def test_a_unit_fills_the_plane_when_it_is_chosen_or_pointed_at(at):
    run(at, hidden="4 3")
    assert [len(column["tiles"]) for column in network(at)["columns"]] == [7, 4, 3, 2]
    choose(at, "unit", "layer 1, unit 3")
    assert heading(at, "Output of unit 3 of layer 1")
    choose(at, "unit", at.selectbox(key="training-unit").options[0])

    def point(unit):
        at.session_state["training-network-teller"] = {"unit": unit}
        run(at)

    for hostile in (4, "1.5", "9.1", "x", True, {"unit": 1}):
        point(hostile)
        assert heading(at, "Decision boundary")
    for unit, title in (("1.3", "unit 3 of layer 1"), ("0.4", "feature y²"), ("2.3", "unit 3 of layer 2")):
        point(unit)
        assert heading(at, f"Output of {title}")
    hidden(at, "2")  # the unit is gone
    assert heading(at, "Decision boundary")


def test_the_lines_are_the_weights_or_the_gradients_of_the_next_batch_and_features_are_in_the_address(at):
    run(at, hidden="4", data="circles", features="x2 y2")
    assert live(at).trainer.sizes == (2, 4, 2)
    assert address(at)["features"] == "x2 y2"
    assert "--features x2 y2" in command(at)
    wires = network(at)["wires"]
    np.testing.assert_allclose(wires[0], live(at).network().layers[0].weight.numpy(), atol=1e-4)
    assert [tile["on"] for tile in network(at)["columns"][0]["tiles"]] == [False, False, True, True] + 3 * [False]
    before = live(at).network(0)
    put(at, lines="gradients")
    assert address(at)["lines"] == "gradients"
    drawn = np.array(network(at)["wires"][1])
    click(at, "step")
    change = live(at).network().layers[1].weight.numpy() - before.layers[1].weight.numpy()
    felt = np.abs(drawn) > 1e-3
    assert np.all(np.sign(change[felt]) == -np.sign(drawn[felt]))  # Adam's first step goes against each gradient


@pytest.mark.parametrize(
    ("asked", "hidden", "features"),
    [
        ({"hidden": "5 3"}, "5 3", ""),
        ({"hidden": ""}, "", ""),
        ({"hidden": "999"}, "4", ""),
        ({"features": "x xy"}, "4", "x xy"),
        ({"features": "x z"}, "4", ""),
    ],
)
def test_what_the_picture_of_the_network_asks_for_is_set(asked, hidden, features):
    session = {"training-hidden": "4", "training-features": ""}
    with (
        patch("pages.parts.training.settings.st", Mock(session_state=session)),
        patch("pages.parts.training.settings.binding"),
    ):
        change_network(asked)
    assert session == {"training-hidden": hidden, "training-features": features}


# ---------------------------------------------------------------- the shelf


def test_runs_that_are_left_go_to_the_shelf_and_are_compared_loaded_and_deleted(at):
    run(at, data="blobs", hidden="4", epochs="2")
    train_epochs(at)
    values = line(at, "loss", "validation")
    for rate in (0.1, 0.3, 1.0, 3.0, 10.0):
        choose(at, "lr", rate)
        if rate != 10.0:
            train_epochs(at)
    names = [kept.name for kept in shelf(at)]
    first = "blobs 4 adam 0.01"
    assert names[0] == first
    tick(at, *names)
    listed = at.dataframe[0].value
    assert list(listed.columns) == ["run", "epochs", "best validation accuracy", "last validation loss", "lr"]
    assert listed["lr"].tolist() == [0.01, 0.1, 0.3, 1.0, 3.0]
    drawn = [line_series(at, "loss", name) for name in names]
    assert len({(one["color"], str(one["lineStyle"]["type"])) for one in drawn}) == len(names) == 5
    assert "earlier runs" in shown(at)["loss"]["note"]
    assert line(at, "loss", first)[1:] == values[1:]
    tick(at, first)
    assert any("lr 0" in m.value and "instead of" in m.value for m in at.markdown)
    at.button(key=f"load {first}").click().run()
    assert live(at).config.lr == 0.01
    at.button(key=f"delete {first}").click().run()
    assert not at.exception
    assert first not in [kept.name for kept in shelf(at)]


# ---------------------------------------------------------------- visitors


def test_two_visitors_do_not_share_a_run(at):
    run(at)
    other = run(new())
    click(at, "step")
    assert not live(run(other)).batches


@pytest.mark.parametrize("data", ["moons", "table"])
def test_leaving_and_returning_keeps_the_run_and_no_setting_is_ignored(data):
    at = app("app.py").run()
    open_popovers(at)
    at.query_params["training-data"] = data
    at.switch_page("pages/training_lab.py").run()
    if data == "table":
        upload_table(at)
    hidden(at, "5")
    click(at, "step")
    before = live(at)
    switch(at, "pages/graph_lab.py")
    open_popovers(at)
    switch(at, "pages/training_lab.py")
    assert live(at) is before
    assert at.text_input(key="training-hidden").value == "5"
    choose(at, "lr", 0.1)
    assert (live(at).config.data, live(at).config.latest.lr) == (data, 0.1)
    assert live(at).trainer.dataset.name == ("mine.csv" if data == "table" else data)


@pytest.mark.exhaustive
def test_the_page_never_imports_what_is_heavy():
    code = (
        "import sys; from streamlit.testing.v1 import AppTest;"
        "at = AppTest.from_file('pages/training_lab.py', default_timeout=120).run();"
        "at.button(key='training step').click().run(); assert not at.exception;"
        "print([name for name in ('matplotlib', 'pandas', 'altair', 'torch', 'pooch') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


# ---------------------------------------------------------------- own data


def test_points_are_placed_by_typing_and_a_new_run_begins(at):
    run(at, data="points")
    before = live(at)
    assert before.config.data == "points"
    at.number_input(key="own points x").set_value(0.25).run()
    at.button(key="own points add").click().run()
    assert not at.exception
    assert at.session_state["training-points"][-1] == (0.25, 0.0, 0)
    assert address(at)["points"].endswith(";0.25,0,A")
    assert live(at) is not before
    assert len(live(at).trainer.dataset.train_x) + len(live(at).trainer.dataset.val_x) == 21
    at.button(key="own points undo").click().run()
    assert live(at).trainer.dataset.fingerprint == before.trainer.dataset.fingerprint
    choose(at, "val_fraction", 0)  # none is held out, and each is there once
    assert sum(int(row[2]) for row in shown(at)["plane"]["rows"]) == len(points.START)
    assert len(live(at).trainer.dataset.train_x) == len(points.START)


def clicked(at, places, page=1):
    """The browser says what was clicked since the page was loaded."""
    at.session_state["own points teller"] = {"clicks": {"id": page, "points": places}}
    run(at)


def test_too_few_points_are_said_and_can_be_placed(at):
    run(at, data="points")
    before = live(at)
    at.button(key="own points clear").click().run()
    assert not at.exception
    assert live(at) is before
    assert "two classes" in at.info[0].value
    assert at.button(key="training toggle").disabled
    assert list(shown(at)) == ["plane"]
    assert chart(at, "plane")["placing"]
    clicked(at, [[-0.5, 0], [-0.6, 0.1]])
    group(at, "own points class").set_value("B").run()
    clicked(at, [[-0.5, 0], [-0.6, 0.1], [0.5, 0], [0.6, 0.123]])
    assert live(at).trainer.dataset.classes == ("A", "B")
    assert at.session_state["training-points"][-1] == (0.6, 0.12, 1)
    choose(at, "data", "blobs")
    assert live(at).config.data == "blobs"


def test_clicks_are_heard_once_also_when_answers_overtake_each_other_and_the_plane_stays_where_it_is(at):
    def ends():
        return [chart(at, "plane")[axis][0][end] for axis in ("xAxis", "yAxis") for end in ("min", "max")]

    run(at, data="points")
    assert np.allclose(ends(), [-1, 1, -1, 1])
    drawn = {(x, y) for line in chart(at, "plane")["series"][1:] for x, y in line["data"]}
    assert drawn == {(x, y) for x, y, _ in at.session_state["training-points"]}  # all of them, as they were placed
    for places in ([[0, 0]], [[0, 0], [0.1, 0]], [[0, 0], [0.1, 0]], [[0, 0], [0.1, 0], [0.2, 0], [0.9, 0.9]]):
        clicked(at, places)
    assert [x for x, _, _ in at.session_state["training-points"][20:]] == [0, 0.1, 0.2, 0.9]
    assert np.allclose(ends(), [-1, 1, -1, 1])
    clicked(at, [[0.4, 0]], page=2)  # after a reload
    assert len(at.session_state["training-points"]) == 25
    for hostile in ("x", [[1]], [[math.inf, 0]], [["0", 1]], [[5, 5]], {"a": 1}, [[0, 0]] * 500):
        clicked(at, hostile, page=3)
        at.session_state["own points teller acknowledged"] = (None, 0)
        assert len(at.session_state["training-points"]) <= points.MAX_POINTS


def test_the_plane_holds_each_sample_of_a_table_that_it_shows(at):
    run(at, data="table", hidden="3", val_fraction="0.5")
    for sign in (1, -1):
        rows = "".join(f"{sign * 2**i},{i % 7},{i % 2}\n" for i in range(16))
        upload_table(at, content=f"a,b,class\n{rows}".encode())
        plane = chart(at, "plane")
        drawn = [point for line in plane["series"] if line["type"] == "scatter" for point in line["data"]]
        for axis, values in zip(("xAxis", "yAxis"), zip(*drawn, strict=True), strict=True):
            assert plane[axis][0]["min"] <= min(values) <= max(values) <= plane[axis][0]["max"]


def test_a_table_is_read_and_its_mistakes_are_said(at):
    run(at, data="table", hidden="3", epochs="2")
    assert "no file yet" in at.info[0].value
    assert [(b.label, b.disabled) for b in at.button if b.key == "training toggle"] == [("Start", True)]
    assert not find(at.main, "feed-training")  # another run under the name of the table would be a lie
    upload_table(at)
    assert live(at).config.data == "table"
    assert live(at).trainer.dataset.classes == ("0", "1")
    assert shown(at)["plane"]["note"] == "validation samples, x:\u00a0a, y:\u00a0b"
    assert "mine.csv" in " ".join(c.value for c in at.caption).replace("\\", "")
    at.selectbox(key="own table target").set_value("b").run()
    assert live(at).trainer.dataset.classes == ("0", "1", "2")
    before = live(at)
    for name, content, words in [
        ("bad.csv", TABLE.replace(b"0.5", b'"0.5'), "an unclosed quotation mark"),
        ("empty.csv", b"", "empty"),
        ("binary.csv", b"\xff\xfe\x00", "'binary.csv' is not a text file"),
        ("*my* [data](x).csv", b"*a*,c\n1,x\n`2`,y\n", "too many different texts: '*a*' (2 in 2 rows)"),
        (
            "wide.csv",
            (",".join("0" * 200) + ",x\n").encode() * 2 + (",".join("1" * 200) + ",y\n").encode() * 2,
            "201 columns",
        ),
    ]:
        upload_table(at, name, content)
        assert words in at.error[0].value.replace("\\", ""), name
        assert live(at) is before
        assert "*a" not in at.error[0].value.replace("\\*", "")  # no cell or name is Markdown
    rows = "".join(f"{i % 2},{i * i % 7},so {i}\n" for i in range(40))
    upload_table(at, "gaps.csv", f"class,a,b\n{rows}".encode())
    assert "the target 'b' has 40 different values in 40 rows" in at.error[0].value.replace("\\", "")
    assert at.error[0].value.endswith(" Look under **Your table**: **Target column**, **Task**.")
    at.selectbox(key="own table target").set_value("class").run()
    assert not at.error
    assert live(at).trainer.dataset.classes == ("0", "1")
    assert live(at).own["target"] == "class"


def test_what_was_decided_about_a_table_from_a_spreadsheet_is_said(at):
    run(at, data="table", hidden="3")
    rows = "".join(f"{i},{i % 7};{'' if i == 4 else i % 3};{('red', 'blue')[i % 2]};{int(i > 20)}\n" for i in range(40))
    upload_table(at, content=f"a;b;colour;class\n{rows}".encode())
    said = " ".join(c.value for c in at.caption).replace("\\", "")
    for words in ("Decimal commas: 3,14", "Text columns: 'colour'", "Missing cells: 1 in 'b',", "4 inputs, 2 classes"):
        assert words in said
    (first,) = (c.value.replace("\\", "") for c in find(at.main, "training-word").caption)
    assert first.count(". ") == 1, "more than two sentences before the first action"
    assert "4 inputs, 2 classes" in first
    inputs, *_, outputs = network(at)["columns"]
    assert [tile["word"] for tile in inputs["tiles"]] == ["a", "b", "colour “blue”", "colour “red”"]
    assert [tile["word"] for tile in outputs["tiles"]] == ["0", "1"]


def test_inputs_of_a_table_are_ticked(at):
    run(at, data="table", hidden="3", epochs="2")
    rows = "".join(f"{i},{i * i % 7},{'uvw'[i % 3]},{'pq'[i % 2]}\n" for i in range(40))
    upload_table(at, "t.csv", f"id,a,b,y\n{rows}".encode("utf-16"))
    assert at.session_state["own table inputs"] == ["a", "b"]
    assert "Left out, because it only numbers the rows: 'id'" in " ".join(c.value for c in at.caption).replace("\\", "")
    at.pills(key="own table inputs").set_value(["id", "a"]).run()
    assert live(at).trainer.dataset.columns == ("id", "a")
    assert "--drop b --keep id" in command(at)
    at.pills(key="own table inputs").set_value([]).run()  # a network needs one
    assert at.session_state["own table inputs"] == ["id", "a"]


def test_the_encoding_of_a_table_is_chosen(at):
    run(at, data="table", hidden="3", epochs="2")
    rows = "".join(f"{i * i},{i % 7},{('číslo', 'rok')[i % 2]}\n" for i in range(40))
    upload_table(at, "t.csv", f"čas,a,kov\n{rows}".encode("cp1250"))
    assert live(at).trainer.dataset.columns == ("èas", "a")
    assert "cp1250 for 'čas' instead of 'èas'" in " ".join(c.value for c in at.caption).replace("\\", "")
    at.selectbox(key="own table encoding").set_value("cp1250").run()
    assert live(at).trainer.dataset.columns == ("čas", "a")
    assert "--encoding cp1250" in command(at)


@pytest.mark.sample(1)
@pytest.mark.parametrize("data", ["table", "points"])
def test_the_command_for_own_data_runs_as_printed_and_gives_the_same_numbers(at, data, tmp_path, monkeypatch):
    run(at, data=data, hidden="3", epochs="2")
    if data == "table":
        upload_table(at, "my table.csv")
        at.selectbox(key="own table target").set_value("b").run()
    train_epochs(at)
    words = shlex.split(command(at))
    own = live(at).own
    name = own.get("name", "points.csv")
    (tmp_path / name).write_text(own.get("table") or points.to_csv(at.session_state["training-points"]))
    monkeypatch.chdir(tmp_path)
    assert cli.main([*words[2:], "--out", "run"]) == 0
    lines = (tmp_path / "run/metrics.jsonl").read_text().splitlines()
    assert [json.loads(text)["val_loss"] for text in lines] == [record["val_loss"] for record in live(at).records]
    if data == "table":  # and a run on another table is not called the same
        upload_table(at, "other.csv", TABLE.replace(b"0.1", b"0.2"))
        tick(at, "my table.csv 3 adam 0.01")
        assert any("Compared with the current run: other data or target" in text.value for text in at.markdown)


# ---------------------------------------------------------------- a visit, over a reload


def receive(at, table="", shelf=""):
    """The browser sends what it has kept."""
    session = {"training shelf": []}
    with patch.object(upload, "st", Mock(session_state=session)):
        upload.receive(table)
    with patch.object(shelf_part, "st", Mock(session_state=session)):
        shelf_part.receive(shelf)
    for key, value in session.items():
        at.session_state[key] = value
    run(at)


def reload(at):
    """The page in a new session, whose browser has the same address, and sends what it was asked to keep."""
    again = new()
    run(again, **{name: text for name, text in address(at).items() if name != "entry"})
    if "training keep" in at.session_state:
        receive(again, **at.session_state["training keep"][1])
    return again


def test_a_reload_trains_the_run_again_to_where_it_was_with_the_same_numbers_and_stops_there(at):
    run(at, data="blobs", hidden="4", epochs="30", lr="0.3", speed="10")
    live(at).advance(2 * live(at).trainer.steps_per_epoch + 3)
    run(at)
    again = reload(at)
    tick_until(again, lambda: not again.session_state["training running"])
    assert live(again).position == (2, 3)
    assert (live(again).trainer.weights() == live(at).trainer.weights()).all()
    assert live(again).losses().tolist() == live(at).losses().tolist()
    assert any("Paused at epoch 2 of 30" in caption.value for caption in again.caption)
    start(again)  # and it goes on, at the speed that was chosen
    assert again.session_state["training worker"].rate == 10


def test_a_run_that_is_trained_again_can_be_stopped_and_another_setting_ends_it(at):
    run(at, data="digits", hidden="64 64", epochs="300", trained="299")
    assert at.session_state["training running"]
    click(at, "toggle")
    assert not at.session_state["training running"]
    assert live(run(at)).position < (299, 0)
    assert not at.session_state["training running"]


@pytest.mark.parametrize("text", ["-1", "1.-2", "x", "1.0", "+2", "3.4.5", "\u0663", "9" * 5000])
def test_a_place_that_no_run_has_is_left_out(at, text):
    run(at, trained=text)
    assert live(at).position == (0, 0)
    assert not at.session_state["training running"]


def test_a_reload_brings_back_the_shelf_whose_runs_are_opened_and_deleted_for_good(at):
    run(at, data="blobs", hidden="4", epochs="3")
    run_to_the_end(at)
    first = live(at)
    choose(at, "lr", 0.3)
    slow = "blobs 4 adam 0.01"
    again = reload(at)
    (brought,) = shelf(again)
    assert (brought.name, brought.config, brought.records) == (slow, shelf(at)[0].config, shelf(at)[0].records)

    tick(again, slow)
    again.button(key=f"open {slow}").click().run()
    assert not again.exception
    assert again.selectbox(key="training-lr").value == 0.01
    tick_until(again, lambda: live(again).done and not again.session_state["training running"])
    assert (live(again).trainer.weights() == first.trainer.weights()).all()
    assert "Epoch 3 of 3" in progress(again)
    assert again.button(key="training toggle").label == "Done"
    assert line(again, "loss", "validation")[1:] == [record["val_loss"] for record in first.records]
    tick(again, slow)
    again.button(key=f"delete {slow}").click().run()
    assert not again.exception
    assert slow not in [one.name for one in [*shelf(again), *shelf(reload(again))]]


def test_a_reload_says_nothing_of_a_run_that_went_to_the_shelf_before(at):
    run(at, data="moons", hidden="4", epochs="3")
    train_epochs(at)
    choose(at, "data", "table")
    upload_table(at)
    train_epochs(at)
    assert [kept.name for kept in shelf(at)] == ["moons 4 adam 0.01"]
    again = reload(at)
    assert live(again).trainer.dataset.name == "mine.csv"
    assert not again.toast


def test_a_reload_tries_the_remedies_again_that_were_tried(at, one_seed):
    run(at, **STUCK)
    train_epochs(at)
    try_the_remedy(at)
    said = boxes(at)
    assert "(shown). Tried initial weights he: **cured**" in said
    again = reload(at)
    tick_until(again, lambda: "Tried" in boxes(again))
    assert boxes(again) == said
    assert remedies(again)


def test_what_a_reload_tries_again_can_be_stopped_and_what_is_not_found_is_left_out(at):
    run(at, **STUCK, trained="25", tried="flat,no-finding")
    tick_until(at, lambda: any("Trying" in caption.value for caption in at.caption))
    click(at, "trial stop")
    assert "tried" not in address(run(at))
    assert tries(at)
    assert "tried" not in address(run(run(new(), **STUCK, tried="no-finding")))


def test_reset_keeps_what_was_trained(at):
    run(at, data="blobs", hidden="4", epochs="2")
    train_epochs(at)
    records = live(at).records
    click(at, "reset")
    again = reload(at)
    assert not live(again).batches
    (brought,) = shelf(again)
    assert [record["val_loss"] for record in brought.records] == [record["val_loss"] for record in records]


@pytest.mark.parametrize("batches", [0, 1])
def test_a_reload_brings_back_the_table(at, batches):
    run(at, data="table", hidden="3")
    upload_table(at)
    at.selectbox(key="own table target").set_value("b").run()
    for _ in range(batches):
        click(at, "step")
    again = reload(at)
    tick_until(again, lambda: not again.session_state["training running"])
    assert live(again).batches == batches
    assert live(again).trainer.dataset.name == "mine.csv"
    assert again.selectbox(key="own table target").value == "b"


@pytest.mark.parametrize("text", ["", "{", "[]", "1", "{}", '{"table": 1}', '{"runs": 3, "tables": []}', "[" * 10_000])
def test_what_a_browser_sends_may_be_anything(at, text):
    run(at, data="table")
    receive(at, text, text)
    assert not shelf(at)
    assert "no file yet" in at.info[0].value


def test_everything_that_is_kept_can_be_forgotten(at):
    run(at, data="table", hidden="3")
    assert all(button.key != "training forget" for button in at.button)
    upload_table(at)
    train_epochs(at, 1)
    click(at, "reset")
    assert shelf(at)
    click(at, "forget")
    assert not shelf(at)
    assert at.session_state["training keep"][1] is None  # the browser is told so, too
    assert "no file yet" in at.info[0].value
    assert all(button.key != "training forget" for button in at.button)


def test_a_sample_opens_in_the_player_once_the_training_pauses(at):
    run(at, hidden="3", epochs="300", speed="10")
    at.session_state["training probe open"] = True
    start(at)
    assert any("Pause the training" in m.value for m in at.markdown)
    click(at, "toggle")
    (shown,) = (c for c in at.get("bidi_component") if "events" in c.proto.bytes.decode() + c.proto.json)
    assert "cross_entropy" in shown.proto.bytes.decode() + shown.proto.json
    hidden(at, "64 64")
    assert any("up to 600 weights" in m.value for m in at.markdown)


@pytest.mark.parametrize(("column", "unit", "label"), [(1, 2, "h1"), (2, 3, "h2"), (3, 1, "out")])
def test_a_unit_that_is_clicked_is_selected_in_the_pass_of_the_sample(at, column, unit, label):
    run(at, hidden="3 4")
    with patch.object(one_input.st, "session_state", {}) as clicked:
        one_input.open_unit(column - 1, unit)
    for key, value in clicked.items():
        at.session_state[key] = value
    with patch.object(one_input, "player", wraps=one_input.player) as played:
        at.run()
    (trace,), asked = played.call_args
    node, cell = asked["chosen"]
    assert (trace.nodes[node]["label"], cell, asked["opening"]) == (label, unit, 1)
    assert f"**Unit {unit + 1} of layer {column}**" in texts(at.markdown)
    network, sample = live(at).network(), live(at).trainer.dataset.train_x[:1]
    outputs = [output.numpy() for output in network.outputs(sample)]
    np.testing.assert_allclose(trace.nodes[node]["value"], outputs[column - 1], rtol=1e-5, atol=1e-6)
    hidden(at, "2 2")  # the unit may be gone
    assert not at.exception


# ---------------------------------------------------------------- changes while it trains


def begin(at):
    """Train a few epochs, and go on so slowly that the run does not end before the test."""
    at.session_state["training-speed"] = 10
    train_epochs(at, 3)
    start(at)


def test_what_can_change_changes_in_the_running_network(at):
    run(at, data="moons", hidden="4", epochs="300", optimizer="sgd", lr="0.1")
    begin(at)
    before = live(at)
    choose(at, "lr", 0.3)
    assert live(at) is before
    ((after, name, value),) = before.config.changes
    assert (name, value) == ("lr", 0.3)
    assert at.session_state["training running"]
    choose(at, "lr", 0.03)
    assert before.config.latest.lr == 0.03
    tick_until(at, lambda: before.next_epoch > after + 1)  # also the training process has learned of it
    click(at, "toggle")
    train_epochs(at, 2)
    assert before.records[after]["changed"]["lr"] in (0.3, 0.03)
    marks = [mark["name"] for line in chart(at, "loss")["series"] for mark in line.get("markLine", {}).get("data", [])]
    assert any("lr 0.03" in mark for mark in marks)
    kept = address(at)
    assert kept["changes"].startswith("0:lr=0.1 ")
    assert f"--lr 0.1 --epochs 300 --changes {after}:lr=" in command(at)
    records = list(itertools.islice(train(before.config), after + 2))
    assert [r["val_loss"] for r in before.records[: after + 2]] == [r["val_loss"] for r in records]
    again = run(new(), **{name: value for name, value in kept.items() if name != "epoch"})
    assert live(again).config == before.config


def test_a_run_after_one_that_is_done_repeats_none_of_its_changes(at):
    run(at, data="moons", hidden="4", epochs="4", optimizer="sgd", lr="0.1")
    train_epochs(at, 2)
    choose(at, "lr", 0.3)
    train_epochs(at, 2)
    before = live(at)
    assert before.done
    assert before.config.changes
    hidden(at, "5")
    assert live(at).config == replace(before.config, hidden=(5,), lr=0.3, changes=())
    assert "changes" not in address(at)


def test_what_cannot_change_begins_another_run_and_keeps_the_one_before(at):
    run(at, data="moons", hidden="4", epochs="300")
    begin(at)
    before, began = live(at), at.session_state["entry"]
    hidden(at, "5")
    assert live(at).config == replace(before.config, hidden=(5,))
    assert at.session_state["entry"] != began  # the browser's Back undoes it
    assert at.session_state["training running"]
    assert at.text_input(key="training-hidden").value == "5"
    assert [kept.name for kept in shelf(at)] == ["moons 4 adam 0.01"]
    assert "is kept as “moons 4 adam 0.01”" in at.toast[0].value.replace("\\", "")


def test_a_number_beyond_the_limits_of_its_widget_is_not_taken(at):
    """A browser need not keep to the limits; Streamlit does."""
    at.session_state["training settings"] = True
    run(at, data="moons")
    message = at._tree.get_widget_states()
    (epochs,) = (one for one in message.widgets if one.id.endswith("training-epochs"))
    epochs.double_value = 1e9
    at._run(message)
    assert not at.exception
    assert live(at).config.epochs == 1
