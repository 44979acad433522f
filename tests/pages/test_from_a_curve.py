"""The part of a page that reads curves, alone: pasted, wrong, healthy, and a run of the visit whose batch is found."""

import pytest
from streamlit.testing.v1 import AppTest

from lab.failures.curve import read_log
from lab.training.config import Config
from lab.training.shelf import ShelvedRun
from pages.parts.failures.from_a_curve import EXAMPLE, TEXT
from tests.pages.conftest import open_at, texts
from train import train


def page():
    import streamlit as st

    from pages.parts.failures.from_a_curve import from_a_curve

    from_a_curve(lambda key: st.session_state.update({"chosen": key}))


@pytest.fixture
def app():
    return AppTest.from_function(page, default_timeout=120).run()


def words(app):
    return "\n".join(element.value for element in (*app.markdown, *app.info, *app.caption)).replace("\\", "")


def test_the_example_is_trained_now_and_read(app):
    assert not app.exception
    assert "First to check" not in words(app)
    app.button(key="curve example").click().run()
    assert not app.exception
    (first, *_) = read_log(app.session_state[TEXT]).causes
    last = [record["train_loss"] for record in train(EXAMPLE)][-1]
    assert app.session_state[TEXT].splitlines()[-1].split(",")[1] == f"{last:.5g}"
    assert first.key == "rate-high"
    assert f"First to check: {first.known.name}" in words(app)
    assert first.evidence[0] in words(app)
    app.button(key="curve failure rate").click().run()
    assert app.session_state["chosen"] == "rate"


def test_what_is_no_log_gets_a_sentence_and_stays_as_it_was(app):
    for text in ("Der Verlust fällt nicht.", "\x00\x01", "a,b\nc,d\ne,f\ng,h\n"):
        app.text_area(key=TEXT).set_value(text).run()
        assert not app.exception
        assert len(app.error) == 1
        assert app.text_area(key=TEXT).value == text
    app.text_area(key=TEXT).set_value("epoch,loss\n" + "\n".join(f"{at},{2 * 0.8**at}" for at in range(15))).run()
    assert not app.error
    assert "Nothing seen" in words(app)
    assert "all is well" in words(app)
    assert "there is no validation loss" in words(app)


def test_what_was_read_as_what_is_said_and_can_be_changed(app):
    text = "\n".join(f"epoch {at} loss {2 * 0.8**at:.4f} aux {2.3 + 0.001 * (at % 2):.4f}" for at in range(15))
    app.text_area(key=TEXT).set_value(text).run()
    assert app.expander[0].label.replace("\\", "") == "Read “epoch” as epoch, “loss” as training loss"
    assert "Not used: “aux”." in words(app)
    assert "Nothing seen" in words(app)
    (loss,) = [box for box in app.selectbox if box.label == "Training loss"]
    assert loss.value == "loss"
    loss.set_value("aux").run()
    assert not app.exception
    assert "Not used: “loss”." in words(app)
    assert "First to check" in words(app)


def test_the_loss_can_be_chosen_where_none_has_that_name(app):
    app.text_area(key=TEXT).set_value("\n".join(f"temp {20 + at} depth {40 - at}" for at in range(15))).run()
    assert "No number here is called a loss" in words(app)
    (loss,) = [box for box in app.selectbox if box.label == "Training loss"]
    loss.set_value("depth").run()
    assert not app.exception
    assert "there is no validation loss" in words(app)


def test_of_several_runs_each_can_be_shown(app):
    good, bad = ("\n".join(f"epoch {at} loss {2 * factor**at:.4f}" for at in range(15)) for factor in (0.8, 1.5))
    app.text_area(key=TEXT).set_value(f"{good}\n{bad}").run()
    assert "The text holds 2 runs; this is run 2." in words(app)
    assert "First to check" in words(app)
    (run,) = [box for box in app.selectbox if box.label == "Run"]
    run.set_value(0).run()
    assert not app.exception
    assert "Nothing seen" in words(app)


def test_a_curve_that_ends_leads_to_the_batch_where_the_run_is_here_and_to_code_where_it_is_not(app):
    app.text_area(key=TEXT).set_value("epoch,loss\n0,1.1\n1,0.6\n2,0.4\n3,0.3\n4,nan\n5,nan").run()
    assert "From epoch 4 on the training loss is no longer a number" in words(app)
    assert any("set_detect_anomaly" in code.value for code in app.code)

    config = Config(data="moons", hidden=(8, 8, 8), init="normal", optimizer="sgd", lr=30.0, epochs=30)
    app.session_state["training shelf"] = [ShelvedRun("wild", config, list(train(config)))]
    app.run()
    app.segmented_control(key="wrong-from").set_value("run").run()
    assert "take the usual learning rate of 0.05" in words(app)
    app.toggle(key="curve find").set_value(True).run()
    assert not app.exception
    assert "It is batch" in words(app)
    assert "`linear`" in words(app)


def test_a_search_that_stops_says_so(app, monkeypatch):
    monkeypatch.setattr("lab.failures.curve.first_bad.MAX_STEPS", 2)
    config = Config(data="moons", hidden=(8, 8, 8), init="normal", optimizer="sgd", lr=30.0, epochs=29)
    app.session_state["training shelf"] = [ShelvedRun("wild", config, list(train(config)))]
    app.run()
    app.segmented_control(key="wrong-from").set_value("run").run()
    app.toggle(key="curve find").set_value(True).run()
    assert not app.exception
    assert "the losses of the first 2 steps are numbers. The search stops there" in words(app)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_file_is_read_in_place_of_the_text(app, encoding):
    log = "epoch,loss\n" + "\n".join(f"{at},{1.5**at}" for at in range(15))
    app.get("file_uploader")[0].set_value([("log.csv", log.encode(encoding), "text/csv")]).run()
    assert not app.exception
    assert "First to check" in words(app)


def test_a_reload_keeps_where_the_curve_is_and_a_visit_without_runs_is_told_where_they_are_made():
    at = open_at("what-went-wrong", tab="curve")
    at.segmented_control(key="wrong-from").set_value("run").run()
    assert not at.exception
    again = open_at("what-went-wrong", **{"tab": "curve", "from": "One of your runs"})
    assert "Train one in the Training lab" in texts(again.markdown)
