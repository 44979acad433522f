"""Every fault does what its entry says, is found by the check that it names, and exists nowhere else."""

import inspect
import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import model
from lab.trace.comparison import first_difference
from lab.trace.derivation import derive, first_disagreement
from lab.trace.export import playable
from lab.training.doctor import diagnose
from lab.traps.faults.broken_engines import WrongOrder
from lab.traps.faults.broken_training import LessonTrainer
from lab.traps.faults.catalogue import BY_KEY, FAULTS
from lab.traps.faults.healthy_and_broken import (
    EngineComparison,
    check,
    compare,
    leaves,
    play,
    train_with,
    training_pass,
    which_curve,
)
from model import Tensor

ROOT = Path(__file__).resolve().parents[4]
ENGINE = [fault for fault in FAULTS if fault.kind == "engine"]
TRAINING = [fault for fault in FAULTS if fault.kind == "training"]
SEEDS = range(5)
TWO = (0, 3)


_trained = {}


def by_key(entries):
    return pytest.mark.parametrize("fault", entries, ids=[fault.key for fault in entries])


def trained(setup, seed):
    """The run of a setup. Most faults have the same healthy one: it is trained once, and no test changes it."""
    key = (setup.engine, setup.optimizer, setup.loss, *sorted(setup.settings.items()), seed)
    if key not in _trained:
        _trained[key] = train_with(setup, seed)
    return _trained[key]


# -- found


@by_key(ENGINE)
def test_the_gradient_check_fails_on_the_broken_engine_and_passes_on_the_healthy_one(fault):
    for seed in TWO:
        broken, healthy = check(fault, fault.broken.engine, seed), check(fault, Tensor, seed)
        assert not broken, f"seed {seed}: {broken}"
        assert healthy, f"seed {seed}: {healthy}"


def verdict(setup, seed):
    return diagnose(trained(setup, seed).records, setup.config(seed), own_loop=True)[0]


@pytest.mark.sample(6)
@pytest.mark.parametrize("seed", SEEDS)
@by_key(TRAINING)
def test_the_doctor_names_the_fault_and_finds_the_healthy_run_healthy(fault, seed):
    assert verdict(fault.healthy, seed).well
    assert verdict(fault.broken, seed).key == fault.verdict


@by_key(ENGINE)
def test_the_doctor_finds_nothing_in_the_healthy_run_beside_a_broken_engine(fault):
    assert verdict(fault.healthy, 0).key == "healthy"  # which is said alone


@by_key(TRAINING)
def test_a_fault_of_the_training_has_no_expression_to_check(fault):
    with pytest.raises(ValueError, match="doctor"):
        check(fault, Tensor, 0)


# -- exactly one thing is broken, and nothing outside


@by_key(FAULTS)
def test_the_broken_setup_differs_from_the_healthy_one_in_exactly_one_thing(fault):
    changed = [f.name for f in fields(fault.broken) if getattr(fault.broken, f.name) != getattr(fault.healthy, f.name)]
    assert len(changed) == 1
    if changed == ["settings"]:
        before, after = fault.healthy.config(0).to_json(), fault.broken.config(0).to_json()
        assert sum(before[name] != after[name] for name in before) == 1


def test_the_healthy_engine_is_untouched_by_all_of_them():
    def engine():
        return dict(vars(Tensor)), dict(vars(model))

    before = engine()
    for fault in ENGINE:
        compare(fault, 0)
        check(fault, fault.broken.engine, 0)
    assert engine() == before


@by_key(ENGINE)
def test_a_network_computes_in_the_engine_of_its_parameters(fault):
    trainer = LessonTrainer(fault.broken, 0)
    *_, logits = trainer.model.outputs(trainer.dataset.train_x[:4])
    assert type(logits) is fault.broken.engine
    assert all(node.dtype == np.float32 for node in trainer.model.parameters())


# -- event by event


@by_key(ENGINE)
def test_the_events_replay_to_the_gradients_that_the_broken_engine_left(fault):
    for seed in (0, 3):
        for engine in (fault.broken.engine, Tensor):
            trace = play(fault, engine, seed)
            replayed = trace.gradients_after()
            assert trace.error == ""
            for number, (name, gradient) in enumerate(run(fault, engine, seed).items()):
                np.testing.assert_array_equal(trace.gradients[name], gradient)
                assert (number in replayed) == (gradient is not None)
                if gradient is not None:
                    np.testing.assert_array_equal(replayed[number], gradient)


def run(fault, engine, seed):
    """The gradients of a fault's example without the recorder."""
    inputs = {name: engine(value) for name, value in leaves(fault, seed).items()}
    with np.errstate(all="ignore"):
        output = fault.compute(**inputs)
        output.backward(np.arange(1.0, output.size + 1).reshape(output.shape))
    return {name: tensor.grad for name, tensor in inputs.items()}


ADDS_WRONGLY = ("overwrite", "half-precision")


@by_key(ENGINE)
def test_before_and_message_make_after_unless_that_is_the_fault(fault):
    for engine in (Tensor, fault.broken.engine):
        trace = play(fault, engine, 0)
        assert trace.events[trace.forward_events]["kind"] == "seed"
        wrong = 0
        for sent, arrived in zip(trace.events, trace.events[1:], strict=False):
            assert (sent["kind"] == "message") == (arrived["kind"] == "accumulate")
            if arrived["kind"] == "accumulate":
                assert sent["child"] == arrived["node"]
                assert trace.nodes[sent["node"]]["children"][sent["operand"]] == sent["child"]
                with np.errstate(invalid="ignore"):
                    due = np.add(arrived["before"], arrived["message"])
                wrong += not np.array_equal(due, arrived["after"], equal_nan=True)
        assert bool(wrong) == (engine is not Tensor and fault.key in ADDS_WRONGLY)


@by_key(ENGINE)
def test_the_first_event_that_the_healthy_engine_does_not_have(fault):
    healthy, broken = play(fault, Tensor, 0), play(fault, fault.broken.engine, 0)
    assert first_difference(healthy, play(fault, Tensor, 0)) is None
    index = first_difference(healthy, broken)
    event = broken.events[index]
    line = broken.sources[event["source"]]["lines"][event["line"] - broken.sources[event["source"]]["first"]]
    kind, where = FIRST[fault.key]
    assert event["kind"] == kind
    assert where in line
    assert first_disagreement(healthy) is None
    assert (first_disagreement(broken) == index) == (fault.key == "relu-side")


FIRST = {
    "overwrite": ("accumulate", "self.grad = message"),
    "skip-unbroadcast": ("accumulate", "self.grad = message"),
    "wrong-order": (
        "message",
        "self.accumulate(upstream * right)",
    ),  # of a product that has not got its second message
    "wrong-capture": ("message", "senders.append(lambda"),
    "backward-twice": ("message", "self.accumulate(upstream * right)"),
    "relu-side": ("message", "(result <= 0.0, upstream)"),
    "mean-undivided": ("message", "self.accumulate(np.broadcast_to"),
    "softmax-unshifted": ("forward", '(self,), "softmax"'),
    "log-unguarded": ("forward", '"softmax"'),
    "half-precision": ("accumulate", "self.grad = message"),
}


@by_key(ENGINE)
def test_the_player_gets_all_it_needs_of_a_broken_pass(fault):
    trace = play(fault, fault.broken.engine, 0)
    data = playable(trace)
    assert "0x" not in json.dumps(data["nodes"])  # an address in memory says nothing and differs each time
    sent = sum(event["kind"] == "message" for event in trace.events)
    terms = [term for node in derive(trace) for term in node["terms"]]
    assert sum(term["event"] is not None for term in terms) == sent


def test_what_a_broken_engine_raises_ends_its_trace():
    # Two batches of different sizes: the gradient of b, which has the shape of the first, cannot hold both.
    batches, shapes = "y = (X + b).sum() + (Y + b).sum()", {"X": (4, 3), "Y": (2, 3), "b": (3,)}
    fault = replace(BY_KEY["skip-unbroadcast"], example=batches, shapes=shapes)
    trace = play(fault, fault.broken.engine, 0)
    assert trace.error.startswith("ValueError: operands could not be broadcast")
    assert json.loads(trace.to_json())["error"] == trace.error
    assert trace.events[-1]["kind"] == "accumulate"
    assert len(trace.events) < len(play(fault, Tensor, 0).events)
    playable(trace)


# -- what is shown


EFFECT = {"skip-unbroadcast": "shape", "wrong-capture": "missing"} | dict.fromkeys(
    ("softmax-unshifted", "log-unguarded"), "not finite"
)


@by_key(TRAINING)
def test_a_fault_of_the_training_changes_the_gradients_of_the_third_step(fault):
    assert EngineComparison(*(training_pass(setup, 0) for setup in (fault.healthy, fault.broken))).effect == "numbers"


@by_key(ENGINE)
def test_the_comparison_shows_the_effect(fault):
    for seed in TWO:
        comparison = compare(fault, seed)
        assert comparison.effect == EFFECT.get(fault.key, "numbers")
        assert EngineComparison(comparison.healthy, comparison.healthy).effect == "same"
        assert all(np.isfinite(g).all() for g in comparison.healthy.gradients.values())


def test_the_wrong_order_visits_every_node_also_of_equal_values():
    a = WrongOrder(1.0)
    (a * 1.0 * 1.0 * 1.0).backward()  # a chain of equal numbers
    assert a.grad == 1.0


def test_a_run_that_fails_is_told_in_a_sentence():
    history = train_with(BY_KEY["skip-unbroadcast"].broken, 0)
    assert history.records == []
    assert "'b1'" in history.error


@by_key(FAULTS)
def test_the_difference_leads_from_the_code_that_is_wrong_to_the_code_that_is_right(fault):
    """Both sides are read from the classes and functions that run, so neither can be a text about them."""
    broken, healthy = fault.broken, fault.healthy
    sides = [[line[2:].strip() for line in fault.difference if line[0] in signs] for signs in ("- ", "+ ")]
    sources = [
        "".join(inspect.getsource(part) for part in (setup.optimizer, setup.loss)) for setup in (broken, healthy)
    ]
    sources[0] += "".join(inspect.getsource(v) for v in vars(broken.engine).values() if inspect.isfunction(v))
    sources[1] += "".join((ROOT / name).read_text(encoding="utf-8") for name in ("model.py", "nn.py"))
    for lines, setup, code in zip(sides, (broken, healthy), sources, strict=True):
        for line in lines:
            if line.startswith("Config("):
                name, value = line.removeprefix("Config(").removesuffix(")").split("=")
                assert repr(setup.config(0).to_json()[name]) == value
            else:
                assert line in code or line.startswith("def "), line


@by_key(FAULTS)
def test_the_fix_is_the_lines_that_differ(fault):
    lines = fault.fix.splitlines()
    assert 1 <= len(lines) <= 12
    assert {line[:2] for line in lines} <= {"- ", "+ "}
    assert any(line.startswith("+ ") for line in lines) == (fault.key != "half-precision")  # which removes a line
    for line in lines:
        assert any(one[0] == line[0] and one[2:].strip() == line[2:].strip() for one in fault.difference)


CURVE = {
    "error": ["skip-unbroadcast", "wrong-capture"],
    "overflow": ["softmax-unshifted", "log-unguarded", "sign-flipped"],
    "worse": ["silent-broadcast", "forgot-zero-grad", "relu-side", "mean-undivided", "zero-init", "rate-too-high"],
}


@pytest.mark.parametrize(("curve", "key"), [(curve, key) for curve, keys in CURVE.items() for key in keys])
def test_the_curve_is_named_as_the_entry_tells_it(curve, key):
    fault = BY_KEY[key]
    healthy = trained(fault.healthy, 1)
    assert which_curve(healthy, trained(fault.broken, 1)) == curve
    assert which_curve(healthy, healthy) == "same"


@by_key(FAULTS)
def test_the_code_that_is_shown_is_the_code_that_is_wrong(fault):
    code = "\n".join(line[2:] for line in fault.difference if line[0] in "- ")
    assert "noqa" not in code
    assert "__slots__" not in code
    assert code.strip()
    if fault.broken.engine is not Tensor:
        methods = [name for name in vars(fault.broken.engine) if callable(vars(fault.broken.engine)[name])]
        assert all(f"def {name}(" in code for name in methods)


def test_what_half_precision_does_to_small_and_large_numbers_is_as_its_entry_says():
    cause = BY_KEY["half-precision"].cause
    assert "below 3e-8 they become 0, between 3e-8 and 6e-8 they are rounded up, above 65,504" in cause
    assert float(np.float16(2.95e-8)) == 0 < float(np.float16(3e-8))
    assert all(0 < number < float(np.float16(number)) for number in (3.05e-8, 4e-8, 5.9e-8))
    with np.errstate(over="ignore"):
        assert np.isinf(np.float16(65_530.0))
    assert np.isfinite(np.float16(65_504.0))
