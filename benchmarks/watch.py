"""How much does watching slow down a training step? Times it alone, under the doctor, and recorded, in turns.

    python benchmarks/watch.py [--rounds N]

Under the doctor a step of 5 ms may take at most 1.3 times as long. Recording has no limit, since one pass is recorded
and not a whole run. The exit code is 1 if the limit is missed. Needs PyTorch.
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

MAX_RATIO = 1.3
STEPS = 40  # of one measurement, including the first ones, in which the doctor checks more
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
        """Return the processor time of one step, which other programs on the machine do not change."""
        start = time.process_time()
        for _ in range(steps):
            loss = nn.functional.cross_entropy(self.net(self.x), self.y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return (time.process_time() - start) / steps


def measure(width):
    """Measure the seconds of a step alone, under the doctor, and recorded."""
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
        measure(width)
        times = [measure(width) for _ in range(rounds)]
        watched, recorded = (statistics.median(one[i] / one[0] for one in times) for i in (1, 2))
        step = statistics.median(one[0] for one in times)
        judged = width == max(WIDTHS.values())
        met = met and (not judged or watched <= MAX_RATIO)
        limit = f"limit {MAX_RATIO}: {'met' if watched <= MAX_RATIO else 'MISSED'}" if judged else "no limit"
        print(f"{name}, {step * 1e3:.2f} ms: doctor {watched:.2f}x ({limit}), recorded {recorded:.1f}x")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
