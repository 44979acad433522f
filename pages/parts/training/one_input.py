"""One input through a trained network, in the player and on the digit pad."""

import numpy as np
import streamlit as st

from lab import charts
from lab.text import short
from lab.trace.recording import record
from lab.training.features import network_inputs
from lab.training.images import IMAGE_SHAPE, LEVELS, normalise
from lab.training.predictions import MAX_DRAWN_WEIGHTS, loss_of_sample, probabilities
from lab.ui import page
from lab.ui.chart_host import ChartHost
from lab.ui.player import player
from lab.ui.table import escape_markdown
from lab.ui.terms import prose
from pages.parts.training.digit_pad import digit_pad
from pages.parts.training.instruments import View
from pages.parts.training.settings import FIELD

PAD = "training-pad"  # session key of the expander with the pad


def open_unit(layer: int, unit: int) -> None:
    """Open the backward pass of the chosen sample with a unit selected; a callback. layer, unit: from 0."""
    session = st.session_state
    session["training probe open"] = True
    session["training probe unit"] = layer, unit
    session["training probe opening"] = session.get("training probe opening", 0) + 1


def drawn() -> bool:
    """Return True if there is a drawing on the pad."""
    pad = st.session_state.get(_pad())
    return bool(pad and pad.get("ink"))


def clear_pad() -> None:
    """Take a new pad, which is empty; call it in a callback."""
    st.session_state["training pads"] = st.session_state.get("training pads", 0) + 1


def _pad() -> str:
    """Return the key of the pad."""
    return f"training pad {st.session_state.get('training pads', 0)}"


def show_one_input(view: View) -> None:
    """Show one sample in the player and, for images of the pad's size, the pad to draw one."""
    player_box = st.expander("One sample, step by step, in the player", key="training probe open", on_change="rerun")
    if player_box.open:
        with player_box:
            _play_sample(view)
    if view.run.trainer.dataset.image_shape == IMAGE_SHAPE:
        pad = st.expander("Draw a digit and let the network read it", key=PAD, on_change="rerun")
        if pad.open:
            with pad:
                st.fragment(_read_drawing)()


def _play_sample(view: View) -> None:
    run = view.run
    if st.session_state["training running"]:
        st.markdown("Pause the training to follow one sample: the weights must not change meanwhile.")
        return
    network = view.network()
    if sum(parameter.size for parameter in network.parameters()) > MAX_DRAWN_WEIGHTS:
        st.markdown(f"The player shows networks of up to {MAX_DRAWN_WEIGHTS} weights: choose narrower hidden layers.")
        return
    data = run.trainer.dataset
    number = st.number_input("Training sample", 1, len(data.train_x), key="training sample", width=FIELD) - 1
    label = data.train_y[number].item()  # index of the class, or the target of a regression
    if data.classes:
        wanted = f"is of class {escape_markdown(data.classes[label])}"
    else:
        target = short(float(data.in_units(data.train_y[number])), 6)
        wanted = f"should give {short(label)}, which stands for {target}: the target is standardised, too"
    st.markdown(f"Sample {number + 1} {wanted}. The weights are those of the epoch shown above.")
    prose("They are the [[leaves|leaf]]: the [[backward pass]] finds the [[gradient]] of the loss for each of them.")
    inputs = network_inputs(network, data.train_x[number : number + 1])[0]
    build, leaves = loss_of_sample(network, inputs, label)
    try:
        trace = record(build, leaves)
    except RuntimeError as error:
        st.warning(str(error))
        return
    opening, chosen, event = st.session_state.get("training probe opening", 0), None, None
    if opening:
        layer, unit = st.session_state["training probe unit"]
        label = f"h{layer + 1}" if layer < len(network.layers) - 1 else "out"
        outputs = next((node for node in trace.nodes if node["label"] == label), None)
        if outputs and unit < np.size(outputs["value"]):
            chosen = outputs["id"], unit
            arrived = [n for n, one in enumerate(trace.events, 1) if chosen[0] == one["node"] and "after" in one]
            event = max(arrived, default=None)  # None: the backward pass ended in an error
            st.markdown(f"**Unit {unit + 1} of layer {layer + 1}**, which you chose, is the cell {label}[0, {unit}].")
    player(trace, key="training player", opening=opening, chosen=chosen, event=event)


def _read_drawing() -> None:
    run, theme = st.session_state["training worker"].run, page.theme()
    data = run.trainer.dataset
    left, right = st.columns(2, gap="medium")
    with left:
        bitmap = digit_pad(_pad(), bool(st.session_state.get("training led to pad")))
        st.caption("Draw large, with the pointer or with arrow keys and space. The network classifies as you draw.")
    if bitmap is None:
        return
    image = normalise(bitmap)
    x = (image.ravel() - data.mean) / data.scale
    answer = probabilities(run.network(), x[np.newaxis])[0]
    with right:
        st.markdown(f"The network takes it for **{data.classes[int(answer.argmax())]}**.")
        host = ChartHost("pad")
        host.place("likelihoods", "drawing")
    host.fill(
        {
            "likelihoods": charts.likelihoods(answer, data.classes, theme),
            "drawing": charts.drawing(image / LEVELS, theme),
        }
    )
