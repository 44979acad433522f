import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from lab.training import datasets
from lab.training.base_trainer import put_weights
from lab.training.config import Config, ConfigError
from lab.training.measure import FLAT_ENDS, GRADIENT_EDGES
from lab.training.predictions import answers
from lab.training.records import is_record, score
from lab.training.run_folder import RunError
from model import Tensor, cross_entropy
from nn import ACTIVATIONS, Adam
from train import Trainer, learning_rate, train

MOONS = Config(data="moons", hidden=(8, 6), epochs=3, batch_size=100)


def same_but_for_time(first, second):
    return [r | {"seconds": 0} for r in first] == [r | {"seconds": 0} for r in second]


def step(trainer):
    """Train on one batch and return its loss."""
    return next(trainer.steps())[0]


# Config


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"lr": math.nan}, "--lr .* positive number, not nan"),
        ({"lr": math.inf}, "--lr"),
        ({"lr": 10**400}, "--lr"),
        ({"lr": 0}, "--lr"),
        ({"lr": -0.1}, "--lr"),
        ({"lr": "fast"}, "--lr"),
        ({"hidden": (0,)}, "--hidden must be whole numbers of at least 1"),
        ({"hidden": (8, -1)}, "--hidden"),
        ({"hidden": (8.5,)}, "--hidden"),
        ({"hidden": 8}, "--hidden"),
        ({"batch_size": 0}, "--batch-size must be a whole number of at least 1, not 0"),
        ({"epochs": 0}, "--epochs"),
        ({"epochs": 10.0}, "--epochs"),
        ({"epochs": True}, "--epochs"),
        ({"seed": -1}, "--seed"),
        ({"val_fraction": -0.1}, "--val-fraction"),
        ({"val_fraction": 1.0}, "--val-fraction"),
        ({"val_fraction": math.nan}, "--val-fraction"),
        ({"clip": 0}, "--clip"),
        ({"clip": math.inf}, "--clip"),
        ({"optimizer": "sgd", "momentum": 1.0}, "--momentum"),
        ({"momentum": 0.9}, "--momentum works only with sgd"),
        ({"weight_decay": -0.1}, "--weight-decay must be at least 0, not -0.1"),
        ({"weight_decay": math.nan}, "--weight-decay"),
        ({"l1": -0.1}, "--l1 must be at least 0, not -0.1"),
        ({"l1": True}, "--l1"),
        ({"activation": "rleu"}, "did you mean relu"),
        ({"init": "xaviar"}, "did you mean xavier"),
        ({"optimizer": "rmsprop"}, "choose one of adam, sgd"),
        ({"schedule": "cosin"}, "did you mean cosine"),
        ({"warmup": -1}, "--warmup must be a whole number of at least 0"),
        ({"warmup": 20}, "--warmup must be less than the 20 epochs, not 20"),
        ({"patience": 0}, "--patience must be a whole number of at least 1"),
        ({"data": 3}, "--data must be text"),
        ({"data_dir": 3}, "--data-dir must be text"),
    ],
)
def test_a_setting_without_sense_is_one_sentence(settings, words):
    with pytest.raises(ConfigError, match=words) as error:
        Config(**settings)
    assert "\n" not in str(error.value)


def test_a_config_goes_through_json_and_back():
    config = Config(data="moons", hidden=[5], lr=0.5, optimizer="sgd", momentum=0.9, clip=1.0)
    assert Config.from_json(json.loads(json.dumps(config.to_json()))) == config
    assert Config.from_json({"data": "moons"}) == Config(data="moons")
    with pytest.raises(ConfigError, match="no setting called 'colour': remove"):
        Config.from_json({"colour": "red"})


def test_the_learning_rate_defaults_to_that_of_the_optimizer():
    assert Config(optimizer="adam").lr != Config(optimizer="sgd").lr
    assert Config(lr=0.7).lr == 0.7


# Training


@pytest.fixture(scope="module")
def digits():
    """The records of a run with the defaults."""
    return list(train(Config()))


def test_digits_pass_95_percent_with_the_defaults(digits):
    assert max(record["val_accuracy"] for record in digits) > 0.95
    assert [record["epoch"] for record in digits] == list(range(1, Config().epochs + 1))


@pytest.mark.sample(2)
@pytest.mark.parametrize("activation", ["relu", "leaky_relu", "tanh", "sigmoid", "softplus", "sin", "identity"])
def test_every_activation_learns_blobs(activation):
    records = list(train(Config(data="blobs", activation=activation, hidden=(16,), epochs=8, lr=0.02)))
    assert records[-1]["val_accuracy"] > 0.95


def test_the_l1_penalty_adds_the_sign_of_each_weight_to_its_gradient_and_nothing_at_0():
    penalised, plain = (Trainer(replace(MOONS, l1=l1)) for l1 in (0.5, 0.0))
    network = plain.new_network("he", np.random.default_rng(0))
    network.layers[0].weight.data[0, :2] = 0.0
    found = [trainer.gradients(network) for trainer in (penalised, plain)]
    for layer, with_it, without in zip(network.layers, *found, strict=True):
        np.testing.assert_allclose(with_it - without, 0.5 * np.sign(layer.weight.numpy()), atol=1e-6)
    assert np.array_equal(found[0][0][0, :2], found[1][0][0, :2])


def test_the_l1_penalty_brings_weights_to_0_that_weight_decay_leaves():
    def near_zero(**settings):
        trainer = Trainer(Config(data="circles", hidden=(16, 16), optimizer="sgd", lr=0.1, epochs=20, **settings))
        records = list(train(trainer.config, trainer))
        assert records[-1]["val_accuracy"] > 0.95
        return np.mean(np.abs(trainer.model.layers[1].weight.numpy()) < 1e-2)

    assert near_zero(l1=0.01) > 0.6 > 0.1 > near_zero(weight_decay=0.01)


def test_the_same_config_gives_the_same_run_and_another_seed_another():
    assert same_but_for_time(train(MOONS), train(MOONS))
    assert not same_but_for_time(train(MOONS), train(Config(**{**MOONS.to_json(), "seed": 1})))


def test_each_epoch_sees_each_sample_once_in_an_order_of_its_own():
    trainer = Trainer(MOONS)
    orders = []
    for _ in range(2):
        orders.append(trainer._order)
        for _ in range(trainer.steps_per_epoch):
            step(trainer)
    assert [sorted(order) for order in orders] == [list(range(800))] * 2
    assert not np.array_equal(*orders)


def test_a_step_is_the_loss_its_gradient_and_one_adam_step():
    trainer = Trainer(MOONS)
    model = Trainer(MOONS).model
    rows = trainer._order[:100]
    loss = cross_entropy(model(trainer.dataset.train_x[rows]), trainer.dataset.train_y[rows])
    loss.backward()
    Adam(model.parameters(), MOONS.lr).step()
    assert step(trainer) == loss.item()
    for mine, expected in zip(trainer.model.parameters(), model.parameters(), strict=True):
        np.testing.assert_array_equal(mine.numpy(), expected.numpy())


def test_what_is_trained_for_can_be_replaced():
    class Tenfold(Trainer):
        def loss(self, rows):
            return 10 * super().loss(rows)

    config = replace(MOONS, optimizer="sgd", lr=0.01)
    assert same_but_for_time(train(config, Tenfold(config)), train(config, Tenfold(config)))
    trainer, tenfold = Trainer(replace(config, lr=0.1)), Tenfold(config)
    assert step(tenfold) == pytest.approx(10 * step(trainer))
    np.testing.assert_allclose(tenfold.weights(), trainer.weights(), rtol=1e-4, atol=1e-6)


def test_clipping_limits_the_step():
    # One plain step of rate 1 moves the weights by the gradient, so clipping shows in how far they went.
    settings = {"data": "moons", "hidden": (8,), "optimizer": "sgd", "lr": 1.0, "batch_size": 800, "epochs": 1}
    for clip in (None, 0.01):
        trainer = Trainer(Config(**settings, clip=clip))
        before = trainer.weights()
        step(trainer)
        moved = float(np.linalg.norm(trainer.weights() - before))
        assert moved > 0.02 if clip is None else moved == pytest.approx(clip, rel=1e-3)


def test_a_network_that_no_memory_can_hold_is_refused():
    with pytest.raises(ConfigError, match=r"makes a network of .* weights, more than"):
        Trainer(Config(data="moons", hidden=(10**30, 1)))


def test_a_batch_larger_than_the_data_is_all_of_it():
    assert Trainer(Config(data="moons", batch_size=10**400)).steps_per_epoch == 1
    assert Trainer(Config(data="moons", batch_size=799)).steps_per_epoch == 2


@pytest.mark.parametrize(
    ("schedule", "warmup", "rates"),
    [
        ("constant", 0, [1, 1, 1, 1, 1, 1, 1, 1]),
        ("constant", 2, [0.25, 0.5, 0.75, 1, 1, 1, 1, 1]),
        ("step", 0, [1, 1, 1, 1, 0.1, 0.1, 0.01, 0.01]),
        ("step", 1, [0.5, 1, 1, 1, 0.1, 0.1, 0.01, 0.01]),
        ("cosine", 0, [(1 + math.cos(math.pi * step / 8)) / 2 for step in range(8)]),
        ("cosine", 2, [0.25, 0.5, 0.75, 1, 1, (1 + math.sqrt(0.5)) / 2, 0.5, (1 - math.sqrt(0.5)) / 2]),
    ],
)
def test_the_learning_rate_follows_its_schedule(schedule, warmup, rates):
    config = Config(data="moons", epochs=4, batch_size=400, lr=3.0, schedule=schedule, warmup=warmup)
    assert [learning_rate(config, step, 2) for step in range(8)] == pytest.approx([3 * rate for rate in rates])


def test_each_step_is_as_long_as_the_schedule_says():
    config = Config(data="moons", hidden=(), epochs=4, batch_size=800, optimizer="sgd", schedule="step", warmup=1)
    trainer, rates = Trainer(config), []
    while not trainer.done:
        before = trainer.weights()
        _, record = next(trainer.steps())
        gradient = np.concatenate([p.grad.ravel() for p in trainer.model.parameters()])
        rates.append(float(np.linalg.norm(trainer.weights() - before) / np.linalg.norm(gradient)))
        assert record["lr"] == pytest.approx(rates[-1], rel=1e-3)
    assert rates == pytest.approx([0.05, 0.05, 0.005, 0.0005], rel=1e-3)


def test_it_stops_when_patience_is_lost_and_no_earlier():
    config = Config(data="moons", hidden=(8,), epochs=60, lr=0.05, patience=4)
    records = list(train(config))
    without = list(train(replace(config, patience=None)))
    assert len(records) < 60
    assert same_but_for_time(records, without[: len(records)])
    assert records[-1]["since_best"] == 4
    assert max(r["since_best"] for r in records[:-1]) == 3
    bests = [r["epoch"] for r in records if r["best"]]
    assert len(records) == bests[-1] + 4


def test_the_share_of_clipped_steps_is_counted():
    config = Config(data="moons", hidden=(8,), epochs=1, batch_size=50)
    trainer, norms = Trainer(config), []
    for _, record in trainer.steps():  # noqa: B007
        norms.append(math.sqrt(sum(float(np.vdot(p.grad, p.grad)) for p in trainer.model.parameters())))
    assert record["clipped"] == 0.0
    (all_clipped,) = train(replace(config, clip=1e-6))
    (some,) = train(replace(config, clip=sorted(norms)[8]))  # clipping changes the steps, though not very much
    assert all_clipped["clipped"] == 1.0
    assert 0 < some["clipped"] < 1


# Records


@pytest.fixture(scope="module")
def finished():
    """A trainer after its only epoch, and the record. One batch is the whole epoch, so all can be recomputed."""
    config = Config(data="moons", hidden=(8, 6), epochs=1, batch_size=800, clip=0.001)
    trainer = Trainer(config)
    start = Trainer(config)
    (record,) = train(config, trainer)
    return trainer, start, record


def test_losses_and_accuracies_are_those_of_the_final_weights(finished):
    trainer, _, record = finished
    data = trainer.dataset
    for part, x, y in (("train", data.train_x, data.train_y), ("val", data.val_x, data.val_y)):
        logits = trainer.model(x)
        assert record[f"{part}_loss"] == pytest.approx(cross_entropy(logits, y).item(), rel=1e-5)
        assert record[f"{part}_accuracy"] == np.mean(logits.numpy().argmax(axis=1) == y)


def test_losses_are_right_for_data_larger_than_the_evaluation_batch():
    trainer = Trainer(Config(data="digits", epochs=1))
    (record,) = train(trainer.config, trainer)
    logits = trainer.model(trainer.dataset.train_x)
    assert record["train_loss"] == pytest.approx(cross_entropy(logits, trainer.dataset.train_y).item(), rel=1e-5)


def test_the_gap_is_what_training_accuracy_has_over_validation_accuracy(digits):
    for record in digits:
        assert record["gap"] == record["train_accuracy"] - record["val_accuracy"]
    assert digits[-1]["gap"] > 0


def test_gradient_norms_are_per_layer_and_before_clipping(finished):
    _, start, record = finished
    start.model.zero_grad()
    cross_entropy(start.model(start.dataset.train_x), start.dataset.train_y).backward()
    assert list(record["grad_norm"]) == ["layer1", "layer2", "layer3"]
    for layer, norm in zip(start.model.layers, record["grad_norm"].values(), strict=True):
        gradient = np.concatenate([layer.weight.grad.ravel(), layer.bias.grad])
        assert norm == pytest.approx(np.linalg.norm(gradient), rel=1e-3)


def test_update_ratios_compare_the_step_with_the_weights(finished):
    trainer, start, record = finished
    for now, then, ratio in zip(trainer.model.layers, start.model.layers, record["update_ratio"].values(), strict=True):
        before, after = then.weight.numpy(), now.weight.numpy()
        assert ratio == pytest.approx(np.linalg.norm(after - before) / np.linalg.norm(before), rel=1e-5)


def test_histograms_count_every_weight(finished):
    trainer, _, record = finished
    for layer, histogram in zip(trainer.model.layers, record["weight_histogram"].values(), strict=True):
        weights = layer.weight.numpy()
        assert len(histogram["edges"]) == len(histogram["counts"]) + 1
        assert sum(histogram["counts"]) + histogram["below"] + histogram["above"] == weights.size
        middle = histogram["edges"][len(histogram["edges"]) // 2]
        assert middle == 0
        positive = sum(histogram["counts"][len(histogram["counts"]) // 2 :]) + histogram["above"]
        assert positive == np.count_nonzero(weights >= 0)


def test_histogram_edges_stay_the_same_through_a_run():
    records = list(train(MOONS))
    for layer in ("layer1", "layer2", "layer3"):
        assert len({tuple(record["weight_histogram"][layer]["edges"]) for record in records}) == 1


def test_weights_beyond_the_edges_are_counted():
    trainer = Trainer(Config(data="moons", hidden=(4,), epochs=1, batch_size=800))
    put_weights(trainer.model, np.linspace(-1000, 1000, trainer.weights().size, dtype=np.float32))
    histogram = trainer.measure()["weight_histogram"]["layer1"]
    assert (histogram["below"], sum(histogram["counts"]), histogram["above"]) == (8, 0, 0)


def test_dead_units_are_those_that_never_change():
    trainer = Trainer(Config(data="moons", hidden=(4,), epochs=1, batch_size=800))
    for unit in range(3):
        trainer.model.layers[0].bias.data[unit] = -1000.0  # relu gives 0 for every sample
    assert trainer.measure()["dead_units"] == {"layer1": 0.75}


@pytest.mark.parametrize("activation", ["tanh", "sigmoid", "relu"])
def test_saturated_outputs_are_those_with_hardly_any_derivative(activation):
    trainer = Trainer(Config(data="moons", hidden=(4, 3), activation=activation))
    put_weights(trainer.model, 3 * trainer.weights())
    x, shares = trainer.dataset.train_x.astype(float), []
    for layer in trainer.model.layers[:-1]:
        z = Tensor(x @ layer.weight.numpy() + layer.bias.numpy())
        y = getattr(z, activation)()
        y.sum().backward()
        shares.append(float(np.mean(z.grad < 0.05 * (0.25 if activation == "sigmoid" else 1))))
        x = y.numpy()
    measured = list(trainer.measure()["saturated"].values())
    assert measured == (pytest.approx(shares, abs=1e-3) if activation != "relu" else [0.0, 0.0])
    if activation == "tanh":
        assert measured[0] > 0.05


def test_the_network_can_be_measured_at_any_moment_and_nothing_changes():
    trainer = Trainer(Config(data="moons", hidden=(8, 6), epochs=1, batch_size=400, init="zeros"))
    assert trainer.measure()["train_loss"] == pytest.approx(math.log(2))
    for _, record in trainer.steps():  # noqa: B007
        measured = trainer.measure()
    assert record == record | measured
    assert same_but_for_time(train(trainer.config), [record])


def test_the_gradients_of_the_last_batch_are_counted(finished):
    _, start, record = finished  # one batch is the whole epoch, and it was clipped to next to nothing
    start.model.zero_grad()
    cross_entropy(start.model(start.dataset.train_x), start.dataset.train_y).backward()
    for layer, histogram in zip(start.model.layers, record["gradient_histogram"].values(), strict=True):
        sizes = np.abs(layer.weight.grad)
        assert histogram["edges"] == list(GRADIENT_EDGES)
        assert sum(histogram["counts"]) + histogram["below"] + histogram["above"] == sizes.size
        middle = len(histogram["counts"]) // 2
        assert histogram["counts"][middle] == np.count_nonzero(sizes <= 1e-6)
        at_most = [edge for edge in GRADIENT_EDGES if 0 < edge <= 0.01]
        near = slice(middle - len(at_most) + 1, middle + len(at_most))
        assert sum(histogram["counts"][near]) == np.count_nonzero(sizes <= 0.01)


def test_zeros_are_diagnosed_and_stay_json():
    for record in train(Config(data="moons", init="zeros", epochs=2, hidden=(4, 4))):
        assert record["dead_units"] == {"layer1": 1.0, "layer2": 1.0}
        assert record["grad_norm"]["layer1"] == 0
        json.dumps(record, allow_nan=False)


def test_the_best_epoch_keeps_its_weights():
    config = Config(data="spirals", hidden=(16,), epochs=12, lr=0.05)
    trainer = Trainer(config)
    weights, records = [], []
    for record in train(config, trainer):
        records.append(record)
        weights.append(trainer.weights())
    best = max(records, key=lambda record: (record["val_accuracy"], -record["val_loss"]))
    assert trainer.best_epoch == best["epoch"] == [r["epoch"] for r in records if r["best"]][-1]
    np.testing.assert_array_equal(trainer.best_weights, weights[best["epoch"] - 1])
    other = Trainer(config)
    put_weights(other.model, trainer.best_weights)
    measured = other.measure()
    assert (measured["val_loss"], measured["val_accuracy"]) == (best["val_loss"], best["val_accuracy"])


@pytest.mark.parametrize("settings", [{"optimizer": "sgd", "lr": 1e30}, {"lr": 1e38}, {"lr": 1e300}])
def test_a_diverging_run_ends_with_a_record_that_is_json(settings):
    config = Config(data="moons", epochs=50, **settings)
    trainer = Trainer(config)
    records = list(train(config, trainer))
    assert trainer.done
    assert len(records) < 50
    assert [record["diverged"] for record in records] == [False] * (len(records) - 1) + [True]
    json.dumps(records, allow_nan=False)
    assert list(train(config, trainer)) == []


# Pausing, resuming


def test_each_batch_has_a_loss_and_the_last_of_an_epoch_a_record():
    losses, records = zip(*Trainer(MOONS).steps(), strict=True)
    assert len(losses) == 3 * 8
    assert [at for at, record in enumerate(records) if record] == [7, 15, 23]
    assert same_but_for_time([records[at] for at in (7, 15, 23)], train(MOONS))


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "settings",
    [
        {"schedule": "step", "warmup": 2},
        {"optimizer": "sgd", "momentum": 0.9, "schedule": "cosine"},
        {"clip": 0.3, "activation": "tanh", "lr": 1.0, "patience": 1, "epochs": 9},
    ],
)
@pytest.mark.parametrize("steps", [0, 1, 8, 11, 20])
def test_a_restored_state_goes_on_bit_for_bit(settings, steps):
    config = Config(**{**MOONS.to_json(), **settings})
    whole = Trainer(config)
    expected = list(train(config, whole))

    first = Trainer(config)
    records = [record for _, record in itertools.islice(first.steps(), steps) if record]
    saved = first.state()
    list(train(config, first))  # the saved state must not change with the trainer it was taken from

    second = Trainer(config)
    second.load_state(saved)
    records += train(config, second)
    assert same_but_for_time(records, expected)
    np.testing.assert_array_equal(second.weights(), whole.weights())
    np.testing.assert_array_equal(second.best_weights, whole.best_weights)
    assert second.best_epoch == whole.best_epoch
    assert second.stopped_early == whole.stopped_early == ("patience" in settings)


@pytest.mark.parametrize("settings", [{"optimizer": "sgd", "momentum": 0.9}, {"optimizer": "adam"}])
def test_a_state_is_a_snapshot_that_neither_a_step_nor_loading_it_changes(settings):
    trainer = Trainer(Config(**{**MOONS.to_json(), **settings}))
    step(trainer)
    saved = trainer.state()
    before = {name: array.copy() for name, array in saved.items()}
    for _ in range(2):
        step(trainer)
        np.testing.assert_equal(saved, before)
        trainer.load_state(saved)


def test_a_state_of_another_shape_is_refused_before_anything_changes():
    saved = Trainer(Config(**{**MOONS.to_json(), "hidden": [8]})).state()
    trainer = Trainer(MOONS)
    before = trainer.weights()
    with pytest.raises(RunError, match=r"a network 2-8-2, but this one is 2-8-6-2"):
        trainer.load_state(saved)
    np.testing.assert_array_equal(trainer.weights(), before)


def test_a_state_of_other_data_is_refused():
    saved = Trainer(Config(**{**MOONS.to_json(), "data": "circles"})).state()
    with pytest.raises(RunError, match="data differ"):
        Trainer(MOONS).load_state(saved)


PARTS = list(Trainer(MOONS).state())
EDITS = [(name, edit) for name in PARTS for edit in ("left out", "two numbers", "a text", "other bits")]


@pytest.mark.parametrize(("name", "edit"), EDITS)
def test_a_state_that_somebody_has_changed_is_one_sentence_and_changes_nothing(name, edit):
    trainer = Trainer(MOONS)
    for _ in itertools.islice(trainer.steps(), trainer.steps_per_epoch + 1):
        pass
    saved, before = trainer.state(), trainer.state()
    if edit == "left out":
        del saved[name]
    elif edit == "two numbers":
        saved[name] = np.array([1, 2])
    elif edit == "a text":
        saved[name] = np.array("many")
    else:
        saved[name] = saved[name].astype(np.float16 if saved[name].dtype == np.float64 else np.float64)
    with pytest.raises(RunError, match="checkpoint") as error:
        trainer.load_state(saved)
    assert "\n" not in str(error.value)
    for part, array in trainer.state().items():
        np.testing.assert_array_equal(array, before[part])


def test_weights_that_do_not_fit_are_refused():
    with pytest.raises(RunError, match="3 weights do not fit the network 2-8-6-2"):
        put_weights(Trainer(MOONS).model, np.zeros(3, np.float32))


# Regression


def noise_floor_ratio(model, data, noise):
    """The mean squared error on fresh samples of the wave, over the variance of their noise: 1 is the best there is."""
    x, y = datasets.sine(20_000, noise, np.random.default_rng(99))
    found = data.in_units(answers(model, (x - data.mean) / data.scale))
    return np.mean((found - y) ** 2) / noise**2


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(3))
def test_a_regression_of_a_noisy_wave_comes_within_a_tenth_of_its_noise(seed):
    config = Config(data="sine", hidden=(32, 32), activation="tanh", lr=0.01, epochs=60, schedule="cosine", seed=seed)
    trainer = Trainer(config)
    records = list(train(config, trainer))
    assert noise_floor_ratio(trainer.model, trainer.dataset, 0.2) < 1.1
    last = records[-1]
    assert (last["train_accuracy"], last["val_accuracy"], last["gap"]) == (None, None, None)
    assert score(last, "val") == 1 - last["val_loss"] / last["origin"]["baseline_val_loss"] > 0.9
    assert records[trainer.best_epoch - 1]["val_loss"] == min(record["val_loss"] for record in records)
    assert all(is_record(record, epoch, config.layer_names) for epoch, record in enumerate(records, start=1))


def test_the_loss_of_a_regression_is_the_mean_squared_error_of_standardised_targets():
    trainer = Trainer(Config(data="sine", hidden=(4,), epochs=1))
    data = trainer.dataset
    errors = answers(trainer.model, data.val_x) - data.val_y
    assert trainer.measure()["val_loss"] == pytest.approx(np.mean(errors**2), rel=1e-5)
    trainer.model.layers[-1].weight.data = np.zeros((4, 1), np.float32)
    assert trainer.measure()["train_loss"] == pytest.approx(1, abs=1e-5)  # whoever guesses the mean
    state = trainer.state()
    step(trainer)
    trainer.load_state(state)


def test_a_write_to_the_data_after_the_forward_pass_reaches_no_gradient():
    gradients = []
    for write in (False, True):
        trainer = Trainer(Config(data="xor"))
        loss = trainer.loss(trainer.rows(0))
        if write:
            trainer.dataset.train_x.flags.writeable = True
            trainer.dataset.train_x[:] = 5.0
        loss.backward()
        gradients.append([p.grad for p in trainer.model.parameters()])
    for right, got in zip(*gradients, strict=True):
        np.testing.assert_array_equal(got, right)


@pytest.mark.parametrize("changes", [None, 3, [None], "ab", [[1, "lr"]]])
def test_changes_that_are_no_list_of_changes_get_a_sentence(changes):
    with pytest.raises(ConfigError, match="--changes must be the epoch"):
        Config(changes=changes)


def test_an_activation_saturates_where_its_slope_is_a_small_share_of_the_steepest():
    assert set(FLAT_ENDS) <= set(ACTIVATIONS)
    for name, share in FLAT_ENDS.items():
        z = Tensor(np.linspace(-9, 9, 7))
        y = getattr(z, name)()
        y.sum().backward()
        np.testing.assert_allclose(share(y.numpy()), z.grad / z.grad.max(), atol=1e-12)
        assert share(y.numpy())[0] < 0.01 > share(y.numpy())[-1]
