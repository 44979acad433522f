"""What the doctor says, word for word, on records made up for each rule."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from lab.training import symptoms
from lab.training.config import Config


def record(epoch, loss=0.5, val_loss=None, train=0.8, val=0.8, **more):
    return {
        "epoch": epoch,
        "train_loss": loss,
        "val_loss": loss if val_loss is None else val_loss,
        "train_accuracy": train,
        "val_accuracy": val,
        "gap": None if train is None or val is None else train - val,
        **more,
    }


def run(epochs, **columns):
    """Records of so many epochs; each column is a number, a dict, or a function of the epoch."""
    return [record(e, **{k: f(e) if callable(f) else f for k, f in columns.items()}) for e in range(1, epochs + 1)]


ORIGIN = {
    "train_loss": 0.9, "val_loss": 0.9, "train_accuracy": 0.5, "val_accuracy": 0.5, "baseline_train_loss": 0.6,
    "baseline_val_loss": 0.6, "baseline_train_accuracy": 0.7, "baseline_val_accuracy": 0.7, "train_samples": 400,
    "val_samples": 100, "classes": 2,
}  # read by rows  # fmt: skip


@dataclass(frozen=True)
class Golden:
    """A rule, records, and what it has to say: its sentences and the epoch; None where it keeps silent."""

    rule: str
    records: list[dict[str, Any]]
    says: tuple[tuple[str, ...], int] | None
    config: Config = field(default_factory=Config)


def by_heart(lost, gained=0.1, since=12, loss=0.01):
    """Validation accuracy falls by `lost` after epoch 5, while training accuracy rises by `gained`."""
    return run(
        5 + since,
        train=lambda e: 0.7 if e <= 5 else 0.7 + gained,
        val=lambda e: 0.6 if e < 3 else 0.7 if e <= 5 else 0.7 - lost,
        val_loss=lambda e: 0.5 if e <= 5 else 0.5 + loss,
        origin=ORIGIN | {"baseline_train_accuracy": 0.65, "val_samples": 400},
    )


def off(share, since=4, epochs=9):
    return run(epochs, dead_units=lambda e: {"layer1": share if e >= since else 0.1, "layer2": 0.2})


def rising(to, ahead=0.1, training=0.3, epochs=14):
    return run(
        epochs,
        loss=lambda e: 0.5 if e <= 8 else training,
        val_loss=lambda e: 0.6 - 0.01 * e if e <= 8 else to,
        train=lambda e: 0.8 + ahead,
    )


def useless(val_loss, val=0.7, loss=0.5, bad_from=1):
    """Training loss falls a little; validation loss is 0.55 before the epoch `bad_from`."""
    return run(
        14,
        loss=lambda e: loss - e / 1000,
        val_loss=lambda e: val_loss if e >= bad_from else 0.55,
        val=val,
        origin=ORIGIN,
    )


def close(to=0.072):
    """Validation loss rises, but lies hardly above training loss."""
    return run(
        20, train=0.9, loss=lambda e: 0.07 if e <= 8 else 0.045, val_loss=lambda e: 0.13 - 0.01 * e if e <= 8 else to
    )


RARE = ORIGIN | {"baseline_val_accuracy": 0.98}  # on 100 rows


def creeping(ratio, val_loss=None):
    """The loss falls by the same little in each epoch; so does validation loss, if no other is given."""
    falls = {"loss": lambda e: 0.6 - e / 100, "update_ratio": {"layer1": ratio}, "origin": ORIGIN}
    return run(15, **falls | ({} if val_loss is None else {"val_loss": val_loss}))


def trained(**columns):
    """Records of a network that has learned: twelve epochs, accuracy 97% and 96% unless other columns are given."""
    return run(12, **{"loss": lambda e: 0.5 / e, "train": 0.97, "val": 0.96, "origin": ORIGIN} | columns)


def relapsed(to, best=0.04):
    """Validation loss is higher than its best of epoch 5; training loss falls on."""
    return trained(val_loss=lambda e: best if 4 <= e <= 6 else to)


def hopping(every, to):
    """The loss is 0.5, and `to` in the last epoch and every so many before it."""
    return run(12, loss=lambda e: to if (12 - e) % every == 0 else 0.5, train=0.7, origin=ORIGIN)


def noisy_validation(swing):
    """Validation loss rises by less than it goes up and down from epoch to epoch."""
    return run(
        16,
        loss=lambda e: 0.5 if e <= 8 else 0.3,
        val_loss=lambda e: (0.5 if e <= 8 else 0.6) + swing * (0, 1, -1)[e % 3],
        train=0.9,
    )


def ups_and_downs(jumps, low=0.5, high=0.8):
    """The loss jumps in so many of the epochs 4, 7, 10 and 13, and rises by next to nothing in all others."""
    return run(
        14,
        loss=lambda e: high if e in (4, 7, 10, 13)[:jumps] else low + e / 1e6,
        origin=ORIGIN | {"baseline_train_loss": 0.6},
    )


def thrown(falls):
    """The first step goes much too far; after it the loss gets below that of guessing, and falls on or stands there."""
    return run(10, loss=lambda e: 5.0 if e == 1 else 0.5 - e * falls / 100, train=0.7, origin=ORIGIN)


def wrong_labels(rows):
    """So many rows are held out, and answered much better than those of training."""
    return run(5, train=0.7, val=0.95, gap=-0.25, origin=ORIGIN | {"val_samples": rows})


WRONG_LABELS = (
    "In the last 3 epochs the accuracy is 70% on the training samples and 95% on samples never trained on: what it has "
    "learned fits better than the labels.",
)


def one_bad_epoch():
    """A regression that is known better on its own samples, whose validation loss still falls but in one epoch."""
    return run(12, loss=0.05, train=None, val=None, val_loss=lambda e: 0.5 if e == 12 else 0.4 - e / 100)


def rare_others(wrong):
    """It learns, and the commonest class is wrong for so many of the 100 rows held out."""
    return run(
        4,
        loss=lambda e: 0.3 / e,
        train=0.99,
        val=0.98,
        val_loss=lambda e: 0.3 / e,
        origin=ORIGIN | {"baseline_train_accuracy": 0.95, "baseline_val_accuracy": 1 - wrong / 100},
    )


def shrinking(loss=0.4, to=0.8):
    """The weights of a layer shrink to this share of their size."""

    def histogram(size):
        return {"edges": [-2 * size, -size, 0.0, size, 2 * size], "counts": [1, 0, 0, 1], "below": 0, "above": 0}

    return run(12, loss=loss, origin=ORIGIN, weight_histogram=lambda e: {"layer1": histogram(1 if e == 1 else to)})


def still(val_loss):
    """A regression that stands still a little below what the mean costs on its own samples."""
    mean = {"baseline_train_accuracy": None, "baseline_val_accuracy": None, "classes": 0}
    origin = ORIGIN | mean | {"baseline_train_loss": 1.0, "baseline_val_loss": 1.0}
    return run(12, loss=0.9, val_loss=val_loss, train=None, val=None, origin=origin)


def bending(losses):
    """A run at a tenth of the usual rate whose steps are no smaller than usual."""
    return run(len(losses), loss=lambda e: losses[e - 1], update_ratio={"layer1": 0.003}, origin=ORIGIN)


def calmed_down():
    """At 30 times the usual rate the loss swings, and then falls below all that it was before."""
    losses = (0.5, 0.3, 0.55, 0.3, 0.55, 0.3, 0.12, 0.1, 0.09)
    return run(len(losses), loss=lambda e: losses[e - 1], origin=ORIGIN)


def six_rows(creeps):
    """All training rows are right and four of the six others; validation loss still falls by so much per epoch."""
    return run(
        20, loss=0.2, train=1.0, val=4 / 6, val_loss=lambda e: 0.5 - e * creeps, origin=ORIGIN | {"val_samples": 6}
    )


def says(rule, records, epoch, *sentences, **settings):
    return Golden(rule, records, (sentences, epoch), Config(**settings))


def silent(rule, *records, **settings):
    return [Golden(rule, one, None, Config(**settings)) for one in records]


GOLDEN = [
    *silent("at_chance", run(14, loss=0.5, val_loss=lambda e: 0.63 - e**3 / 150000, val=0.7, origin=ORIGIN)),
    # it falls, but less and less: towards the loss of guessing
    says(
        "at_chance",
        run(14, loss=0.5, val_loss=lambda e: 0.61 + 0.02 / e, val=0.7, origin=ORIGIN),
        14,
        "Training loss is 0.5, where always answering with the commonest class costs 0.6. Validation loss is "
        "0.612, and that answer's 0.6; accuracy is 70.0%, and that answer's 70.0% (medians of 5 epochs).",
    ),
    *silent("_useless", run(14, loss=0.5, val_loss=lambda e: 0.62 if e % 3 else 0.4, val=0.7, origin=ORIGIN)),
    # it was better once: what it does now has another name
    *silent("_useless", [each | {"val_loss": 0.5 if each["epoch"] < 4 else 0.7} for each in useless(0.7)]),
    # better in both, though by less than chance may do
    *silent("_useless", useless(0.59, val=0.72)),
    # two rows prove nothing
    *silent("_useless", [each | {"origin": RARE} for each in useless(0.7)]),
    *silent("settled", [each | {"train_loss": 0.9 * 0.988 ** each["epoch"]} for each in still(0.85)], [each | {"train_loss": 0.45 if each["epoch"] % 3 else 0.3} for each in still(0.4)]),
    says("slow", creeping(0.0003), 1, "A step changes the weights by 0.0003 of their size, and the loss creeps from 0.59 to 0.45 in 15 epochs, without a bend.", lr=0.0001),
    says(
        "slow",
        [each | {"train_loss": 0.5 + 1 / each["epoch"]} for each in creeping(0.0001)],
        1,
        "A step changes the weights by 0.0001 of their size, and the loss falls from 1.5 to 0.567 in 15 epochs.",
        lr=0.0001,
    ),
    # others have nothing of it
    *silent("slow", creeping(0.0003, val_loss=0.55), lr=0.0001),
    # one row more would close the gap by half
    *silent("overfitting", six_rows(creeps=0.01)),
    *silent("swinging", calmed_down(), lr=0.03),
    *silent("slow", bending((0.5, 0.45, 0.43, 0.425, 0.423, 0.422)), lr=0.0001),
    says("slow", bending((0.58, 0.56, 0.54, 0.52, 0.5, 0.48)), 1, "A step changes the weights by 0.003 of their size, and the loss creeps from 0.58 to 0.48 in 6 epochs, without a bend.", lr=0.0001),
    says(
        "_learned_by_heart",
        by_heart(0.05, since=5),
        3,
        "Around epoch 3 validation accuracy was 70%; it has fallen to 65% since, while training accuracy rose "
        "from 70% to 80% (medians of 3 epochs): what is learned now is wrong for other samples, as wrong labels "
        "would be.",
    ),
    *silent("_learned_by_heart", by_heart(0.02), by_heart(0.05, gained=0.02), by_heart(0.05, since=4), by_heart(0.05, loss=-0.1)),
    says("dying", off(0.8), 4, "80% of the units of layer1 give the same output for every sample (since epoch 4 at least 75%): no gradient passes through them.", hidden=(8, 8)),
    # the other units learn the samples all the same: what is missing is an order in them
    *silent("dying", [each | {"dead_units": {"layer1": 0.8, "layer2": 0.2}} for each in useless(0.6, loss=0.57)], hidden=(8, 8)),
    *silent("units_off", off(0.45), hidden=(8, 8)),
    says("units_off", off(0.55, since=9), 9, "55% of the units of layer1 give the same output for every sample (since epoch 9 at least 50%): no gradient passes through them.", hidden=(8, 8)),
    says("_rising", rising(0.7), 7, "Validation loss was lowest around epoch 7, at 0.53, and has risen to 0.7 since (medians of 3 epochs), while training loss fell from 0.5 to 0.3."),
    *silent("_rising", rising(0.7, epochs=13), rising(0.6), rising(0.7, ahead=0.01), rising(0.7, training=0.47), rising(0.7, training=0.68)),
    says(
        "_useless",
        useless(0.6, bad_from=12),
        14,
        "Training loss is 0.486, where always answering with the commonest class costs 0.6. Validation loss is "
        "0.6, and that answer's 0.6; accuracy is 70.0%, and that answer's 70.0% (medians of 5 epochs).",
    ),
    *silent("_rising", close(), noisy_validation(0.07)),
    *silent("swinging", ups_and_downs(jumps=1)),
    # however high: one jump is no habit
    *silent("swinging", ups_and_downs(jumps=1, high=40.0)),
    says("swinging", ups_and_downs(jumps=4), 6, "From epoch 5 to 14 the training loss rises markedly in 3 of 9 epochs, by 0.3 at most; it lies between 0.5 and 0.8."),
    # it has calmed down, or is about to: the word may not come and go
    *silent("swinging", ups_and_downs(jumps=3)),
    # far below guessing, whatever the jumps reach
    *silent("swinging", ups_and_downs(jumps=4, low=0.1)),
    says(
        "overshot",
        off(0.8),
        4,
        "The learning rate is 0.03, 30 times what is usual.",
        "80% of the units of layer1 give the same output for every sample (since epoch 4 at least 75%): no "
        "gradient passes through them.",
        hidden=(8, 8),
        lr=0.03,
    ),
    *silent("overshot", off(0.8), hidden=(8, 8), lr=0.01),
    *silent("first_steps_too_large", thrown(falls=True)),
    says("first_steps_too_large", thrown(falls=False), 1, "After epoch 1 the training loss is 5, where always answering with the commonest class costs 0.6: the first steps went much too far."),
    # overcome
    *silent("first_steps_too_large", run(11, loss=lambda e: 5.0 if e == 1 else 0.5, train=0.7, origin=ORIGIN)),
    says("noise", wrong_labels(rows=100), 1, *WRONG_LABELS),
    # so few may be right by chance
    *silent("noise", wrong_labels(rows=29)),
    # it does well all the same
    *silent("collapsed", shrinking(loss=0.25), weight_decay=0.2),
    *silent("collapsed", shrinking(to=0.9), weight_decay=0.2),
    *silent("collapsed", shrinking(), weight_decay=0.1),
    says(
        "collapsed",
        shrinking(),
        12,
        "The weight decay is 0.2, which is large, and the weights of layer1 have shrunk to 80% of their size "
        "after epoch 1. In epoch 12 training accuracy is 80%.",
        weight_decay=0.2,
    ),
    # what is left may be noise
    *silent("underfitting", run(60, loss=0.4, origin=ORIGIN), hidden=(8,)),
    *silent("underfitting", run(60, loss=0.4, origin=ORIGIN), hidden=(2,)),
    says(
        "underfitting",
        run(12, loss=0.58, val_loss=0.62, train=0.7, origin=ORIGIN),
        7,
        "Training accuracy stands at 70%, and the loss hardly changes any more: 0.58 on average from epoch 7 to 9, "
        "0.58 from epoch 10 to 12. Always answering with the class shares costs 0.6.",
        hidden=(2,),
    ),
    # it still falls
    *silent("_useless", run(14, loss=0.5, val_loss=lambda e: 0.7 - e / 200, val=0.7, origin=ORIGIN)),
    *silent("_wide_gap", one_bad_epoch()),
    *silent("_useless", useless(0.6, bad_from=13), useless(0.57), useless(0.6, val=0.76), useless(0.6, loss=0.6)),
    says(
        "few_to_check",
        rare_others(4),
        4,
        "Training accuracy is 99.0%, validation accuracy 98.0% on 100 rows, and always answering with the "
        "commonest class is wrong for only 4: so few prove nothing.",
    ),
    *silent("unsettled", trained()),
    *silent("small_gap", trained()),
    *silent("healthy", trained(val=0.88)),
    says("small_gap", trained(val=0.88), 12, "In epoch 12 training accuracy is 97.0% and validation accuracy 88.0%, in the last 3 epochs 9 points apart."),
    *silent("healthy", relapsed(0.09)),
    says("unsettled", relapsed(0.09), 12, "Training accuracy is 97.0%.", "Validation loss is 0.09, and was 0.04 around epoch 4 (medians of 3 epochs)."),
    *silent("unsettled", relapsed(0.049)),
    # so near 0 it does no harm
    *silent("unsettled", relapsed(0.029, best=0.01)),
    says("unsettled", trained(loss=lambda e: 0.1 + 0.1 * (e % 2)), 12, "Training accuracy is 97.0%.", "The training loss rises in 4 of the last 9 epochs and lies between 0.1 and 0.2."),
    says(
        "unsettled",
        [each | {"train_loss": 0.1 + 0.1 * (each["epoch"] % 2)} for each in relapsed(0.09)],
        12,
        "Training accuracy is 97.0%.",
        "The training loss rises in 4 of the last 9 epochs and lies between 0.1 and 0.2.",
        "Validation loss is 0.09, and was 0.04 around epoch 4 (medians of 3 epochs).",
    ),
    *silent("jumping", hopping(4, 0.55)),
    says("jumping", hopping(4, 0.7), 12, "In epoch 12 the training loss jumps from 0.5 to 0.7; in the last 6 epochs it lies between 0.5 and 0.7."),
    says(
        "jumping",
        run(12, loss=lambda e: 1.1 if e == 12 else 0.5, train=0.7, origin=ORIGIN),
        12,
        "In epoch 12 the training loss jumps from 0.5 to 1.1; in the last 6 epochs it lies between 0.5 and 1.1.",
    ),
    *silent("jumping", run(12, loss=lambda e: 0.9 if e == 12 else 0.5, train=0.7, origin=ORIGIN)),
    *silent("no_better", run(12, loss=lambda e: 0.6 - e / 100, origin=ORIGIN)),
    # by very little, but evenly
    *silent("no_better", run(12, loss=lambda e: 0.6 - e / 10000, origin=ORIGIN)),
    # too few epochs to compare
    *silent("no_better", run(7, loss=lambda e: 0.5 + e / 100, origin=ORIGIN)),
    *silent("learning", run(7, loss=lambda e: 0.5 + e / 100, origin=ORIGIN)),
    says(
        "learning",
        run(12, loss=lambda e: (0.5, 2.0)[e == 4] if e < 8 else 0.45, train=0.9, origin=ORIGIN | {"train_loss": None}),
        12,
        "The training loss went from 0.5 to 0.45 in 12 epochs, and training accuracy is 90.0% (always answering "
        "with the commonest class: 70.0%).",
    ),
    says(
        "learning",
        run(12, loss=lambda e: 0.4 if e == 1 else 2.0 / e + 0.4, train=0.9, origin=ORIGIN),
        12,
        "The training loss went from 1.4 in epoch 2 to 0.567 in 12 epochs, and training accuracy is 90.0% (always "
        "answering with the commonest class: 70.0%).",
    ),
    says("units_off", off(0.8), 4, "80% of the units of layer1 give the same output for every sample (since epoch 4 at least 50%): no gradient passes through them."),
    says("no_better", run(12, loss=lambda e: 0.5 if e < 8 else 0.55, origin=ORIGIN), 12, "The training loss is 0.55; its median is 0.55 in the last 5 epochs, and was 0.5 in as many before."),
    *silent("few_to_check", rare_others(5)),
    *silent("healthy", rare_others(4)),
    says("settled", still(0.85), 12, "The loss hardly changes any more: 0.9, where always answering with the mean costs 1. In the last 5 epochs validation R² was 0.15 in the median."),
    says(
        "settled",
        still(lambda e: 0.8 if e % 2 else 0.9),
        12,
        "The loss hardly changes any more: 0.9, where always answering with the mean costs 1. In the last 5 "
        "epochs validation R² was 0.10 in the median, and validation loss between 0.8 and 0.9.",
    ),
    # at times no better than the mean
    *silent("settled", still(lambda e: 0.8 if e % 2 else 0.98)),
    *silent("settled", [each | {"train_loss": 0.9 + 0.06 * (-1) ** each["epoch"]} for each in still(0.85)]),
    # validation has not settled
    *silent("settled", still(lambda e: 0.6 if e % 2 else 0.9)),
    # no better than the mean on other samples
    *silent("settled", still(0.98)),
]  # fmt: skip


def evidence(golden: Golden) -> tuple[tuple[str, ...], int] | None:
    rule = getattr(symptoms, golden.rule)
    found = rule(symptoms.History(golden.records, golden.config), *((0.15,) if golden.rule == "_rising" else ()))
    return None if found is None else (found.sentences, found.epoch)


@pytest.mark.parametrize("golden", GOLDEN, ids=[f"{g.rule} {n}" for n, g in enumerate(GOLDEN)])
def test_a_rule_says_this_and_nothing_else(golden):
    assert evidence(golden) == golden.says
