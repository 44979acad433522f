"""What does watching cost? A training step alone, under the doctor, and recorded, one after the other in each round.

    python benchmarks/watch.py [--rounds N]

The doctor is to cost at most 1.3 times a step of 5 ms. A recorded pass has no bar: one is recorded, not a whole run.
The exit code is 1 if a bar is missed. Needs PyTorch.
"""

import argparse
import contextlib
import io
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

try:
    import torch
    from torch import nn
except ImportError:
    print("This benchmark needs PyTorch.")
    sys.exit()

from lab.watch import doctor, watch

BAR = 1.3
STEPS = 40  # of one measurement; those of the first turns, in which more is looked at, are among them
RECORDED = 4
WIDTHS = {"small step": 128, "step of about 5 ms": 768}


class Training:
    """A network with its optimizer and data; the same in each measurement."""

    def __init__(self, width):
        torch.manual_seed(0)
        self.net = nn.Sequential(
            nn.Linear(784, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10)
        )
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.01)
        self.x, self.y = torch.randn(64, 784), torch.randint(10, (64,))

    def seconds(self, steps):
        """Of the processor, for one step: another program on the machine does not count."""
        start = time.process_time()
        for _ in range(steps):
            loss = nn.functional.cross_entropy(self.net(self.x), self.y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return (time.process_time() - start) / steps


def measured(width):
    """Seconds of a step alone, under the doctor, and recorded."""
    alone = Training(width).seconds(STEPS)
    with contextlib.redirect_stderr(io.StringIO()), doctor():
        watched = Training(width).seconds(STEPS)
    with watch():
        recorded = Training(width).seconds(RECORDED)
    return alone, watched, recorded


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    met = True
    for name, width in WIDTHS.items():
        measured(width)
        times = [measured(width) for _ in range(rounds)]
        watched, recorded = (statistics.median(one[i] / one[0] for one in times) for i in (1, 2))
        step = statistics.median(one[0] for one in times)
        judged = width == max(WIDTHS.values())
        met = met and (not judged or watched <= BAR)
        bar = f"bar {BAR}: {'met' if watched <= BAR else 'MISSED'}" if judged else "no bar"
        print(f"{name}, {step * 1e3:.2f} ms: doctor {watched:.2f}x ({bar}), recorded {recorded:.1f}x")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
