"""Logs as trainers print them, each with the columns that it has and which first causes are fair.

Each case is a template, filled with the numbers of a run whose cause is known. None as a cause: nothing wrong is to be
seen.
"""

import json
import math
from dataclasses import dataclass

import numpy as np

WELL = {None}
STUCK = {"flat", "rate-low", "labels", "frozen", "dying", "vanishing"}
OVERFITTED = {"overfitting"}
BLOWN = {"rate-high", "climbing", "scale"}
ENDED = {"nan", "rate-high"}


@dataclass(frozen=True)
class Case:
    """columns: name -> role, all that are read; causes: keys of the fair first causes."""

    text: str
    columns: dict[str, str]
    causes: set[str | None]


def falling(count, start=2.3, floor=0.1, seed=0):
    noise = np.random.default_rng(seed).normal(0, 0.01, count)
    return start * np.exp(-np.arange(count) * 4 / count) + floor + noise * start * np.exp(-np.arange(count) / count)


def stuck(count, seed=0):
    return math.log(10) + np.random.default_rng(seed).normal(0, 0.002, count)


def rising(count, low=0.6, seed=0):
    """A validation loss that falls for a quarter of the epochs, and rises from there."""
    t = np.linspace(0, 1, count)
    loss = np.where(t < 0.25, low + 6 * (0.25 - t) ** 2, low + 1.2 * (t - 0.25))
    return loss + np.random.default_rng(seed).normal(0, 0.01, count)


def ending(count, good):
    return [*falling(count)[:good], *[math.nan] * (count - good)]


def growing(count, factor=1.5):
    return 0.7 * factor ** np.arange(count)


def filled(template, count=20, start=1, **series):
    """Fill a template once per point. n: its number; others: the series, in order; a list may be a number for all."""
    return "\n".join(
        template.format(n=n + start, **{name: values[n] for name, values in series.items()}) for n in range(count)
    )


def table(head, template, count=20, start=1, **series):
    return head + "\n" + filled(template, count, start, **series)


TRAIN, VAL = falling(20), falling(20, floor=0.2, seed=1)
SHARE = 1 - np.exp(-np.arange(20) / 6) * 0.9
FORMATS = {
    "an example of a framework, epochs and a test set": Case(
        "\n".join(
            "\n".join(
                f"Train Epoch: {epoch} [{at * 64}/60000 ({at // 10}%)]\tLoss: {loss:.6f}"
                for at, loss in zip((0, 300, 600), TRAIN[3 * epoch - 3 : 3 * epoch], strict=True)
            )
            + f"\n\nTest set: Average loss: {VAL[3 * epoch]:.4f}, Accuracy: {9000 + 100 * epoch}/10000 ({90 + epoch}%)\n"
            for epoch in range(1, 7)
        ),
        {
            "Train Epoch": "epoch",
            "number 1": "step",
            "train Loss": "train_loss",
            "test Average loss": "val_loss",
            "test Accuracy": "val_accuracy",
        },
        WELL,
    ),
    "epoch and batch in brackets": Case(
        filled("[{epoch},{n:5d}000] loss: {loss:.3f}", epoch=np.arange(20) // 5 + 1, loss=falling(20, 2.2)),
        {"number 1": "epoch", "number 2": "step", "loss": "train_loss"},
        WELL,
    ),
    "two losses of two networks": Case(
        filled(
            "[{epoch}/5][{n}/1583]\tLoss_D: {d:.4f}\tLoss_G: {g:.4f}\tD(x): 0.85\tD(G(z)): 0.12 / 0.03",
            epoch=np.arange(20) // 10,
            d=0.6 + 0.3 * np.sin(np.arange(20)),
            g=3 + np.cos(np.arange(20) * 1.7),
        ),
        {"number 1": "epoch", "number 2": "step", "Loss_G": "train_loss"},
        WELL,
    ),
    "pipes, a subset in quotes": Case(
        filled(
            "2023-04-01 12:10:{n:02d} | INFO | train | epoch {n:03d} | loss {loss:.3f} | nll_loss 9.1 | ppl 549.31 | "
            "wps 31342 | num_updates {n}00 | lr 0.0001 | gnorm 1.534 | loss_scale 128 | train_wall 34 | wall 40\n"
            "2023-04-01 12:10:{n:02d} | INFO | valid | epoch {n:03d} | valid on 'valid' subset | loss {val:.3f} | "
            "nll_loss 8.9 | ppl 400 | num_updates {n}00",
            loss=TRAIN,
            val=VAL,
        ),
        {
            "epoch": "epoch",
            "train loss": "train_loss",
            "valid loss": "val_loss",
            "num_updates": "step",
            "lr": "lr",
            "gnorm": "grad_norm",
        },
        WELL,
    ),
    "a box of names and values": Case(
        filled(
            "| rollout/                |             |\n|    ep_rew_mean          | 21.3        |\n"
            "| time/                   |             |\n|    iterations           | {n}         |\n"
            "|    time_elapsed         | 7           |\n| train/                  |             |\n"
            "|    loss                 | {loss:.4f}  |\n"
            "|    learning_rate        | 0.0003      |\n-------------------------------------------",
            loss=TRAIN,
        ),
        {"iterations": "step", "train loss": "train_loss", "learning_rate": "lr"},
        WELL,
    ),
    "a file and a line before each": Case(
        filled(
            "I0517 12:00:{n:02d}.123456  1234 solver.cpp:218] Iteration {n}00 (2.3 iter/s, 43.2s/100 iters), "
            "loss = {loss:.5f}\nI0517 12:00:{n:02d}.123456  1234 sgd_solver.cpp:105] Iteration {n}00, lr = 0.01",
            loss=TRAIN,
        ),
        {"Iteration": "step", "loss": "train_loss", "lr": "lr"},
        WELL,
    ),
    "boosted trees, a score of one set": Case(
        filled(
            "[{n}]\ttraining's binary_logloss: {loss:.5f}\tvalid_1's binary_logloss: {val:.5f}",
            loss=falling(20, 0.6, 0.05),
            val=rising(20, 0.4),
        ),
        {"number 1": "step", "training's binary_logloss": "train_loss", "valid_1's binary_logloss": "val_loss"},
        OVERFITTED,
    ),
    "boosted trees, with what is left": Case(
        filled(
            "{n}:\tlearn: {loss:.7f}\ttest: {val:.7f}\tbest: 0.4 (12)\ttotal: {n}0ms\tremaining: 49.{n}s",
            start=0,
            loss=falling(20, 0.6, 0.05),
            val=rising(20, 0.4),
        ),
        {"number 1": "step", "learn": "train_loss", "test": "val_loss"},
        OVERFITTED,
    ),
    "iterations of a library": Case(
        filled("Iteration {n}, loss = {loss:.8f}", loss=falling(20, 0.6)),
        {"Iteration": "step", "loss": "train_loss"},
        WELL,
    ),
    "German, decimal commas": Case(
        filled(
            "Epoche {n} von 20 – Verlust: {loss:.4f} – Genauigkeit: {acc:.3f} – Validierungsverlust: {val:.4f}",
            loss=falling(20, 2.2, 0.01),
            acc=SHARE,
            val=rising(20),
        ).replace(".", ","),
        {
            "Epoche": "epoch",
            "Verlust": "train_loss",
            "Genauigkeit": "train_accuracy",
            "Validierungsverlust": "val_loss",
        },
        OVERFITTED,
    ),
    "Spanish": Case(
        filled(
            "Época {n}/20: pérdida de entrenamiento = {loss:.4f}; pérdida de validación = {val:.4f}",
            loss=TRAIN,
            val=VAL,
        ),
        {"Época": "epoch", "pérdida de entrenamiento": "train_loss", "pérdida de validación": "val_loss"},
        WELL,
    ),
    "Russian": Case(
        filled(
            "Эпоха {n}: потери на обучении {loss:.4f}, потери на валидации {val:.4f}",
            loss=stuck(20),
            val=stuck(20, seed=1),
        ),
        {"Эпоха": "epoch", "потери на обучении": "train_loss", "потери на валидации": "val_loss"},
        STUCK,
    ),
    "Japanese": Case(
        filled(
            "エポック {n}：訓練損失 {loss:.4f}、検証損失 {val:.4f}、正解率 {acc:.2f}", loss=TRAIN, val=VAL, acc=SHARE
        ),
        {"エポック": "epoch", "訓練損失": "train_loss", "検証損失": "val_loss", "検証 正解率": "val_accuracy"},
        WELL,
    ),
    "Korean": Case(
        filled("에포크 {n}/20, 손실: {loss:.4f}, 정확도: {acc:.3f}", loss=ending(20, 11), acc=SHARE),
        {"에포크": "epoch", "손실": "train_loss", "정확도": "train_accuracy"},
        ENDED,
    ),
    "a printed frame with its index": Case(
        table(
            "    epoch  train_loss  val_loss", "{n:<4d} {n:6d}    {loss:.6f}  {val:.6f}", start=0, loss=TRAIN, val=VAL
        ),
        {"epoch": "epoch", "train_loss": "train_loss", "val_loss": "val_loss"},
        WELL,
    ),
    "a drawn table": Case(
        table(
            "┏━━━━━━━┳━━━━━━━━━━━━┳━━━━━━━━━━┓\n┃ Epoch ┃ Train loss ┃ Val loss ┃\n┡━━━━━━━╇━━━━━━━━━━━━╇━━━━━━━━━━┩",
            "│ {n}     │ {loss:.4f}     │ {val:.4f}   │",
            loss=falling(20, 2.2, 0.01),
            val=rising(20),
        )
        + "\n└───────┴────────────┴──────────┘",
        {"Epoch": "epoch", "Train loss": "train_loss", "Val loss": "val_loss"},
        OVERFITTED,
    ),
    "lists with names": Case(
        f"train_losses = {[round(float(x), 4) for x in TRAIN]}\nval_losses = {[round(float(x), 4) for x in rising(20)]}",
        {"train_losses": "train_loss", "val_losses": "val_loss"},
        OVERFITTED,
    ),
    "one number a line": Case(
        filled("epoch: {n}\nloss: {loss:.5f}\nval_loss: {val:.5f}\n", loss=TRAIN, val=VAL),
        {"epoch": "epoch", "loss": "train_loss", "val_loss": "val_loss"},
        WELL,
    ),
    "columns of a pipeline": Case(
        table(
            "E    #       LOSS TOK2VEC  LOSS NER  ENTS_F  SCORE \n---  ------  ------------  --------  ------  ------",
            "{n:3d}     {n:2d}00          0.00    {loss:6.2f}    0.00    {acc:.2f}",
            loss=falling(20, 230, 10),
            acc=SHARE,
        ),
        {"E": "epoch", "#": "step", "LOSS NER": "train_loss"},
        WELL,
    ),
    "a header of two lines": Case(
        table(
            "|======================================================================================|\n"
            "|  Epoch  |  Iteration  |  Time Elapsed  |  Mini-batch  |  Mini-batch  |  Base Learning  |\n"
            "|         |             |   (hh:mm:ss)   |   Accuracy   |     Loss     |      Rate       |\n"
            "|======================================================================================|",
            "|  {n:5d}  |  {n:8d}0  |   00:00:{n:02d}     |   {acc:6.2f}%    |  {loss:.4f}  |  0.0100  |",
            loss=stuck(20),
            acc=[10 + n % 2 for n in range(20)],
        ),
        {"Accuracy": "train_accuracy", "Loss": "train_loss"},  # only the line with these is the header
        STUCK,
    ),
    "an event writer": Case(
        filled(
            "[08/01 12:00:{n:02d} d2.utils.events]:  eta: 0:05:00  iter: {n}9  total_loss: {loss:.3f}  loss_cls: 0.9  "
            "loss_box_reg: 0.4  time: 0.2512  data_time: 0.0031  lr: 0.0005  max_mem: 2000M",
            loss=TRAIN,
        ),
        {"iter": "step", "total_loss": "train_loss", "lr": "lr"},
        WELL,
    ),
    "a word before each part": Case(
        filled(
            "epoch {n:2d} | train: loss {loss:.4f} acc {acc:.3f} | val: loss {val:.4f} acc 0.61",
            loss=falling(20, 2.2, 0.01),
            acc=SHARE,
            val=rising(20),
        ),
        {
            "epoch": "epoch",
            "train loss": "train_loss",
            "train acc": "train_accuracy",
            "val loss": "val_loss",
            "val acc": "val_accuracy",
        },
        OVERFITTED,
    ),
    "levels and colours": Case(
        filled(
            "\x1b[32m2024-05-0{day} 08:12:{n:02d}.417\x1b[0m | \x1b[1mINFO    \x1b[0m | __main__:fit:88 - "
            "step={n}0 loss={loss:.4f} gnorm={norm:.2f}",
            day=[1] * 20,
            loss=[*growing(12, 3.0), *[math.inf] * 2, *[math.nan] * 6],
            norm=growing(20, 3.0),
        ),
        {"step": "step", "loss": "train_loss", "gnorm": "grad_norm"},
        BLOWN | ENDED,
    ),
    "a large language model": Case(
        filled(
            " iteration {n:8d}0/  500000 | consumed samples: 25600 | elapsed time per iteration (ms): 512.3 | "
            "learning rate: 1.000E-04 | global batch size:   256 | lm loss: {loss:.6E} | loss scale: 65536.0 | "
            "grad norm: 1.203 | number of skipped iterations:   0 | number of nan iterations:   0 |",
            loss=falling(20, 10, 2),
        ),
        {"iteration": "step", "learning rate": "lr", "lm loss": "train_loss", "grad norm": "grad_norm"},
        WELL,
    ),
    "values and averages, then a test": Case(
        filled(
            "Train: {n} [  50/1251 (  4%)]  Loss: {loss:.4f} ({loss:.3f})  Time: 0.512s, 2000.12/s  (0.6s, 1800/s)  "
            "LR: 1.000e-05  Data: 0.010 (0.012)\n"
            "Test: [  97/97]  Time: 0.1 (0.2)  Loss:  {val:.4f} ({val:.4f})  Acc@1: 70.1 (71.2)  Acc@5: 90.1 (91.2)",
            loss=TRAIN,
            val=VAL,
        ),
        {
            "Train": "epoch",
            "train Loss": "train_loss",
            "test Loss": "val_loss",
            "LR": "lr",
            "test Acc@1": "val_accuracy",
        },
        WELL,
    ),
    "folds": Case(
        "\n".join(
            filled(
                f"Fold {fold} | Epoch {{n}} | loss: {{loss:.4f}} | val_loss: {{val:.4f}}",
                12,
                loss=falling(12, seed=fold),
                val=falling(12, floor=0.2, seed=fold + 5),
            )
            for fold in range(1, 4)
        ),
        {"Fold": "run", "Epoch": "epoch", "loss": "train_loss", "val_loss": "val_loss"},
        WELL,
    ),
    "loss first, seconds per step": Case(
        filled(
            "INFO:root:loss = {loss:.6f}, step = {n}00 (1.{n} sec)\nINFO:root:global_step/sec: 70.{n}",
            loss=falling(20, 0.7),
        ),
        {"loss": "train_loss", "step": "step"},
        WELL,
    ),
    "a sentence": Case(
        filled(
            "After epoch {n} the training loss is {loss:.4f} and the validation loss is {val:.4f}.",
            loss=falling(20, 2.2, 0.01),
            val=rising(20),
        ),
        {"epoch": "epoch", "training loss": "train_loss", "validation loss": "val_loss"},
        OVERFITTED,
    ),
    "saved when better": Case(
        filled(
            "Epoch {n}/20\n100/100 [==============================] - 2s 15ms/step - loss: {loss:.4f} - mae: 1.2 - val_loss: {val:.4f}\n\n"
            "Epoch {n:05d}: val_loss improved from inf to {val:.5f}, saving model to w.{n:02d}-{val:.2f}.h5",
            loss=TRAIN,
            val=VAL,
        ),
        {"Epoch": "epoch", "loss": "train_loss", "val_loss": "val_loss"},
        WELL,
    ),
    "only validation ends": Case(
        filled("epoch={n} train_loss={loss:.4f} val_loss={val}", loss=TRAIN, val=[math.nan] * 20),
        {"epoch": "epoch", "train_loss": "train_loss", "val_loss": "val_loss"},
        {"nan"},
    ),
    "a norm that is no number": Case(
        filled("step {n}: loss 0.0000, grad_norm nan, lr 1e-4", 20),
        {"step": "step", "loss": "train_loss", "grad_norm": "grad_norm", "lr": "lr"},
        ENDED,
    ),
    "nested records": Case(
        filled(
            '{{"time": "2024-05-01T08:12:{n:02d}Z", "epoch": {n}, "train": {{"loss": {loss:.4f}, "acc": {acc:.3f}}}, "valid": {{"loss": {val:.4f}}}}}',
            loss=TRAIN,
            acc=SHARE,
            val=VAL,
        ),
        {"epoch": "epoch", "train/loss": "train_loss", "train/acc": "train_accuracy", "valid/loss": "val_loss"},
        WELL,
    ),
    "a bar that is drawn again": Case(
        "\r".join(
            f"Epoch {epoch}:  {10 * at}%|{'#' * at}{' ' * (10 - at)}| {at}/10 [00:0{at}<00:0{9 - at}, 31.{at}it/s, lr=0.001, loss={loss:.3f}]"
            for epoch in range(1, 4)
            for at, loss in zip(range(10), falling(30)[10 * epoch - 10 : 10 * epoch], strict=True)
        ),
        {"Epoch": "epoch", "number 1": "step", "loss": "train_loss", "lr": "lr"},
        WELL,
    ),
    "tabs, copied from a notebook": Case(
        table(
            "Step\tTraining Loss\tValidation Loss\tAccuracy",
            "{n}00\t{loss:.6f}\t{val:.6f}\t{acc:.6f}",
            loss=falling(20, 2.2, 0.01),
            val=rising(20),
            acc=SHARE,
        ),
        {"Step": "step", "Training Loss": "train_loss", "Validation Loss": "val_loss", "Accuracy": "val_accuracy"},
        OVERFITTED,
    ),
    "exponential growth": Case(
        filled("it {n:4d}  td_error {loss:.4g}", 30, loss=growing(30)),
        {"it": "step", "td_error": "train_loss"},
        BLOWN - {"climbing"},
    ),
    "arrays printed": Case(
        "{'loss': ["
        + ", ".join(f"np.float32({x:.5f})" for x in TRAIN)
        + "], 'val_loss': array(["
        + ", ".join(f"{x:.5f}" for x in rising(20))
        + "], dtype=float32)}",
        {"loss": "train_loss", "val_loss": "val_loss"},
        OVERFITTED,
    ),
    "hands of two runs": Case(
        filled("epoch {n} loss {loss:.4f}", 12, loss=falling(12))
        + "\n\n"
        + filled("epoch {n} loss {loss:.4f}", 12, loss=[*growing(6, 5), *[math.nan] * 6]),
        {"epoch": "epoch", "loss": "train_loss"},
        BLOWN | ENDED,
    ),
}

OVER = {"loss": falling(20, 2.2, 0.01), "val": rising(20)}
GOOD = {"loss": TRAIN, "val": VAL}
MORE_FORMATS = {
    "semicolons and a perplexity": Case(
        filled(
            "[2023-05-01 10:00:{n:02d},123 INFO] Step {n}00/10000; acc:   {acc:.2f}; ppl: 9830.13; xent: {loss:.2f}; lr: 0.00001; "
            "12345/12345 tok/s;     62 sec",
            acc=10 + 60 * SHARE,
            loss=falling(20, 9, 1),
        ),
        {"Step": "step", "acc": "train_accuracy", "xent": "train_loss", "lr": "lr"},
        WELL,
    ),
    "a frame with a row of types": Case(
        table(
            "shape: (20, 3)\n┌───────┬────────────┬──────────┐\n│ epoch ┆ train_loss ┆ val_loss │\n│ ---   ┆ ---        ┆ ---      │\n"
            "│ i64   ┆ f64        ┆ f64      │\n╞═══════╪════════════╪══════════╡",
            "│ {n:5d} ┆ {loss:.4f}     ┆ {val:.4f}   │",
            **OVER,
        ),
        {"epoch": "epoch", "train_loss": "train_loss", "val_loss": "val_loss"},
        OVERFITTED,
    ),
    "one curve as steps and values": Case(
        json.dumps({"steps": [*range(20)], "values": [*falling(20, 0.6)]}),
        {"steps": "step", "values": "train_loss"},
        WELL,
    ),
    "a header in two lines between spaces": Case(
        table(
            "average  since         example        example  current  current  current\nloss     last          counter         weight    label  predict features",
            "{loss:.6f} 0.693147            {n}            {n}.0  -1.0000   0.0000       55",
            loss=falling(20, 0.6),
        ),
        {"loss": "train_loss"},
        WELL,
    ),
    "results of training, then of validation": Case(
        filled(
            "Training Results - Epoch: {n}  Avg accuracy: {acc:.2f} Avg loss: {loss:.2f}\nValidation Results - Epoch: {n}  Avg accuracy: 0.61 Avg loss: {val:.2f}",
            acc=SHARE,
            **OVER,
        ),
        {
            "Epoch": "epoch",
            "training Avg accuracy": "train_accuracy",
            "training Avg loss": "train_loss",
            "validation Avg accuracy": "val_accuracy",
            "validation Avg loss": "val_loss",
        },
        OVERFITTED,
    ),
    "iterations, then what is done": Case(
        filled(
            "2023-01-01 10:00:{n:02d},123 epoch {n} - iter 50/100 - loss {loss:.4f} - time (sec): 1.23 - samples/sec: 300.12 - lr: 0.100000\n"
            "2023-01-01 10:00:{n:02d},400 ----------------------------------------------------------------------------------\n"
            "2023-01-01 10:00:{n:02d},401 EPOCH {n} done: loss {loss:.4f} - lr 0.100000\n"
            "2023-01-01 10:00:{n:02d},500 DEV : loss {val:.4f} - f1-score (micro avg)  0.5",
            **GOOD,
        ),
        {"epoch": "epoch", "iter": "step", "loss": "train_loss", "lr": "lr", "dev loss": "val_loss"},
        WELL,
    ),
    "commas and dashes": Case(
        filled("epoch: {n}, lr: 1.00e+00 - train loss: {loss:.2f} - valid loss: {val:.2f}, valid CER: 21.3", **OVER),
        {"epoch": "epoch", "lr": "lr", "train loss": "train_loss", "valid loss": "val_loss"},
        OVERFITTED,
    ),
    "the number before the word": Case(
        filled(
            "{n}epoch results: [train] iter_time=0.005, forward_time=0.2, loss={loss:.3f}, acc=0.5, time=10 minutes, total_count=100, [valid] loss={val:.3f}, acc=0.41, time=20 seconds",
            **GOOD,
        ),
        {
            "epoch": "epoch",
            "train loss": "train_loss",
            "train acc": "train_accuracy",
            "valid loss": "val_loss",
            "valid acc": "val_accuracy",
        },
        WELL,
    ),
    "values in brackets": Case(
        filled("epoch: {n}, batch: 0, loss is: [{loss:.6f}], acc is: [{acc:.4f}]", loss=stuck(20), acc=[0.1] * 20),
        {"epoch": "epoch", "batch": "step", "loss": "train_loss", "acc": "train_accuracy"},
        STUCK,
    ),
    "a number a line, names with hyphens": Case(
        filled(
            "INFO:root:Epoch[{n}] Train-cross-entropy={loss:.6f}\nINFO:root:Epoch[{n}] Time cost=12.3\nINFO:root:Epoch[{n}] Validation-cross-entropy={val:.6f}",
            **OVER,
        ),
        {"Epoch": "epoch", "Train-cross-entropy": "train_loss", "Validation-cross-entropy": "val_loss"},
        OVERFITTED,
    ),
    "no space after the colon": Case(
        filled(
            "Step {n} | loss:{loss:.4f} lr:2e-05 tokens_per_second_per_gpu:104.2 grad_norm:{norm:.2f}",
            loss=[*growing(12, 2.0), *[math.nan] * 8],
            norm=[*growing(12, 3.0), *[math.nan] * 8],
        ),
        {"Step": "step", "loss": "train_loss", "lr": "lr", "grad_norm": "grad_norm"},
        BLOWN | ENDED,
    ),
    "French": Case(
        filled(
            "Époque {n} sur 20 : perte d'entraînement = {loss:.4f} ; perte de validation = {val:.4f} ; taux d'apprentissage = 0.001",
            **OVER,
        ),
        {"Époque": "epoch", "perte d'entraînement": "train_loss", "perte de validation": "val_loss"},
        OVERFITTED,
    ),
    "a sheet with decimal commas": Case(
        table("Epoche;Trainingsverlust;Testverlust;Lernrate", "{n};{loss:.4f};{val:.4f};0.001", **OVER).replace(
            ".", ","
        ),
        {"Epoche": "epoch", "Trainingsverlust": "train_loss", "Testverlust": "val_loss", "Lernrate": "lr"},
        OVERFITTED,
    ),
    "rows of a typeset table": Case(
        table("Epoch & Train loss & Val loss \\\\\n\\hline", "{n} & {loss:.3f} & {val:.3f} \\\\", **GOOD),
        {"Epoch": "epoch", "Train loss": "train_loss", "Val loss": "val_loss"},
        WELL,
    ),
    "keys and values": Case(
        filled(
            'ts=2024-05-01T08:12:{n:02d}Z level=info msg="epoch done" epoch={n} loss={loss:.4f} val_loss={val:.4f} dur=12.3s',
            **OVER,
        ),
        {"epoch": "epoch", "loss": "train_loss", "val_loss": "val_loss"},
        OVERFITTED,
    ),
    "a frame on the left": Case(
        filled("┌ Info: metrics\n│   epoch = {n}\n│   loss = {loss:.5f}\n└   test_loss = {val:.5f}", **GOOD),
        {"epoch": "epoch", "loss": "train_loss", "test_loss": "val_loss"},
        WELL,
    ),
    "a bar between name and value": Case(
        filled(
            "Step {n}00: Ran 100 train steps in 12.34 secs\nStep {n}00: train CrossEntropyLoss |  {loss:.8f}\nStep {n}00: eval  CrossEntropyLoss |  {val:.8f}",
            **GOOD,
        ),
        {"Step": "step", "train CrossEntropyLoss": "train_loss", "eval CrossEntropyLoss": "val_loss"},
        WELL,
    ),
    "a console of a detector": Case(
        filled(
            "      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size\n"
            "      {n}/20      2.57G     {loss:.4f}      2.041      1.412         30        640: 100%|██████████| 8/8 [00:04<00:00,  1.91it/s]\n"
            "                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): 100%|██████████| 4/4 [00:01<00:00,  3.1it/s]\n"
            "                   all        128        929      0.641      0.542      0.612      0.451\n",
            loss=TRAIN,
        ),
        {"Epoch": "epoch", "box_loss": "train_loss"},
        WELL,
    ),
    "the number first": Case(
        filled(
            "{n}: {loss:.6f}, {loss:.6f} avg loss, 0.001000 rate, 2.512345 seconds, {n}64 images, 9.3 hours left",
            loss=TRAIN,
        ),
        {"number 1": "step", "avg loss": "train_loss"},
        WELL,
    ),
    "Chinese, all on one line": Case(
        filled(
            "第{n}轮：训练损失={loss:.4f}，验证损失={val:.4f}，训练准确率={acc:.2%}，验证准确率=61.00%，学习率=0.001",
            acc=SHARE,
            **OVER,
        ),
        {
            "轮": "epoch",
            "训练损失": "train_loss",
            "验证损失": "val_loss",
            "训练准确率": "train_accuracy",
            "验证准确率": "val_accuracy",
            "学习率": "lr",
        },
        OVERFITTED,
    ),
    "a mean and a deviation": Case(
        filled(
            "epoch {n:>3} loss 0.{n:02d} ± 0.02 (best 0.01) val {val:.3f} ± 0.05".replace("0.{n:02d}", "{loss:.3f}"),
            **GOOD,
        ),
        {"epoch": "epoch", "loss": "train_loss", "val": "val_loss"},
        WELL,
    ),
    "words only before the numbers": Case(
        filled("Ep {n} train {loss:.4f} test {val:.4f} | 12.3s", **OVER),
        {"Ep": "epoch", "train": "train_loss", "test": "val_loss"},
        OVERFITTED,
    ),
    "a loss of 14.5": Case(
        filled("Epoch {n}/20\n - 3s - loss: 14.5063 - acc: 0.1000 - val_loss: 14.5063 - val_acc: 0.1000"),
        {
            "Epoch": "epoch",
            "loss": "train_loss",
            "acc": "train_accuracy",
            "val_loss": "val_loss",
            "val_acc": "val_accuracy",
        },
        {"rate-high", "scale", "dying"},
    ),
    "an update as a share of an epoch": Case(
        filled(
            '{{"epoch": {epoch}, "update": {share:.2f}, "loss": "{loss:.3f}", "num_updates": "{n}00"}}',
            epoch=np.arange(20) // 4 + 1,
            share=np.arange(20) / 4 + 0.1,
            loss=TRAIN,
        ),
        {"epoch": "epoch", "num_updates": "step", "loss": "train_loss"},
        WELL,
    ),
    "Russian, the part behind its number": Case(
        filled("Эпоха {n}: потери {loss:.4f} / {val:.4f} (вал.), точность 0.{n}", **OVER),
        {"Эпоха": "epoch", "потери": "train_loss", "вал": "val_loss", "вал точность": "val_accuracy"},
        OVERFITTED,
    ),
    "names in brackets, far apart": Case(
        filled("Época {n}\n  pérdida (entren.): {loss:.4f}   pérdida (valid.): {val:.4f}", **OVER),
        {"Época": "epoch", "pérdida entren": "train_loss", "pérdida valid": "val_loss"},
        OVERFITTED,
    ),
    "words that say where, and on what": Case(
        filled("Эпоха {n}, функция потерь: {loss:.4f}, на проверочной выборке: {val:.4f}", **OVER),
        {"Эпоха": "epoch", "функция потерь": "train_loss", "на проверочной выборке": "val_loss"},
        OVERFITTED,
    ),
    "a loss and a norm that grow after they fell": Case(
        filled(
            "step {n} loss {loss:.3f} grad_norm {norm:.2f}", loss=[2, 1.9, 1.8, *growing(17)], norm=growing(20, 1.3)
        ),
        {"step": "step", "loss": "train_loss", "grad_norm": "grad_norm"},
        {"rate-high"},
    ),
    "far apart": Case(
        filled(
            "Epoch {n}: train loss {loss:.3f}, val loss {val:.3f}",
            loss=falling(20, 2.2, 0.03),
            val=1.245 + 0.01 * np.sin(np.arange(20)),
        ),
        {"Epoch": "epoch", "train loss": "train_loss", "val loss": "val_loss"},
        OVERFITTED,
    ),
    "low and flat validation": Case(
        filled(
            "Epoch {n} Training Loss: {loss:.6f} Validation Loss: {val:.6f}",
            loss=np.linspace(0.166, 0.051, 20),
            val=0.072 + 0.001 * np.sin(np.arange(20) * 2),
        ),
        {"Epoch": "epoch", "Training Loss": "train_loss", "Validation Loss": "val_loss"},
        WELL,
    ),
    "a dict of two runs": Case(
        "sgd = {'loss': ["
        + ", ".join(f"{x:.4f}" for x in falling(20))
        + "]}\nadam = {'loss': ["
        + ", ".join(f"{x:.4f}" for x in stuck(20))
        + "]}",
        {"sgd/loss": "train_loss"},
        {None} | STUCK,
    ),
    "milliseconds a step": Case(
        filled(
            "Epoch {n}/20\n938/938 [=====] - 3s 3ms/step - loss: {loss:.4f} - val_loss: {val:.4f}",
            loss=falling(20),
            val=rising(20),
        ),
        {"Epoch": "epoch", "loss": "train_loss", "val_loss": "val_loss"},
        OVERFITTED,
    ),
    "a count, and its total behind a word for it": Case(
        filled("第{n}轮/共20轮 训练损失：{loss:.4f} 验证损失：{val:.4f}", **OVER),
        {"轮": "epoch", "训练损失": "train_loss", "验证损失": "val_loss"},
        OVERFITTED,
    ),
    "a score and the largest one, which is no total": Case(
        filled("epoch {n}/20 acc 81, max 95, loss {loss:.4f}, val_loss {val:.4f}", **OVER),
        {"epoch": "epoch", "acc": "train_accuracy", "loss": "train_loss", "val_loss": "val_loss"},
        OVERFITTED,
    ),
    "a count with its name, of a total": Case(
        filled("{n} epochs (of 20): loss {loss:.4f}, val_loss {val:.4f}", **OVER),
        {"epochs": "epoch", "loss": "train_loss", "val_loss": "val_loss"},
        OVERFITTED,
    ),
    "a score behind the validation loss, and a gap in the first row": Case(
        table(
            "| Training Loss | Epoch | Validation Loss | Accuracy |\n|---|---|---|---|\n| No log | 0 | 0.9 | 0.5 |",
            "| {loss:.4f} | {n} | {val:.4f} | 0.{n:02d} |",
            **OVER,
        ),
        {"Epoch": "epoch", "Training Loss": "train_loss", "Validation Loss": "val_loss", "Accuracy": "val_accuracy"},
        OVERFITTED,
    ),
    "the part in a text beside the numbers": Case(
        filled(
            '{{"split": "train", "epoch": {n}, "loss": {loss:.4f}}}\n{{"split": "val", "epoch": {n}, "loss": {val:.4f}}}',
            **OVER,
        ),
        {"epoch": "epoch", "train loss": "train_loss", "val loss": "val_loss"},
        OVERFITTED,
    ),
    "the part in a cell": Case(
        table("phase,epoch,loss", "train,{n},{loss:.4f}\nvalid,{n},{val:.4f}", **OVER),
        {"epoch": "epoch", "train loss": "train_loss", "valid loss": "val_loss"},
        OVERFITTED,
    ),
    "a norm of nothing else, with how unusual it is": Case(
        filled("step {n:>4}/19560 | loss {loss:.6f} (-0.12z)| norm 1.2 (+0.92z)| lr 8.57e-07", loss=falling(20)),
        {"step": "step", "loss": "train_loss", "norm": "grad_norm", "lr": "lr"},
        WELL,
    ),
    "a summary of the model above": Case(
        "  | Name  | Type       | Params\n-----\n0 | model | ResNet18   | 11.2 M\n1 | loss  | CrossEntropyLoss | 0\n-----\n"
        "11.2 M    Trainable params\n0         Non-trainable params\n"
        + filled("Epoch {n}: loss={loss:.4f}, val_loss={val:.4f}", **OVER),
        {"Epoch": "epoch", "loss": "train_loss", "val_loss": "val_loss"},
        OVERFITTED,
    ),
    "a step in brackets behind a prefix": Case(
        filled(
            "I0412 10:11:{n:02d}.485176 140231773149120 logging_writer.py:48] [{n}00] learning_rate=0.1, train_loss={loss:.4f}\n"
            "I0412 10:11:{n:02d}.485180 140231773149120 logging_writer.py:48] [{n}00] eval_loss={val:.4f}\n"
            "I0412 10:11:{n:02d}.485190 140231773149120 local.py:41] Setting work unit notes: 3.4 steps/s, {n}.0% ({n}00/9000)",
            **OVER,
        ),
        {"number 2": "step", "learning_rate": "lr", "train_loss": "train_loss", "eval_loss": "val_loss"},
        OVERFITTED,
    ),
    "the plain loss among its parts": Case(
        filled(
            "{{'entropy_loss': -1.{n:02d}, 'kl_loss': 0.{n:02d}, 'value_loss': 3.1, 'loss': {loss:.4f}}}", loss=TRAIN
        ),
        {"loss": "train_loss"},
        WELL,
    ),
    "perplexity before the loss": Case(
        filled("step={n} train/Perplexity={ppl:.2f} train/CrossEntropyLoss={loss:.4f}", loss=TRAIN, ppl=np.exp(TRAIN)),
        {"step": "step", "train/CrossEntropyLoss": "train_loss"},
        WELL,
    ),
    "tensors, the last ones over two lines": Case(
        "I print the loss every 20 batches. Why does it grow?\n\n"
        + filled("{n}0 tensor({loss:.4f}, device='cuda:0', grad_fn=<MseLossBackward0>)", 8, loss=falling(8, 5, 1))
        + "\n"
        + filled(
            "{n}0 tensor({loss:.4f}, device='cuda:0',\n       grad_fn=<MseLossBackward0>)", 16, 9, loss=growing(16) * 2
        )
        + "\n\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)",
        {"lr": "lr", "column 1": "epoch", "column 2": "train_loss"},
        {"rate-high"},
    ),
    "a loss and a score behind the name of the part": Case(
        filled(
            "Epoch {n}/19\n----------\ntrain Loss: {loss:.4f} Acc: 0.9{n:02d}\nval Loss: {val:.4f} Acc: 0.6100\n",
            **OVER,
        ),
        {
            "Epoch": "epoch",
            "train Loss": "train_loss",
            "train Acc": "train_accuracy",
            "val Loss": "val_loss",
            "val Acc": "val_accuracy",
        },
        OVERFITTED,
    ),
    "numbers in quotes": Case(
        filled('{{"epoch": {n}, "train_loss": "{loss:.3f}"}}\n{{"epoch": {n}, "valid_loss": "{val:.3f}"}}', **OVER),
        {"epoch": "epoch", "train_loss": "train_loss", "valid_loss": "val_loss"},
        OVERFITTED,
    ),
    "a word for learning in the name of a loss": Case(
        filled("Époque n° {n:2d} — perte apprentissage = {loss:.4f} ; perte validation = {val:.4f}", **OVER).replace(
            ".", ","
        ),
        {"Époque n°": "epoch", "perte apprentissage": "train_loss", "perte validation": "val_loss"},
        OVERFITTED,
    ),
    "a module, a function and a line before each": Case(
        filled(
            "08:42:{n:02d} | INFO | __main__:trainiere:88 - Epoche {n:02d}: Verlust Training {loss:.4f}, Treffer {n} %",
            loss=TRAIN,
        ),
        {"Epoche": "epoch", "Verlust Training": "train_loss", "training Treffer": "train_accuracy"},
        WELL,
    ),
    "a count behind its word, and a word behind a space": Case(
        filled("Epoche{n}/20 训练损失={loss:.4f} 验证损失={val:.4f}", **OVER),
        {"Epoche": "epoch", "训练损失": "train_loss", "验证损失": "val_loss"},
        OVERFITTED,
    ),
    "a word for a count, after a space": Case(
        filled("第 {n} / 20 轮 loss {loss:.4f} val {val:.4f}", **OVER),
        {"轮": "epoch", "loss": "train_loss", "val": "val_loss"},
        OVERFITTED,
    ),
    "a climb that stays up": Case(
        filled("step={n}00 loss={loss:.3f} lr=5.0e-01", loss=[5.8, 5.3, 6.1, *(9 + 0.9 * np.sin(range(17)))]),
        {"step": "step", "loss": "train_loss", "lr": "lr"},
        {"rate-high"},
    ),
    "losses of single batches that fall on the whole": Case(
        filled("iteration {n} loss {loss}", 14, loss=[191, 86, 179, 209, 21, 57, 31, 89, 19, 47, 46, 155, 60, 65]),
        {"iteration": "step", "loss": "train_loss"},
        WELL,
    ),
}


def with_spikes(count, *spikes):
    """A falling loss, with spikes from which it recovers: where, how high and how many points wide each is."""
    loss = falling(count)
    for at, height, width in spikes:
        loss[at : at + width] += height * np.linspace(1, 0.2, width)
    return loss


SPIKES = {
    "one": with_spikes(20, (14, 30, 3)),
    "three in 1,000": with_spikes(1000, (300, 20, 2), (500, 5, 9), (640, 40, 1)),
    "two that are wide": with_spikes(100, (40, 4, 10), (70, 6, 8)),
}
