"""The causes that a curve may show, and all that is said of each wherever it is found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Known:
    """A cause, and what is said of it wherever it is found.

    failure   key of the failure that it is (lab/failures/catalogue.toml); "" for none
    apart     what tells it from causes that look the same
    settings  of a run in the Training lab that goes wrong in this way; {} where no setting does
    """

    name: str
    failure: str
    advice: str
    apart: str
    settings: Mapping[str, str] = field(default_factory=dict)


_SMALL = {"data": "moons", "epochs": "20"}
KNOWN: Mapping[str, Known] = {
    "climbing": Known(
        "The step has the wrong sign",
        "order",
        "Look at the sign of the loss and of the update: weights go against the gradient.",
        "With the wrong sign a rate ten times smaller only makes the loss climb more slowly.",
    ),
    "piling": Known(
        "Gradients pile up: zero_grad is not called",
        "zero-grad",
        "Call optimizer.zero_grad() before every backward().",
        "Print the gradient norm of the first ten steps: without zero_grad it grows even with a rate of 0.",
    ),
    "nan": Known(
        "An operation gave inf or NaN: log(0), sqrt(0), 0/0",
        "nan",
        "Run once with torch.autograd.set_detect_anomaly(True): it names the operation.",
        "With a rate ten times smaller it still happens.",
    ),
    "rate-high": Known(
        "The learning rate is too high",
        "rate",
        "Divide the learning rate by 10, and again until the curve is smooth.",
        "With a tenth of the rate it is gone.",
        _SMALL | {"lr": "30", "optimizer": "sgd"},
    ),
    "scale": Known(
        "Numbers far too large from the start: inputs not scaled, or first weights too large",
        "",
        "Print x.mean() and x.std() of a batch, which should be near 0 and 1, and leave the weights as PyTorch "
        "initialises them.",
        "The very first loss, before any step, is huge already.",
        _SMALL | {"init": "normal", "hidden": "64 64"},
    ),
    "exploding": Known(
        "Gradients explode",
        "",
        "Clip them: torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0), before the step.",
        "The gradient norm of each layer grows from the last layer to the first.",
        _SMALL | {"init": "normal", "hidden": "64 64"},
    ),
    "flat": Known(
        "Weights that all begin at zero",
        "zero-init",
        "Leave the weights as PyTorch initialises them, at random.",
        "Print layer.weight.std() before the training: it is 0.",
        _SMALL | {"init": "zeros"},
    ),
    "dying": Known(
        "A layer of relu units is dead",
        "dead",
        "Start again with a smaller rate, or with LeakyReLU.",
        "Print (h > 0).float().mean() of each hidden layer: it is 0.",
        _SMALL | {"lr": "10", "optimizer": "sgd", "hidden": "16 16"},
    ),
    "vanishing": Known(
        "Gradients vanish on their way back",
        "vanishing",
        "Use ReLU instead of sigmoid or tanh, fewer layers, or skip connections.",
        "The gradient norm of each layer shrinks from the last layer to the first.",
        _SMALL | {"hidden": "16 16 16 16 16", "activation": "sigmoid", "init": "xavier"},
    ),
    "frozen": Known(
        "No parameter moves: the optimizer does not hold them, or no gradient reaches them",
        "optimizer",
        "Print a weight before and after optimizer.step(), and len(list(model.parameters())).",
        "A weight is bit for bit the same after a step.",
    ),
    "softmax-twice": Known(
        "Softmax before cross_entropy, which applies its own",
        "softmax",
        "Give cross_entropy the logits: take the softmax out of the model.",
        "Look at the last layer of the model. Label smoothing has such a floor, too, and is no mistake.",
    ),
    "labels": Known(
        "The labels do not belong to their samples",
        "",
        "Look at ten samples with their labels as the loss gets them, after the shuffling.",
        "Train on twenty samples: they can be learned by heart, and others are no better than chance.",
        {"data": "moons", "noise": "2", "epochs": "40", "hidden": "64 64"},
    ),
    "rate-low": Known(
        "The learning rate is too low",
        "",
        "Multiply the learning rate by 10, until the curve bends.",
        "With ten times the rate the loss falls about ten times as fast.",
        _SMALL | {"lr": "0.00001"},
    ),
    "batch-noise": Known(
        "Single batches are too noisy for this rate",
        "",
        "Use larger batches, or let the rate fall during the training.",
        "With batches ten times as large the curve is smooth at the same rate.",
        _SMALL | {"batch_size": "1", "lr": "0.03"},
    ),
    "overfitting": Known(
        "The network overfits",
        "",
        "Stop at the lowest validation loss; more samples, weight decay or dropout move that point.",
        "The training loss goes on falling while the validation loss rises.",
        {"data": "moons", "samples": "50", "noise": "0.5", "hidden": "64 64", "epochs": "200", "lr": "0.01"},
    ),
    "underfitting": Known(
        "The network underfits",
        "",
        "Use a larger network, or inputs that say more.",
        "A network twice as wide, or with another hidden layer, gets further.",
        {"data": "circles", "hidden": "", "epochs": "60"},
    ),
    "collapsed": Known(
        "Weight decay has pulled the weights to zero",
        "",
        "Divide the weight decay by 100.",
        "Without it, it is gone.",
    ),
    "clipped": Known("Clipping holds the training back", "", "Clip less.", "Without clipping, the loss falls faster."),
    "noise": Known(
        "The labels are noisy",
        "",
        "Look at the training samples that the network gets wrong.",
        "Some of their labels are plainly wrong.",
    ),
}
# Keys of rules, here and the doctor's, of what is known by another key.
CALLED = {
    "chance": "labels",
    "swinging": "rate-high",
    "blowing-up": "rate-high",
    "ended-grown": "rate-high",
    "at-guessing": "flat",
    "no-motion": "frozen",
    "spikes": "batch-noise",
}
