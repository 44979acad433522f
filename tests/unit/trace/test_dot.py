"""The drawing shows each node once, each use of it, and what is not known yet."""

import re

from lab.trace.dot import PALETTES, draw
from lab.trace.recording import Recording, record


def source(build, leaves):
    return draw(record(build, leaves)).source


def test_a_reused_operand_has_two_edges_and_one_node():
    dot = source(lambda a: a * a, {"a": 3.0})
    assert dot.count("n0 -> n1") == 2
    assert len(re.findall(r"^\s*n0 \[", dot, re.M)) == 1


def test_leaf_gradients_are_orange_and_others_are_not():
    dot = source(lambda a, b: a * b + a, {"a": 2.0, "b": 3.0})
    orange = re.findall(rf'<font color="{PALETTES["light"]["gradient"]}">grad ([^<]+)</font>', dot)
    assert orange == ["4", "2"]


def test_not_computed_differs_from_zero():
    recording = Recording({"a": 2.0, "b": 0.0})
    a, b = recording.tensors.values()
    forward = draw(recording.finish(a * b)).source
    assert "grad –" in forward
    assert "grad 0" not in forward
    assert "grad 0" in source(lambda a, b: a * b, {"a": 2.0, "b": 0.0})


def test_kinds_differ_in_shape():
    dot = source(lambda a: a * 2.0 + 1.0, {"a": 3.0})
    for mark in ("shape=box", "shape=ellipse", "peripheries=2", "shape=note"):
        assert mark in dot


def test_the_order_is_stable_and_labels_are_escaped():
    build = {"a": 1.0, '<b>"x"</b>': 2.0}

    def f(**leaves):
        a, b = leaves.values()
        return a * b

    assert source(f, build) == source(f, build)
    assert "&lt;b&gt;" in source(f, build)
    assert '<b>"x"' not in source(f, build)


def test_messages_stand_on_the_edges():
    dot = source(lambda a, b: a * b, {"a": 2.0, "b": 3.0})
    assert re.search(r'n0 -> n2 \[label=3 id="edge-2-0"\]', dot)


def contrast(first, second):
    def luminance(colour):
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def test_texts_can_be_read_on_their_fill():
    for colours in PALETTES.values():
        for fill in ("leaf", "operation", "output", "constant"):
            for text in ("text", "gradient", "faint"):
                assert contrast(colours[text], colours[fill]) >= 4.5, (text, fill)
