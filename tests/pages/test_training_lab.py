"""The Training lab's controls, one by one, without a browser. A timer never fires here: each run of the page is a tick."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from train import Config, train

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def at():
    return AppTest.from_file(ROOT / "pages/training_lab.py", default_timeout=30)


def run(at, **address):
    for key, value in address.items():
        at.query_params[key] = value
    at.run()
    assert not at.exception
    return at


def click(at, key):
    at.button(key=f"training {key}").click().run()
    assert not at.exception


def live(at):
    return at.session_state["training run"]


def chart(at, key):
    return json.loads(next(c for c in at.get("echarts_chart") if c.key == f"chart-{key}").proto.spec)


def line(at, key, name):
    return next(s for s in chart(at, key)["series"] if s.get("name") == name)["data"]


def progress(at):
    return at.get("progress")[0].proto.text


def run_to_the_end(at):
    click(at, "toggle")
    while at.session_state["training running"]:
        at.run()
        assert not at.exception


def test_it_waits_for_start(at):
    run(at)
    assert at.title[0].value == "Training lab"
    assert not live(at).batch_losses
    at.run()
    assert not live(at).batch_losses
    assert at.button(key="training toggle").label == "Start"


def test_a_run_on_the_page_is_the_run_of_the_command_line(at):
    run(at, data="blobs", hidden="6", epochs="4", lr="0.01")
    run_to_the_end(at)
    expected = list(train(Config(data="blobs", hidden=(6,), epochs=4, lr=0.01)))
    assert line(at, "loss", "validation")[1:] == [record["val_loss"] for record in expected]
    assert line(at, "gradient-norm-per-layer", "layer 2")[1:] == [r["grad_norm"]["layer2"] for r in expected]
    assert "Epoch 4 of 4" in progress(at)
    assert at.button(key="training toggle").disabled
    assert at.button(key="training step").disabled


def test_start_pause_continue(at):
    run(at, epochs="300")
    click(at, "toggle")
    first = len(live(at).batch_losses)
    assert first > 0
    assert at.button(key="training toggle").label == "Pause"
    at.run()
    second = len(live(at).batch_losses)
    assert second > first
    click(at, "toggle")
    assert at.button(key="training toggle").label == "Continue"
    at.run()
    assert len(live(at).batch_losses) == second


def test_a_step_is_one_batch_and_pauses(at):
    run(at)
    for expected in (1, 2):
        click(at, "step")
        assert len(live(at).batch_losses) == expected
    assert f"batch 2 of {live(at).trainer.steps_per_epoch}" in progress(at)
    click(at, "toggle")
    count = len(live(at).batch_losses)
    click(at, "step")
    assert len(live(at).batch_losses) == count + 1
    assert not at.session_state["training running"]


def test_reset_goes_back_to_the_same_initial_weights(at):
    run(at)
    before = live(at).trainer.weights()
    click(at, "toggle")
    click(at, "reset")
    assert (live(at).trainer.weights() == before).all()
    assert not live(at).batch_losses
    assert not at.session_state["training running"]
    assert at.button(key="training toggle").label == "Start"


def test_a_change_of_a_setting_begins_a_new_run(at):
    run(at)
    click(at, "toggle")
    at.select_slider(key="training lr").set_value(0.1).run()
    assert not at.exception
    assert live(at).config.lr == 0.1
    assert at.session_state["training running"]  # it goes on: the instruments answer at once


@pytest.mark.parametrize("text", ["0", "8 -3", "eight", "3.5", "8 8 8 8 8 8 8", "100000", "∞", "8" * 400, "²"])
def test_a_mistake_gets_a_sentence_and_nothing_is_lost(at, text):
    run(at)
    click(at, "toggle")
    click(at, "toggle")
    before = live(at)
    at.text_input(key="training hidden").set_value(text).run()
    assert not at.exception
    assert len(at.error) == 1
    assert "--" not in at.error[0].value
    assert live(at) is before
    at.text_input(key="training hidden").set_value("16 16").run()
    assert not at.error
    assert live(at) is before


@pytest.mark.parametrize("data", ["moons", "circles", "spirals", "xor", "blobs", "digits"])
def test_every_dataset_trains(at, data):
    run(at, data=data, epochs="1", hidden="8")
    run_to_the_end(at)
    assert len(live(at).records) == 1
    titles = [m.value for m in at.markdown]
    assert ("**Decision boundary**" in titles) == (data != "digits")


@pytest.mark.parametrize("setting", ["activation", "init", "optimizer"])
def test_every_choice_can_be_made(at, setting):
    run(at)
    for choice in at.selectbox(key=f"training {setting}").options:
        at.selectbox(key=f"training {setting}").set_value(choice).run()
        click(at, "step")
        assert getattr(live(at).config, setting) == choice


def test_no_hidden_layer_is_softmax_regression(at):
    run(at, hidden="")
    click(at, "step")
    assert live(at).trainer.sizes == (2, 2)


def test_momentum_belongs_to_sgd(at):
    run(at, optimizer="sgd", momentum="0.9")
    assert live(at).config.momentum == 0.9
    at.selectbox(key="training optimizer").set_value("adam").run()
    assert not at.exception
    assert live(at).config.momentum == 0
    assert not at.slider


def test_the_address_restores_the_settings_and_carries_them(at):
    run(at, data="xor", hidden="12 5", lr="0.02", activation="tanh", batch_size="50", seed="7", epochs="33")
    expected = Config(data="xor", hidden=(12, 5), lr=0.02, activation="tanh", batch_size=50, seed=7, epochs=33)
    assert live(at).config == expected
    assert not at.info
    at.text_input(key="training hidden").set_value("12, 4").run()
    assert at.query_params["hidden"] == "12 4"
    assert live(at).config.hidden == (12, 4)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("data", "mnist"), ("data", "csv:/etc/passwd"), ("hidden", "9999"), ("hidden", "a"), ("lr", "nan"), ("lr", "-1"),
        ("lr", "1e999"), ("epochs", "100000"), ("epochs", "0"), ("batch_size", "0"), ("seed", "-1"), ("seed", "x"),
        ("init", "random"), ("activation", "__class__"), ("optimizer", ""), ("momentum", "1"),
    ],
)  # fmt: skip
def test_a_bad_address_falls_back_with_a_note(at, name, value):
    run(at, **{name: value})
    assert len(at.info) == 1
    assert name in at.info[0].value
    assert live(at).config == Config(data="moons", hidden=(16, 16), lr=0.01, epochs=60)


def test_a_divergence_is_said_in_a_sentence(at):
    run(at, optimizer="sgd", lr="100", init="normal", activation="softplus", hidden="64 64 64", epochs="50")
    run_to_the_end(at)
    assert live(at).trainer.diverged
    assert "smaller learning rate" in at.warning[0].value


def test_the_tables_say_what_the_charts_show(at):
    run(at, data="blobs", hidden="", epochs="2")
    run_to_the_end(at)
    at.session_state["table-accuracy"] = True
    at.run()
    table = next(m.value for m in at.markdown if "gap in points" in m.value)
    assert len(table.splitlines()) == 2 + 2


def test_the_command_is_the_same_run(at):
    run(at, data="xor", hidden="12 5", seed="3")
    command = next(c.value for c in at.code if c.value.startswith("python train.py"))
    assert command == "python train.py --data xor --hidden 12 5 --lr 0.01 --epochs 60 --seed 3"


def test_two_visitors_do_not_share_a_run(at):
    other = AppTest.from_file(ROOT / "pages/training_lab.py", default_timeout=30)
    run(at)
    run(other)
    click(at, "toggle")
    assert live(at).batch_losses
    assert not live(other).batch_losses


def test_leaving_and_returning_keeps_the_run():
    at = AppTest.from_file(ROOT / "app.py", default_timeout=30).run()
    at.switch_page("pages/training_lab.py").run()
    at.text_input(key="training hidden").set_value("5").run()
    click(at, "step")
    before = live(at)
    at.switch_page("pages/graph_lab.py").run()
    at.switch_page("pages/training_lab.py").run()
    assert not at.exception
    assert live(at) is before
    assert at.text_input(key="training hidden").value == "5"


def test_the_page_never_imports_what_is_heavy():
    code = (
        "import sys; from streamlit.testing.v1 import AppTest;"
        "at = AppTest.from_file('pages/training_lab.py', default_timeout=30).run();"
        "at.button(key='training step').click().run(); assert not at.exception;"
        "print([name for name in ('matplotlib', 'pandas', 'altair', 'torch', 'pooch') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
