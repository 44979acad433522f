"""Networks trained by PyTorch, each with a known cause, and what a trainer would have written of them.

`RUNS` are the settings, in two halves: those by which the rules of lab/failures/curve.py were made, and those that were
held out: other data, widths, rates and seeds. `python -m tests.unit.failures.trained_runs` says what is found in each.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from lab.failures.curve import read_log

Row = dict[str, float | None]
HEALTHY = "healthy"


@dataclass(frozen=True)
class Run:
    """cause: the key of lab/failures/curve.py; settings: of `fit`; style: of `STYLES`; logged: columns beside losses."""

    cause: str
    style: str
    settings: dict[str, Any] = field(default_factory=dict)
    logged: tuple[str, ...] = ("val_loss", "train_acc", "val_acc")

    def text(self) -> str:
        epochs, steps = fit(**self.settings)
        return STYLES[self.style](epochs, steps, self.logged)


# ---------------------------------------------------------------- training


def blobs(generator: torch.Generator, n: int, features: int, classes: int, spread: float) -> tuple[torch.Tensor, ...]:
    """Clouds around as many centres as there are classes."""
    centres = torch.randn(classes, features, generator=generator) * 2
    y = torch.randint(classes, (n,), generator=generator)
    return centres[y] + spread * torch.randn(n, features, generator=generator), y


def rings(generator: torch.Generator, n: int, classes: int) -> tuple[torch.Tensor, ...]:
    y = torch.randint(classes, (n,), generator=generator)
    angle = 2 * math.pi * torch.rand(n, generator=generator)
    radius = 0.5 + y + 0.1 * torch.randn(n, generator=generator)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], 1), y


def fit(
    *,
    seed: int,
    data: str = "blobs",
    n: int = 300,
    features: int = 6,
    classes: int = 4,
    spread: float = 1.0,
    scale: float = 1.0,
    labels: str = "right",
    widths: tuple[int, ...] = (32, 32),
    activation: Callable[[], nn.Module] = nn.ReLU,
    init: str = "torch",
    dropout: float = 0.0,
    optimizer: str = "adam",
    lr: float = 0.01,
    decay: float = 1.0,
    batch: int = 32,
    epochs: int = 25,
    loss: str = "cross_entropy",
    zeroed: bool = True,
    uphill: bool = False,
    held: bool = True,
) -> tuple[list[Row], list[Row]]:
    """One row for each epoch and one for each step.

    labels: "right", "shuffled", or a share of wrong ones as a number; init: "torch", "zeros", "dead" or "dead late" (the
    first or the last hidden layer has biases far below zero) or a factor on PyTorch's own; loss: "cross_entropy", "softmax twice", "log" (of a softmax, by hand) or "mse";
    zeroed: is zero_grad called; uphill: is the sign of the loss wrong; held: does the optimizer hold the parameters.
    """
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    x, y = rings(generator, n, classes) if data == "rings" else blobs(generator, n, features, classes, spread)
    if labels == "shuffled":
        y = y[torch.randperm(n, generator=generator)]
    elif labels != "right":
        wrong = torch.rand(n, generator=generator) < float(labels)
        y = torch.where(wrong, torch.randint(classes, (n,), generator=generator), y)
    x = x * scale
    wanted = (x[:, :1].sin() + 0.1 * torch.randn(n, 1, generator=generator)) if loss == "mse" else y
    held_out = max(n // 4, 1)
    xs, ys, val_x, val_y = x[held_out:], wanted[held_out:], x[:held_out], wanted[:held_out]

    sizes = [x.shape[1], *widths, 1 if loss == "mse" else classes]
    layers: list[nn.Module] = []
    for at, (a, b) in enumerate(itertools.pairwise(sizes)):
        layers += [nn.Linear(a, b)]
        if at < len(widths):
            layers += [activation()] + ([nn.Dropout(dropout)] if dropout else [])
    model = nn.Sequential(*layers)
    linear = [layer for layer in layers if isinstance(layer, nn.Linear)]
    with torch.no_grad():
        for layer in linear:
            if init == "zeros":
                layer.weight.zero_()
                layer.bias.zero_()
            elif (init == "dead" and layer is linear[0]) or (init == "dead late" and layer is linear[-2]):
                layer.bias.fill_(-50.0)
            elif init not in ("torch", "dead", "dead late"):
                layer.weight.mul_(float(init))
    parameters = list(model.parameters()) if held else [nn.Parameter(torch.zeros(1))]
    step_by: torch.optim.Optimizer = (
        torch.optim.Adam(parameters, lr) if optimizer == "adam" else torch.optim.SGD(parameters, lr)
    )

    def compare(out: torch.Tensor, want: torch.Tensor) -> torch.Tensor:
        if loss == "mse":
            return functional.mse_loss(out, want)
        if loss == "softmax twice":
            return functional.cross_entropy(out.softmax(1), want)
        if loss == "log":
            return -out.softmax(1)[torch.arange(len(want)), want].log().mean()
        return functional.cross_entropy(out, want)

    rows: list[Row] = []
    steps: list[Row] = []
    for epoch in range(epochs):
        model.train()
        seen: list[Row] = []
        for part in torch.randperm(len(xs), generator=generator).split(batch):
            if zeroed:
                model.zero_grad()
            out = model(xs[part])
            value = compare(out, ys[part])
            (-value if uphill else value).backward()
            norms = [_norm(layer) for layer in linear]
            row: Row = {
                "step": len(steps),
                "epoch": epoch,
                "train_loss": value.item(),
                "lr": step_by.param_groups[0]["lr"],
                "grad_norm": math.sqrt(sum(norm * norm for norm in norms)),
            }
            row |= {f"grad_norm/fc{number}": norm for number, norm in enumerate(norms, 1)}
            if loss != "mse":
                row["train_acc"] = (out.argmax(1) == ys[part]).float().mean().item()
            seen.append(row)
            steps.append(row)
            step_by.step()
        for group in step_by.param_groups:
            group["lr"] *= decay
        model.eval()
        with torch.no_grad():
            out = model(val_x)
            last: Row = {"epoch": epoch, "step": len(steps) - 1, "lr": seen[-1]["lr"]}
            last |= {name: _mean(row[name] for row in seen) for name in seen[0] if name not in last}
            last["val_loss"] = compare(out, val_y).item()
            if loss != "mse":
                last["val_acc"] = (out.argmax(1) == val_y).float().mean().item()
        rows.append(last)
    return rows, steps


def _norm(layer: nn.Linear) -> float:
    return math.sqrt(sum(float(p.grad.pow(2).sum()) for p in layer.parameters() if p.grad is not None))


def _mean(values: Iterable[float | None]) -> float:
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers)


# ---------------------------------------------------------------- what is written of it


def _written(header: list[str], rows: Iterable[Iterable[Any]], delimiter: str = ",", comma: bool = False) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(header)
    for row in rows:
        cells = ["" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value) for value in row]
        writer.writerow([cell.replace(".", ",") for cell in cells] if comma else cells)
    return out.getvalue()


def _picked(rows: list[Row], names: Iterable[str]) -> list[list[float | None]]:
    return [[row.get(name) for name in names] for row in rows]


def plain(epochs: list[Row], steps: list[Row], logged: tuple[str, ...]) -> str:
    names = ["epoch", "train_loss", *logged]
    return _written(names, _picked(epochs, names))


def keras(epochs: list[Row], steps: list[Row], logged: tuple[str, ...]) -> str:
    names = {"epoch": "epoch", "train_acc": "accuracy", "train_loss": "loss", "val_acc": "val_accuracy"}
    names |= {"val_loss": "val_loss", "lr": "learning_rate"}
    kept = [name for name in names if name in ("epoch", "train_loss", *logged)]
    return _written([names[name] for name in kept], _picked(epochs, kept))


def lightning(epochs: list[Row], steps: list[Row], logged: tuple[str, ...]) -> str:
    """The training's and the validation's columns on lines of their own, as CSVLogger writes them."""
    first = [name for name in ("train_loss", *logged) if not name.startswith("val")]
    second = [name for name in logged if name.startswith("val")]
    rows: list[list[float | None]] = []
    for row in epochs:
        rows.append([row["epoch"], row["step"], *[row[name] for name in first], *[None] * len(second)])
        rows.append([row["epoch"], row["step"], *[None] * len(first), *[row[name] for name in second]])
    return _written(
        ["epoch", "step", *[f"{name}_epoch" if name == "train_loss" else name for name in first], *second], rows
    )


def semicolon(epochs: list[Row], steps: list[Row], logged: tuple[str, ...]) -> str:
    names = ["epoch", "train_loss", *logged]
    header = [name.replace("_", " ").replace("train", "Training").replace("acc", "accuracy") for name in names]
    return _written(header, _picked(epochs, names), ";", comma=True)


def tab(epochs: list[Row], steps: list[Row], logged: tuple[str, ...]) -> str:
    names = ["epoch", "train_loss", *logged]
    shown = {"epoch": "Epoch", "train_loss": "training loss", "val_loss": "valid/loss", "val_acc": "valid/acc"}
    return _written([shown.get(name, name.replace("_acc", "/acc")) for name in names], _picked(epochs, names), "\t")


def wandb(epochs: list[Row], steps: list[Row], logged: tuple[str, ...]) -> str:
    names = ["train_loss", *logged]
    header = ["Step"]
    for name in names:
        shown = f"calm-river-7 - {name.replace('_', '/', 1)}"
        header += [shown, f"{shown}__MIN", f"{shown}__MAX"]
    return _written(header, [[row["step"], *[row[name] for name in names for _ in range(3)]] for row in epochs])


def tensorboard(epochs: list[Row], steps: list[Row], logged: tuple[str, ...]) -> str:
    return _written(
        ["Wall time", "Step", "Value"], [[1.7e9 + row["step"], row["step"], row["train_loss"]] for row in steps]
    )


def per_step(epochs: list[Row], steps: list[Row], logged: tuple[str, ...]) -> str:
    names = ["step", "train_loss", *[name for name in logged if not name.startswith("val")]]
    return _written(["loss" if name == "train_loss" else name for name in names], _picked(steps, names))


def bare(epochs: list[Row], steps: list[Row], logged: tuple[str, ...]) -> str:
    return "\n".join(f"{row['train_loss']:.4f}" for row in epochs)


STYLES = {
    style.__name__: style for style in (plain, keras, lightning, semicolon, tab, wandb, tensorboard, per_step, bare)
}

# ---------------------------------------------------------------- the runs

LAYERS2 = ("grad_norm/fc1", "grad_norm/fc2", "grad_norm/fc3")
RICH = ("val_loss", "train_acc", "val_acc", "lr", *LAYERS2)
DEEP = ("val_loss", "train_acc", "val_acc", *[f"grad_norm/fc{number}" for number in range(1, 8)])
NORM = ("val_loss", "train_acc", "val_acc", "grad_norm")

SEEN = (
    Run(HEALTHY, "plain", {"seed": 1, "lr": 0.002}),
    Run(
        HEALTHY,
        "keras",
        {"seed": 2, "optimizer": "sgd", "lr": 0.1, "decay": 0.95},
        ("val_loss", "train_acc", "val_acc", "lr"),
    ),
    Run(HEALTHY, "lightning", {"seed": 3, "dropout": 0.5, "epochs": 30}),
    Run(HEALTHY, "tensorboard", {"seed": 4}),
    Run(HEALTHY, "bare", {"seed": 5, "classes": 2}),
    Run(HEALTHY, "semicolon", {"seed": 6, "loss": "mse", "features": 2, "lr": 0.02}, ("val_loss",)),
    Run(HEALTHY, "plain", {"seed": 7}, RICH),
    Run("rate-high", "plain", {"seed": 11, "optimizer": "sgd", "lr": 20.0}),
    Run("rate-high", "per_step", {"seed": 12, "lr": 1.0}, ("lr", "grad_norm")),
    Run("rate-high", "wandb", {"seed": 13, "optimizer": "sgd", "lr": 3.0, "spread": 1.5}),
    Run("rate-high", "bare", {"seed": 14, "optimizer": "sgd", "lr": 0.6, "loss": "mse", "features": 4, "scale": 3.0}),
    Run("rate-low", "keras", {"seed": 15, "lr": 3e-6}),
    Run("rate-low", "bare", {"seed": 16, "optimizer": "sgd", "lr": 2e-4}),
    Run("flat", "plain", {"seed": 17, "init": "zeros"}, RICH),
    Run("flat", "lightning", {"seed": 18, "init": "zeros", "activation": nn.Tanh, "classes": 3}, RICH),
    Run("dying", "tab", {"seed": 19, "init": "dead"}, RICH),
    Run("dying", "plain", {"seed": 20, "init": "dead late", "optimizer": "sgd", "lr": 0.1}, RICH),
    Run(
        "vanishing",
        "plain",
        {"seed": 21, "widths": (16,) * 6, "activation": nn.Sigmoid, "optimizer": "sgd", "lr": 0.1},
        DEEP,
    ),
    Run("vanishing", "wandb", {"seed": 22, "widths": (16,) * 6, "activation": nn.Sigmoid, "lr": 1e-4}, DEEP),
    Run("scale", "plain", {"seed": 23, "init": "8", "widths": (32, 32, 32), "optimizer": "sgd", "lr": 1e-4}, NORM),
    Run(
        "scale",
        "per_step",
        {"seed": 24, "init": "6", "widths": (32,) * 5, "optimizer": "sgd", "lr": 0.01},
        ("grad_norm",),
    ),
    Run("overfitting", "plain", {"seed": 25, "n": 60, "spread": 3.5, "widths": (128, 128), "epochs": 40}),
    Run("overfitting", "keras", {"seed": 26, "n": 80, "labels": "0.4", "widths": (128, 128), "epochs": 40}),
    Run(
        "overfitting",
        "semicolon",
        {"seed": 27, "n": 60, "spread": 3.5, "widths": (128, 128), "epochs": 40},
        ("val_loss",),
    ),
    Run("underfitting", "plain", {"seed": 28, "data": "rings", "classes": 3, "widths": (), "epochs": 45}),
    Run(
        "underfitting",
        "keras",
        {"seed": 29, "data": "rings", "classes": 4, "widths": (2,), "activation": nn.Tanh, "lr": 0.02, "epochs": 60},
    ),
    Run("piling", "plain", {"seed": 30, "zeroed": False, "optimizer": "sgd", "lr": 0.05}, NORM),
    Run(
        "piling", "per_step", {"seed": 31, "zeroed": False, "optimizer": "sgd", "lr": 0.02}, ("train_acc", "grad_norm")
    ),
    Run("climbing", "plain", {"seed": 32, "uphill": True, "optimizer": "sgd", "lr": 0.01}),
    Run("climbing", "bare", {"seed": 33, "uphill": True, "lr": 0.001}),
    Run("labels", "plain", {"seed": 34, "labels": "shuffled", "lr": 0.003, "n": 800, "widths": (16,)}),
    Run("labels", "keras", {"seed": 35, "labels": "shuffled", "n": 100, "widths": (128, 128), "epochs": 40}),
    Run("softmax-twice", "plain", {"seed": 36, "loss": "softmax twice", "epochs": 40}),
    Run(
        "softmax-twice",
        "keras",
        {"seed": 37, "loss": "softmax twice", "classes": 10, "n": 600, "spread": 0.5, "epochs": 40},
    ),
    Run(
        "batch-noise",
        "per_step",
        {"seed": 38, "batch": 1, "optimizer": "sgd", "lr": 0.03, "spread": 3.0, "epochs": 12},
        (),
    ),
    Run("batch-noise", "tensorboard", {"seed": 39, "batch": 2, "lr": 0.03, "spread": 2.5, "epochs": 12}),
    Run("scale", "plain", {"seed": 40, "scale": 300.0, "lr": 0.001}),
    Run("scale", "wandb", {"seed": 41, "scale": 1000.0, "optimizer": "sgd", "lr": 0.001}, NORM),
    Run("frozen", "plain", {"seed": 42, "held": False}, NORM),
    Run("nan", "plain", {"seed": 43, "loss": "log", "lr": 0.05, "spread": 1.2, "scale": 20.0, "epochs": 40}, NORM),
)

HELD_OUT = (
    Run(HEALTHY, "tab", {"seed": 101, "classes": 3, "widths": (64,), "lr": 0.005, "epochs": 30}),
    Run(HEALTHY, "wandb", {"seed": 102, "data": "rings", "classes": 2, "widths": (24, 24), "epochs": 35, "n": 500}),
    Run(HEALTHY, "plain", {"seed": 103, "classes": 6, "n": 600, "batch": 64, "activation": nn.Tanh}, NORM),
    Run(HEALTHY, "per_step", {"seed": 104, "classes": 3, "optimizer": "sgd", "lr": 0.05, "batch": 16}, ("grad_norm", "lr")),
    Run(HEALTHY, "keras", {"seed": 105, "dropout": 0.3, "widths": (64, 64), "lr": 0.004, "epochs": 30}),
    Run(HEALTHY, "bare", {"seed": 106, "optimizer": "sgd", "lr": 0.2, "decay": 0.9}),
    Run(HEALTHY, "lightning", {"seed": 107, "loss": "mse", "features": 1, "lr": 0.01, "n": 500}, ("val_loss",)),
    Run("rate-high", "keras", {"seed": 111, "optimizer": "sgd", "lr": 12.0, "classes": 3}),
    Run("rate-high", "tensorboard", {"seed": 112, "lr": 0.6, "widths": (64, 32), "classes": 5}),
    Run("rate-high", "lightning", {"seed": 113, "optimizer": "sgd", "lr": 2.5, "spread": 1.3, "widths": (48,)}),
    Run("rate-high", "semicolon", {"seed": 114, "optimizer": "sgd", "lr": 0.9, "loss": "mse", "features": 3, "scale": 3.0}, ("val_loss",)),
    Run("rate-low", "plain", {"seed": 115, "optimizer": "sgd", "lr": 3e-4, "classes": 3}, NORM),
    Run("rate-low", "wandb", {"seed": 116, "lr": 8e-6, "widths": (64,), "epochs": 30}),
    Run("flat", "wandb", {"seed": 117, "init": "zeros", "classes": 5, "n": 400}, RICH),
    Run("flat", "semicolon", {"seed": 118, "init": "zeros", "activation": nn.Tanh, "optimizer": "sgd", "lr": 0.1}, RICH),
    Run("dying", "plain", {"seed": 119, "init": "dead", "classes": 3, "optimizer": "sgd", "lr": 0.05}, RICH),
    Run("dying", "wandb", {"seed": 120, "init": "dead late", "widths": (48, 24), "classes": 5}, RICH),
    Run("vanishing", "lightning", {"seed": 121, "widths": (24,) * 6, "activation": nn.Sigmoid, "optimizer": "sgd", "lr": 0.2, "classes": 3}, DEEP),
    Run("vanishing", "tab", {"seed": 122, "widths": (12,) * 6, "activation": nn.Sigmoid, "lr": 3e-4, "classes": 5}, DEEP),
    Run("scale", "keras", {"seed": 123, "init": "7", "widths": (48, 48, 24), "optimizer": "sgd", "lr": 3e-5}, NORM),
    Run("scale", "plain", {"seed": 124, "init": "5", "widths": (24,) * 6, "optimizer": "sgd", "lr": 0.003}, NORM),
    Run("overfitting", "wandb", {"seed": 125, "n": 70, "spread": 3.0, "features": 8, "widths": (96, 96), "epochs": 40}),
    Run("overfitting", "lightning", {"seed": 126, "n": 100, "labels": "0.35", "widths": (128, 64), "epochs": 45}),
    Run("overfitting", "tab", {"seed": 127, "n": 80, "spread": 4.0, "widths": (200,), "epochs": 40}, ("val_loss",)),
    Run("underfitting", "lightning", {"seed": 128, "data": "rings", "classes": 4, "widths": (), "epochs": 50}),
    Run("underfitting", "semicolon", {"seed": 129, "data": "rings", "classes": 3, "widths": (2,), "activation": nn.Tanh, "lr": 0.03, "epochs": 70}),
    Run("piling", "keras", {"seed": 130, "zeroed": False, "optimizer": "sgd", "lr": 0.03, "classes": 3}, NORM),
    Run("piling", "per_step", {"seed": 131, "zeroed": False, "optimizer": "sgd", "lr": 0.05, "widths": (64,)}, ("grad_norm",)),
    Run("climbing", "wandb", {"seed": 132, "uphill": True, "optimizer": "sgd", "lr": 0.02, "classes": 3}),
    Run("climbing", "tensorboard", {"seed": 133, "uphill": True, "lr": 0.002}),
    Run("labels", "lightning", {"seed": 134, "labels": "shuffled", "lr": 0.002, "n": 900, "widths": (12,), "classes": 3}),
    Run("labels", "plain", {"seed": 135, "labels": "shuffled", "n": 120, "widths": (96, 96), "classes": 5, "epochs": 40}),
    Run("softmax-twice", "tab", {"seed": 136, "loss": "softmax twice", "classes": 3, "epochs": 40}),
    Run("softmax-twice", "wandb", {"seed": 137, "loss": "softmax twice", "classes": 6, "n": 500, "spread": 0.8, "epochs": 40}),
    Run("batch-noise", "per_step", {"seed": 138, "batch": 1, "optimizer": "sgd", "lr": 0.03, "spread": 3.0, "epochs": 14, "classes": 3}, ()),
    Run("batch-noise", "tensorboard", {"seed": 139, "batch": 1, "lr": 0.03, "spread": 2.5, "epochs": 10}),
    Run("scale", "keras", {"seed": 140, "scale": 500.0, "lr": 0.002, "classes": 3}),
    Run("scale", "lightning", {"seed": 141, "scale": 800.0, "optimizer": "sgd", "lr": 0.003}, NORM),
    Run("frozen", "wandb", {"seed": 142, "held": False, "classes": 3}),
    Run("nan", "keras", {"seed": 143, "loss": "log", "lr": 0.03, "scale": 30.0, "classes": 3, "epochs": 40}, NORM),
)  # read by rows  # fmt: skip


def found(run: Run) -> list[str]:
    """The keys of the causes that are given, in their order."""
    return [cause.key for cause in read_log(run.text()).causes]


def right(run: Run, keys: list[str]) -> bool:
    return not keys if run.cause == HEALTHY else run.cause in keys[:2]


def main() -> None:
    again = [replace(run, settings=run.settings | {"seed": run.settings["seed"] + 1000}) for run in SEEN + HELD_OUT]
    for name, runs in (("by which the rules were made", SEEN), ("held out", HELD_OUT), ("with other seeds", again)):
        good = 0
        for run in runs:
            keys = found(run)
            good += right(run, keys)
            print("   " if right(run, keys) else "NOT", run.cause, run.settings["seed"], run.style, "->", *keys)
        print(f"{name}: {good} of {len(runs)}\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
