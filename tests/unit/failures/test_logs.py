"""Logs as they are pasted: which numbers are read as what, what is found in them, and what is left open."""

import json
import random
import re

import numpy as np
import pytest
from failures.log_cases import FORMATS, MORE_FORMATS, SPIKES, ending, falling, growing, rising, stuck

from lab.failures import LogError, read_log
from lab.failures.curve.roles import ROLES, role
from lab.failures.text_kind import kind_of
from lab.text import short

CASES = FORMATS | MORE_FORMATS


@pytest.mark.parametrize("name", CASES)
def test_a_log_is_told_from_other_texts_read_as_what_it_is_and_judged(name):
    case = CASES[name]
    answer = read_log(case.text)
    assert answer.columns == case.columns
    assert next((cause.key for cause in answer.causes), None) in case.causes
    assert kind_of(case.text) == "curve"
    assert read_log(case.text.encode()).columns == case.columns


@pytest.mark.parametrize(
    ("names", "encoding"),
    [
        ("Época pérdida", "cp1252"),
        ("Эпоха потери", "cp1251"),
        ("轮次 训练损失", "gb18030"),
        ("Epoche Verlust", "utf-16"),
    ],
)
def test_a_file_is_read_in_the_encoding_that_gives_words(names, encoding):
    epoch, loss = names.split()
    text = lines(f"{epoch} {{}} {loss} {{:.3f}}", falling(12))
    assert read_log(text.encode(encoding)).columns == {epoch: "epoch", loss: "train_loss"}


# ---------------------------------------------------------------- what is said about it


def lines(template, *series, start=0):
    return "\n".join(template.format(at, *numbers) for at, numbers in enumerate(zip(*series, strict=True), start))


def test_what_is_left_out_is_listed():
    answer = read_log(lines("epoch {} loss {:.3f} mem 512 psnr 31.2", falling(12)))
    assert answer.others == ("mem", "psnr")
    assert "Not used: “mem”, “psnr”." in answer.notes


DERIVED = re.compile(  # numbers that are computed, from those in the log: a factor, a count, a median
    r"by about \S+|among ten classes costs 2\.3|\d+ of \d+|below [\d.]+|in \d+ \w+s\b|two softmaxes \d+|row \d+"
)


@pytest.mark.parametrize("name", CASES)
def test_each_number_that_a_verdict_quotes_stands_in_the_log(name):
    """Whatever was smoothed, averaged or bridged to judge the curve."""
    text = CASES[name].text
    logged = {float(number) for number in re.findall(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?", text + text.replace(",", "."))}
    said = {short(number, digits) for number in logged for digits in (2, 3, 4)}
    said |= {f"{percent:.0f}" for number in logged for percent in (number, 100 * number)}
    for cause in read_log(text).causes:
        for sentence in cause.evidence:
            quoted = re.findall(r"(?<![\w.])\d[\d.]*(?:e\d+)?(?<!\.)", DERIVED.sub("", sentence))
            assert not set(quoted) - said, sentence


@pytest.mark.parametrize(
    ("template", "sentence"),
    [
        ("Epoch {}: loss {:.4f} val_loss {:.4f}", "In epoch 6 validation loss was lowest, 0.5; in epoch 19 it is 1.2."),
        ("[{}0] loss:{:.4f} val-loss:{:.4f}", "In step 60 validation loss was lowest, 0.5; in step 190 it is 1.2."),
        ("loss {1:.4f} val {2:.4f}", "In row 7 validation loss was lowest, 0.5; in row 20 it is 1.2."),
    ],
)
def test_the_best_epoch_is_that_of_the_lowest_number_and_named_as_in_the_log(template, sentence):
    val = rising(20)
    val[6], val[-1] = 0.5, 1.2
    (cause,) = read_log(lines(template, falling(20), val)).causes
    assert cause.evidence[0].startswith(sentence)


def test_another_column_may_be_chosen_or_none():
    text = lines("epoch {} loss {:.3f} aux {:.3f} val_loss {:.3f}", falling(20), stuck(20), rising(20))
    assert read_log(text).causes[0].key == "overfitting"
    chosen = read_log(text, {"train_loss": "aux", "val_loss": None})
    assert chosen.columns == {"epoch": "epoch", "aux": "train_loss"}
    assert set(chosen.others) == {"loss", "val_loss"}
    assert chosen.causes[0].key in {"flat", "frozen", "labels"}
    assert read_log(text, {"train_loss": "of another log"}).columns == read_log(text).columns


@pytest.mark.parametrize(
    "line",
    [
        "Model diverged with loss = NaN",
        "Loss is nan, stopping training {'loss_box': tensor(nan, device='cuda:0')}",
    ],
)
def test_a_nan_that_a_line_of_its_own_tells_ends_the_loss(line):
    answer = read_log(lines("step {} loss {:.3f}", falling(12)) + "\n" + line)
    assert answer.columns == {"step": "step", "loss": "train_loss"}
    assert answer.causes[0].key == "nan"
    assert not answer.causes[0].sure
    assert answer.ended == "From step 11 on the training loss is no longer a number."


def test_a_part_that_is_no_number_beside_the_loss_does_not_end_it():
    answer = read_log(lines("step {} loss {:.3f} aux_loss nan", falling(12)))
    assert answer.ended == ""
    assert not answer.causes


@pytest.mark.parametrize("template", ["step {} loss {:.4f}", "epoch {} loss {:.4f} val_loss {:.4f}"])
@pytest.mark.parametrize("name", SPIKES)
def test_spikes_from_which_a_loss_recovers_are_no_illness(name, template):
    assert read_log(lines(template, SPIKES[name], SPIKES[name] + 0.05)).causes == ()


def test_two_kinds_of_lines_are_one_row_where_they_have_the_same_step():
    val = rising(31)
    text = "".join(
        f"step {at}0: val loss {val[at]:.4f}\niter {at}0: loss {loss:.4f}\n" for at, loss in enumerate(falling(31))
    )
    answer = read_log(text)
    assert np.allclose(answer.curve.val_loss, val, atol=1e-4)
    assert [*answer.curve.places] == [*range(0, 310, 10)]
    assert answer.causes[0].evidence[0].startswith(f"In step {np.argmin(val)}0 validation loss was lowest")
    assert "step" not in answer.others


def test_what_guessing_costs_is_not_guessed_from_the_first_loss():
    """The number of classes stands nowhere."""
    chance = np.random.default_rng(0)
    for loss in (3.04 + 0.0001 * chance.normal(size=60), 3.04 + 0.005 * chance.normal(size=60)):
        for cause in read_log(lines("epoch {} loss {:.5f} acc 0.0{:.0f}", loss, 40 + 9 * chance.random(60))).causes:
            assert not any(re.search("costs?|classes", sentence) for sentence in cause.evidence)


def test_one_nan_between_numbers_is_found_where_each_is_printed_and_a_blank_where_a_table_is_filled_with_them():
    losses = [*falling(20)]
    losses[12] = float("nan")
    answer = read_log(lines("epoch {} loss {:.3f}", losses))
    assert answer.causes[0].key == "nan"
    assert answer.causes[0].evidence[0].startswith("In epoch 12 the training loss is not a number; one epoch before")
    assert answer.ended == "In epoch 12 the training loss is not a number, and later it is one again."
    rows = "\n".join(f"{at},{falling(20)[at]:.3f},{'nan' if at % 4 else 0.5}" for at in range(20))
    assert read_log(f"epoch,loss,val_loss\n{rows}").ended == ""


def test_only_a_validation_loss_that_is_none_is_called_so():
    answer = read_log(lines("epoch {} loss {:.3f} val_loss nan", falling(12)))
    (cause,) = answer.causes
    assert cause.key == "nan"
    assert not cause.sure
    assert cause.evidence == ("In epoch 0 the validation loss is no longer a number.",)


def test_rows_are_counted_where_no_epoch_is_a_number():
    answer = read_log("epoch,loss\n" + lines("inf,{1:.3f}", falling(12)))
    assert answer.curve.epochs == [*range(1, 13)]


def test_a_validation_loss_alone_is_said_to_stand_for_both():
    answer = read_log(lines("epoch {} val_loss {:.3f}", falling(12)))
    assert answer.notes == ("There is no training loss: the validation loss is used for both.",)
    assert np.allclose(answer.curve.loss, falling(12), atol=1e-3)


def test_a_few_gradients_that_overflow_as_a_scaler_of_losses_tries_them_are_no_end():
    norms = ["inf", "inf", *[f"{1 + at % 3}" for at in range(18)]]
    answer = read_log(lines("step {} loss {:.3f} grad_norm {}", falling(20), norms))
    assert answer.causes == ()
    assert answer.ended == ""


def test_a_validation_loss_is_none_only_after_it_was_measured_and_its_standing_is_not_that_of_the_loss():
    answer = read_log(lines("epoch {} loss {:.3f} val_loss {}", falling(20), ["inf"] * 5 + ["0.5"] * 15))
    assert (answer.ended, answer.causes) == ("", ())


def test_a_word_behind_the_total_names_the_count_and_a_count_in_few_rows_is_none():
    text = lines("第{}/12轮 损失 {:.3f}", falling(12))
    assert read_log(text).columns == {"轮": "epoch", "损失": "train_loss"}
    text = "0/12 loss 2.5\n" + lines("loss {1:.3f}", falling(12)) + "\n12/12 loss 0.4"
    assert read_log(text).others == ("number 1",)
    assert read_log(lines("loss {1:.3f}", falling(12)) + "\nval 0.5").columns == {"loss": "train_loss"}


def test_a_loss_that_stands_from_the_second_epoch_on_is_stuck_and_its_rows_are_counted():
    answer = read_log("shapes 3\n" + lines("loss {1:.4f} val {2:.4f}", [48, *stuck(11)], stuck(12)))
    assert answer.causes[0].key in {"frozen", "labels"}
    assert answer.curve.places == [*range(1, 13)]


def test_rows_of_numbers_behind_a_time_are_rows():
    text = "\n".join(f"2024-05-01 10:{at:02d}:00 {at} {loss:.4f}" for at, loss in enumerate(falling(20)))
    assert read_log(text).columns == {"column 1": "epoch", "column 2": "train_loss"}


def test_steps_of_a_few_epochs_are_points_of_their_own():
    text = "\n".join(f"{{'loss': {loss:.4f}, 'epoch': {at * 0.01:.2f}}}" for at, loss in enumerate(growing(24)))
    answer = read_log(text)
    assert len(answer.curve) == 24
    assert answer.causes[0].key == "rate-high"


@pytest.mark.parametrize(
    "text",
    [
        lines("epoch {} loss {:.3f}", falling(12)) + "\n" + lines("epoch {} loss {:.3f}", growing(12, 3.0)),
        lines("step {}: loss {:.3f}", falling(12)) + "\n" + lines("step {}: loss {:.3f}", growing(12, 3.0) * 4),
        f"{{'loss': {falling(12).tolist()}}}\n{{'loss': {growing(12, 3.0).tolist()}}}",
        "run,epoch,loss\n" + lines("small,{},{:.3f}", falling(12)) + "\n" + lines("large,{},{:.3f}", growing(12, 3.0)),
        json.dumps(
            [{"fold": 0, "loss": loss} for loss in falling(12)]
            + [{"fold": 1, "loss": loss} for loss in growing(12, 3.0)]
        ),
    ],
    ids=["epochs", "steps", "dicts", "named", "folds"],
)
def test_several_runs_are_told_apart_and_the_one_that_goes_wrong_is_shown(text):
    answer = read_log(text)
    assert answer.runs == 2
    assert answer.run == 1
    assert "The text holds 2 runs; this is run 2." in answer.notes
    assert {cause.key for cause in answer.causes} & {"rate-high", "climbing"}
    first = read_log(text, run=0)
    assert np.allclose(first.curve.loss, falling(12), atol=1e-3)
    assert first.causes == ()


def test_batches_that_start_again_in_each_epoch_are_one_run():
    text = "\n".join(f"batch {at % 10} loss {loss:.4f}" for at, loss in enumerate(falling(40)))
    assert read_log(text).runs == 1


def test_numbers_above_the_losses_are_no_run_and_a_list_that_is_printed_again_is_none():
    losses = f"loss = {falling(12).tolist()}"
    assert len(read_log(f"{losses}\n{losses}").curve) == 12
    assert read_log(f"In [14]: history.history\nOut[14]:\n{{'loss': {falling(12).tolist()}}}").runs == 1
    assert read_log("Is 15 epochs enough?\n" + lines("epoch {} loss {:.3f}", falling(12), start=1)).runs == 1


def test_the_share_done_is_no_step():
    bar = "Steps: {:3d}%|##  | {}/3000 [01:00<28:00, 1.67it/s, step_loss={:.3f}]"
    answer = read_log("\r".join(bar.format(2 * at, 60 * at, loss) for at, loss in enumerate(ending(50, 29))))
    assert answer.columns == {"Steps": "step", "step_loss": "train_loss"}
    assert answer.ended == "From step 1740 on the training loss is no longer a number."


def test_one_of_several_losses_is_judged_with_doubt():
    answer = read_log(lines("step {} loss_a {:.4f} loss_b {:.4f}", growing(20), falling(20)))
    assert answer.columns["loss_a"] == "train_loss"
    assert "loss_b" in answer.others
    assert answer.causes
    assert not any(cause.sure for cause in answer.causes)
    (cause,) = read_log(lines("epoch {} train mse {:.4f} val mae {:.4f}", falling(20), rising(20))).causes
    assert (cause.key, cause.sure) == ("overfitting", False)  # two measures


@pytest.mark.parametrize("text", ["", "hello", "nothing here\nhas numbers", "12:30:01 2024-01-01", "[1, 2]", "= = ="])
def test_without_a_number_that_has_a_name_one_sentence_says_what_to_paste(text):
    with pytest.raises(LogError, match=r"^No number here has a name beside it"):
        read_log(text)


# ---------------------------------------------------------------- variations

NAMES = {
    "en": ("Epoch", "train_loss", "val_loss", "train_acc"),
    "plain": ("epoch", "loss", "val loss", "train accuracy"),
    "de": ("Epoche", "Trainingsverlust", "Validierungsverlust", "Trainingsgenauigkeit"),
    "es": ("época", "pérdida", "pérdida de validación", "exactitud de entrenamiento"),
    "ru": ("Эпоха", "потери", "потери на валидации", "точность на обучении"),
    "zh": ("轮次", "训练损失", "验证损失", "训练准确率"),
    "ja": ("エポック", "訓練損失", "検証損失", "訓練精度"),
}
BESIDE = ("{time} - INFO - ", "[{time}] ", "\x1b[32m{time}\x1b[0m | INFO | ", "I trainer.py:88] ", "", "", "")
EXTRAS = ("12.3s", "eta: 0:12:07", "3.21it/s", "mem: 5.6G", "time 0.412", "batch_time: 0.31s", "imgs/s: 812.2")


def variation(chance):
    """Return a log in a form that is put together by chance, its columns, and its training losses."""
    epoch, *names = NAMES[chance.choice([*NAMES])]
    names = names[: chance.randint(1, 3)]
    is_is, between = chance.choice([": ", "=", " ", " = ", ":"]), chance.choice([", ", " | ", " - ", "\t", "; ", "  "])
    count, start = chance.choice([8, 20, 60, 1000]), chance.choice([0, 1])
    losses = falling(count, seed=chance.randint(0, 99))
    series = dict(zip(names, (losses, losses + 0.1, 1 - losses / 3), strict=False))
    order, extras = chance.sample(names, len(names)), chance.sample(EXTRAS, chance.randint(0, 3))
    total, prefix, digits = chance.choice([f"/{count}", ""]), chance.choice(BESIDE), chance.choice([3, 4, 6])
    brackets = chance.random() < 0.3
    rows = []
    for at in range(count):
        number = f"[{at + start}{total}]" if brackets else f"{at + start}{total}"
        cells = [
            f"{epoch}{' ' if brackets else is_is}{number}",
            *(f"{name}{is_is}{series[name][at]:.{digits}f}" for name in order),
            *extras,
        ]
        rows.append(prefix.format(time=f"2024-05-01 08:{at // 60 % 60:02d}:{at % 60:02d},417") + between.join(cells))
    return (
        chance.choice(["\n", "\r\n", "\r"]).join(rows),
        {epoch: "epoch"} | {name: role(name) for name in names},
        losses,
    )


@pytest.mark.parametrize("seed", range(60))
def test_any_order_separator_and_language_is_read_with_whatever_stands_beside(seed):
    text, columns, losses = variation(random.Random(seed))
    answer = read_log(text)
    assert answer.columns == columns
    assert np.isclose(answer.curve.first, losses[0], atol=1e-3)
    assert answer.causes == ()


def test_the_names_in_these_languages_mean_what_they_should():
    for epoch, loss, val_loss, accuracy in NAMES.values():
        assert [role(name) for name in (epoch, loss, val_loss, accuracy)] == [
            "epoch",
            "train_loss",
            "val_loss",
            "train_accuracy",
        ]
    assert {"epoch", "train_loss", "val_loss", "train_accuracy"} < ROLES.keys()
