"""Curves: right causes for runs with a known one, silence on healthy ones, and one sentence for whatever is no curve."""

import csv
import io
import json
import random
from itertools import islice

import numpy as np
import pytest

from lab.failures.curve import KNOWN, LogError, of_records, read_log
from lab.failures.curve.first_bad import FirstBad, NoneBad, first_bad
from lab.failures.curve.log import MAX_BYTES
from lab.failures.curve.roles import role
from lab.training.config import Config
from lab.training.doctor import diagnose
from lab.training.run_folder import RunFolder
from train import Trainer, train

FALLING = [2.3 * 0.8**epoch + 0.05 for epoch in range(20)]
ROWS = [[epoch, loss, loss + 0.02] for epoch, loss in enumerate(FALLING)]


def written(header, rows, delimiter=","):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    if header:
        writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def test_the_cause_of_networks_that_pytorch_has_trained():
    """Held out when the rules were made: at their first run 36 of the 40 were right. PyTorch computes with other
    instructions on another processor, which moves one run over a threshold: there it is 35."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    from failures.trained_runs import HEALTHY, HELD_OUT, found, right

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        answers = [(run, found(run)) for run in HELD_OUT]
    finally:
        torch.set_num_threads(threads)
    assert len(answers) == 40
    assert [keys for run, keys in answers if run.cause == HEALTHY and keys] == []
    wrong = [(run.cause, run.settings["seed"], keys) for run, keys in answers if not right(run, keys)]
    assert len(wrong) <= 5, wrong


@pytest.mark.parametrize("epochs", [10, 30])
@pytest.mark.parametrize(
    ("trained", "rise", "keys"),
    [
        (0.03, 0.19, ["overfitting"]),
        (0.03, 0.1, ["overfitting"]),  # little, but far above the training loss
        (0.03, 0.02, ["overfitting"]),  # next to none, but the training loss is a fortieth of it
        (0.6, 0.1, ["overfitting"]),  # little, far above the training loss, for many epochs
        (0.9, 0.1, []),  # training is hardly better
    ],
)
def test_how_far_validation_must_rise_depends_on_how_far_it_is_from_training(epochs, trained, rise, keys):
    t = np.linspace(0, 1, epochs)
    loss = 1.8 * (trained / 1.8) ** t
    val_loss = np.where(t < 0.3, 1.05 + 0.75 * (1 - t / 0.3) ** 2, 1.05 * (1 + rise * (t - 0.3) / 0.7))
    rows = zip(range(1, epochs + 1), loss, val_loss, strict=True)
    causes = read_log(written(["epoch", "loss", "val_loss"], rows)).causes
    assert [cause.key for cause in causes] == (keys if epochs > 10 or trained != 0.6 else [])


# ---------------------------------------------------------------- forms


NAMES = {  # what a name means -> names
    "train_loss": (
        "loss; train_loss; training loss; Loss/train; run-1 - train/loss; train_loss_epoch; trainLoss; "
        "Verlust; perte; cross entropy"
    ),
    "val_loss": (
        "val_loss; valid/loss; test_loss; eval_loss; Validation Loss; valLoss; va_loss; valid_1's l2; "
        "doğrulama kaybı; valloss; strata walidacji; ztráta na testu; ошибка на "
        "проверке"
    ),
    "train_accuracy": "acc; accuracy; Prec@1; tracc; tasa de aciertos",
    "val_accuracy": "val_acc; val_sparse_categorical_accuracy; valid/top1",
    None: (
        "steps/s; entropy; Wall time; loss__MIN; run - loss__MAX; time; comment; l2; ELBO; taux de "
        "réussite; apprentissage; скорость; precision; prec; train/val loss"
    ),
    "lr": "lr; learning_rate; lr-Adam",
    "epoch": "epoch; Epoch; epoque",
    "step": "step; global_step; iteration; _step; trainer/global_step; #",
    "grad_norm": "grad_norm; train/grad_norm; gradient norm; grad_2.0_norm_total; grad_norm (2)",
    "grad_norm/fc1": "grad_norm/fc1",
}  # None: l2 is of the weights, ELBO may be to rise, "précision" is the French accuracy, prec either


@pytest.mark.parametrize(
    ("means", "name"), [(means, name) for means, names in NAMES.items() for name in names.split("; ")]
)
def test_what_a_column_is_by_its_name(means, name):
    assert role(name) == means


WAYS = "comma semicolon tab unnamed german windows comment spaces jsonl json lightning nan"


@pytest.mark.parametrize(
    "text",
    [
        written(["epoch", "train_loss", "val_loss"], ROWS),
        written(["epoch", "train_loss", "val_loss"], ROWS, ";"),
        written(["epoch", "training loss", "valid/loss"], ROWS, "\t"),
        written(None, ROWS),
        written(["Epoche", "Verlust", "val Verlust"], ROWS, ";").replace(".", ","),
        "\ufeff" + written(["epoch", "loss", "val_loss"], ROWS).replace("\n", "\r\n"),
        "# exported\n" + written(["epoch", "loss", "val_loss"], ROWS),
        "epoch  loss  val_loss\n" + "\n".join(f"{a}  {b:.6f}  {c:.6f}" for a, b, c in ROWS),
        "\n".join(json.dumps({"epoch": a, "loss": b, "eval_loss": c}) for a, b, c in ROWS),
        json.dumps([{"epoch": a, "train": {"loss": b}, "val": {"loss": c}} for a, b, c in ROWS]),
        written(  # Lightning: training and validation on lines of their own
            ["epoch", "step", "train_loss_step", "train_loss_epoch", "val_loss"],
            [
                row
                for a, b, c in ROWS
                for row in ([a, 10 * a, 9.0, "", ""], [a, 10 * a, "", b, ""], [a, 10 * a, "", "", c])
            ],
        ),
        written(["epoch", "loss", "val_loss"], [row for a, b, c in ROWS for row in ([a, b, "nan"], [a, "nan", c])]),
    ],
    ids=WAYS.split(),
)
def test_one_curve_in_many_forms(text):
    for source in (text, text.encode()):
        answer = read_log(source)
        assert np.allclose(answer.curve.loss, FALLING, atol=1e-5)
        assert np.allclose(answer.curve.val_loss - answer.curve.loss, 0.02, atol=1e-5)
        assert answer.curve.epochs == list(range(20))
        assert answer.curve.unit == "epoch"
        assert answer.causes == ()
        assert answer.ended == ""


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"{loss:.4f}" for loss in FALLING),
        "\n".join(f"{loss:.4f}".replace(".", ",") for loss in FALLING),
        "loss\n" + "\n".join(f"tensor({loss:.4f}, grad_fn=<NllLossBackward0>)" for loss in FALLING),
        written(["Wall time", "Step", "Value"], [[1.7e9 + at, at, loss] for at, loss in enumerate(FALLING)]),
        written(
            ["Step", "run - train/loss", "run - train/loss__MIN", "run - train/loss__MAX"],
            [[at, loss, loss, loss] for at, loss in enumerate(FALLING)],
        ),
    ],
)
def test_a_single_column_of_losses(text):
    answer = read_log(text)
    assert np.allclose(answer.curve.loss, FALLING, atol=1e-3)
    assert answer.causes == ()
    assert any("validation loss" in sentence for sentence in answer.unseen)
    assert any("val_loss" in line for line in answer.log)


def test_many_steps_are_put_together_and_named_as_what_they_are():
    generator = np.random.default_rng(0)
    losses = 1.4 + 1.2 * generator.random(3000) * (1 + np.arange(3000) // 300 % 2)
    answer = read_log(written(["step", "loss"], [[at, loss] for at, loss in enumerate(losses)]))
    assert answer.curve.unit == "block"
    assert len(answer.curve) == 30
    assert "3,000 steps" in answer.notes[-1]
    assert answer.causes
    assert not any("epoch" in s for cause in answer.causes for s in cause.evidence)


def test_gaps_are_bridged_and_said_to_be():
    rows = [[epoch, loss if epoch % 7 else "", loss + 0.02 if epoch % 5 == 0 else ""] for epoch, loss, _ in ROWS]
    answer = read_log(written(["epoch", "loss", "val_loss"], rows))
    assert np.isfinite(answer.curve.loss).all()
    assert np.isfinite(answer.curve.val_loss).all()
    assert any("gaps" in note for note in answer.notes)
    assert answer.ended == ""
    assert answer.causes == ()


def test_percent_and_columns_that_nobody_knows():
    rows = [[epoch, loss, f"{100 - 4 * loss:.1f}", 7] for epoch, loss, _ in ROWS]
    answer = read_log(written(["epoch", "loss", "accuracy", "gpu_temp"], rows))
    assert 0.8 < answer.curve.train_score[-1] < 1
    assert answer.notes == ("Not used: “gpu_temp”.",)


# ---------------------------------------------------------------- causes


def test_each_cause_has_evidence_with_numbers_and_a_place_or_is_said_to_look_the_same():
    text = written(["epoch", "loss"], [[epoch, 1.5 * 1.3**epoch] for epoch in range(15)])
    first, *others = read_log(text).causes
    assert first.key == "rate-high"
    assert KNOWN[first.key].failure == "rate"
    assert first.at == 0
    assert "1.5" in first.evidence[0]
    assert not first.sure
    assert [(cause.key, cause.evidence, cause.at) for cause in others] == [("climbing", (), None)]


def test_a_number_that_ends_suddenly_is_no_rate_and_one_that_has_grown_is():
    calm = [[epoch, loss, "nan" if epoch > 12 else loss] for epoch, loss, _ in ROWS]
    answer = read_log(written(["epoch", "val_loss", "loss"], calm))
    assert [cause.key for cause in answer.causes] == ["nan", "rate-high"]
    assert answer.ended == "From epoch 13 on the training loss is no longer a number."
    grown = [[0, 2.3], [1, 9.0], [2, 80.0], [3, 4e7], [4, "inf"], [5, "nan"]]
    assert next(cause.key for cause in read_log(written(["epoch", "loss"], grown)).causes) in ("rate-high", "climbing")


def test_a_regression_in_large_units_is_not_called_badly_scaled():
    rows = [[epoch, 50_000 * 0.7**epoch + 300, 50_000 * 0.7**epoch + 350] for epoch in range(25)]
    assert read_log(written(["epoch", "loss", "val_loss"], rows)).causes == ()


def test_a_loss_that_stands_has_several_causes_until_norms_tell_them_apart():
    rows = [[epoch, 2.303 + 0.004 * (-1) ** epoch] for epoch in range(15)]
    answer = read_log(written(["epoch", "loss"], rows))
    assert len(answer.causes) > 2
    assert not any(cause.sure for cause in answer.causes)
    rows = [[*row, 0.0, 0.0, 0.1] for row in rows]
    header = ["epoch", "loss", "grad_norm/a", "grad_norm/b", "grad_norm/c"]
    assert [cause.key for cause in read_log(written(header, rows)).causes] == ["flat", "dying"]


def test_every_cause_that_this_lab_can_cause_leads_to_settings_that_it_takes():
    for known in KNOWN.values():
        if known.settings:
            values = {
                name: text if name in ("data", "activation", "init", "optimizer", "hidden") else float(text)
                for name, text in known.settings.items()
            }
            hidden = tuple(int(width) for width in known.settings.get("hidden", "8").split())
            whole = {name: int(values[name]) for name in ("epochs", "batch_size", "samples") if name in values}
            Config(**{**values, **whole, "hidden": hidden})


# ---------------------------------------------------------------- runs of this trainer


def test_a_run_folder_is_read_with_all_that_the_doctor_sees(tmp_path):
    config = Config(data="moons", hidden=(16, 16), init="zeros", epochs=5)
    run, trainer = RunFolder.create(tmp_path / "run", config), Trainer(config)
    for record in train(config, trainer):
        run.save(record, trainer.state())
    answer = of_records(run.records(), run.config())
    assert [cause.key for cause in answer.causes] == ["flat"]
    assert answer.causes[0].sure
    assert answer.unseen == ()
    assert answer.causes[0].evidence == diagnose(run.records(), config)[0].evidence
    # Its metrics alone are read as any curve is.
    assert next(cause.key for cause in read_log((tmp_path / "run" / "metrics.jsonl").read_bytes()).causes) == "flat"


def test_a_run_without_an_epoch_is_told_so():
    with pytest.raises(LogError, match="no complete epoch"):
        of_records([], Config())


def test_the_batch_and_the_operation_where_numbers_ended():
    config = Config(data="moons", hidden=(8, 8, 8), init="normal", optimizer="sgd", lr=30.0, epochs=30)
    found = first_bad(config)
    records = list(train(config))
    assert isinstance(found, FirstBad)
    assert found.epoch == records[-1]["epoch"]
    assert not np.isfinite(found.loss)
    trainer = Trainer(config)
    losses = [loss for loss, _ in islice(trainer.steps(), found.batch)]
    assert np.isfinite(losses[:-1]).all()
    assert not np.isfinite(losses[-1])
    assert found.trace is not None
    assert "`linear`" in found.sentences[0]
    assert "∞" in found.sentences[0]
    node = found.trace.nodes[found.trace.events[found.event - 1]["node"]]
    assert not np.isfinite(np.asarray(node["value"])).all()
    assert all(np.isfinite(np.asarray(found.trace.nodes[child]["value"])).all() for child in node["children"])


def test_a_run_that_stays_finite_has_no_such_batch_and_a_large_one_no_drawing(monkeypatch):
    finite = Config(data="moons", hidden=(4,), epochs=1)
    steps = Trainer(finite).steps_per_epoch
    assert first_bad(finite) == NoneBad(steps, whole=True)
    monkeypatch.setattr("lab.failures.curve.first_bad.MAX_STEPS", steps - 1)
    assert first_bad(finite) == NoneBad(steps - 1, whole=False)
    large = first_bad(Config(data="moons", hidden=(64, 64), init="normal", optimizer="sgd", lr=100.0, epochs=5))
    assert isinstance(large, FirstBad)
    assert large.trace is None
    assert large.epoch == 1


# ---------------------------------------------------------------- what is no curve


@pytest.mark.parametrize(
    "source",
    [
        "",
        "   \n",
        "hello",
        "Der Verlust fällt nicht, was kann ich tun?",
        "损失不下降，怎么办？",
        "a,b,c\nd,e,f\ng,h,i\nj,k,l",
        "{",
        "{}",
        "[1, 2, 3]",
        "[" * 100_000,
        "\x00\x01\x02\x03",
        b"\x89PNG\r\n\x1a\n\x00\x00",
        bytes(range(256)) * 100,
        "epoch,loss\n" + ",,\n" * 50,
        '"' * 999,
        "," * 5000,
        "x" * (MAX_BYTES + 1),
    ],
)
def test_what_is_no_curve_gets_one_sentence(source):
    with pytest.raises(LogError) as caught:
        read_log(source)
    assert 20 < len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "note"),
    [
        ("name,age\nAda,36\nAlan,41\nGrace,85\nBarbara,79", "Not used: “age”."),
        ("epoch,loss\n1,x\n2,y\n3,z\n4,w", "4 of the values of “loss” are not numbers and count as gaps."),
        ('{"a": {"b": {"c": 1}}}', "Not used: “a/b/c”."),
    ],
)
def test_numbers_of_which_none_is_called_a_loss_are_listed_and_one_of_them_may_be_chosen(source, note):
    answer = read_log(source)
    assert answer.curve is None
    assert answer.causes == ()
    assert answer.notes[0] == "No number here is called a loss: choose which one is."
    assert note in answer.notes
    for name in answer.others:
        chosen = read_log(source, {"train_loss": name})
        assert chosen.curve is not None
        assert chosen.columns[name] == "train_loss"


def test_a_long_log_is_read():
    rows = [[at, 2.3 * 0.9999**at + 0.01] for at in range(15_500)]
    text = written(["step", "train_loss"], rows)
    assert 0.9 * MAX_BYTES < len(text) < MAX_BYTES
    assert read_log(text).causes == ()


def test_nothing_that_looks_like_a_curve_breaks_the_rules():
    """Columns of zeros, of huge and of wild numbers: an answer or a sentence, never another error, nor a warning."""
    chance = random.Random(7)
    names = ["val_loss", "acc", "val_acc", "lr", "grad_norm", "epoch", "step"]
    names += [f"grad_norm/{layer}" for layer in "abc"]
    kinds = {
        "zero": lambda at: "0",
        "same": lambda at: "0.5",
        "any": lambda at: f"{chance.lognormvariate(0, 2):.3g}",
        "counts": str,
        "falls": lambda at: f"{2 * 0.9**at:.4g}",
        "wild": lambda at: chance.choice(["", "nan", "inf", "-inf", "0", "-1", "1e300", "x", "0,5", "50%"]),
        "negative": lambda at: f"{-chance.random():.3g}",
        "huge": lambda at: f"{chance.random() * 1e99:.3g}",
        "ends": lambda at: "nan" if at > 6 else f"{1 + chance.random():.3g}",
    }
    answered = 0
    for _ in range(300):
        header = ["loss", *chance.sample(names, chance.randint(0, 9))]
        make = [kinds[chance.choice([*kinds])] for _ in header]
        rows = [[cell(at) for cell in make] for at in range(chance.choice([1, 3, 7, 12, 45, 61, 200]))]
        try:
            answer = read_log(written(header, rows, chance.choice(",;\t")))
        except LogError:
            continue
        answered += 1
        assert all(cause.key in KNOWN for cause in answer.causes)
    assert answered > 150
