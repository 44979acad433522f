"""Train a finished tensors.py of your own, in the folder my-engine, on MNIST: `python -m lab.practice.mnist my-engine`.

It runs your file as `python tensors.py` would, without the limits of a check.
"""

from __future__ import annotations

import argparse
import runpy
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from lab.training.datasets import load
from lab.training.samples import DataError

SIZES, BATCH, RATE = [784, 64, 10], 64, 0.001


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and print the accuracy after each epoch. Exits with code 2 if a file is missing."""
    parser = argparse.ArgumentParser(prog="python -m lab.practice.mnist", description="Train your engine on MNIST.")
    parser.add_argument("folder", type=Path, help="the folder of your tensors.py, which passes every task")
    parser.add_argument("--data-dir", help="the folder of the MNIST files (default: they are downloaded)")
    parser.add_argument("--epochs", type=int, default=2, help="passes over the images (default: %(default)s)")
    given = parser.parse_args(arguments)
    path = given.folder / "tensors.py"
    if not path.is_file():
        parser.error(f"there is no {path}")
    try:
        data = load("mnist", data_dir=given.data_dir)
    except DataError as error:
        parser.error(str(error))
    engine = SimpleNamespace(**runpy.run_path(str(path)))
    rng = np.random.default_rng(0)
    net = engine.MLP(SIZES, rng)
    optimizer = engine.Adam(net.parameters(), RATE)
    for epoch in range(1, given.epochs + 1):
        order = rng.permutation(len(data.train_x))
        for batch in np.array_split(order, -(-len(order) // BATCH)):
            optimizer.zero_grad()
            loss = engine.cross_entropy(net(engine.Tensor(data.train_x[batch])), data.train_y[batch])
            loss.backward()
            optimizer.step()
        read = net(engine.Tensor(data.val_x)).data.argmax(axis=1) == data.val_y
        print(f"epoch {epoch}: your engine reads {read.mean():.1%} of {len(read):,} images that it has never seen")


if __name__ == "__main__":
    main()
