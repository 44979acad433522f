"""How fast is the engine? Ratios against hand-written NumPy, PyTorch eager and micrograd, in one process.

    python benchmarks/engine.py [--rounds 40] [--json benchmarks/results/engine.json]

One thread. The engines take turns within each round, so that a slow moment of the machine hits all of them, and the
median over the rounds is reported. An engine that is not installed is reported as not measured.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is imported: BLAS reads it once

import argparse
import gc
import json
import platform
import statistics
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from model import Tensor, allow_mutation, cross_entropy
from nn import MLP, SGD

NETWORKS = [((784, 128, 10), 32), ((784, 128, 10), 128), ((2, 16, 16, 10), 32)]
LEARNING_RATE = 0.01


# ---------------------------------------------------------------- engines: each makes a function that takes a step


def engine_step(weights, x, labels):
    net = MLP([w.shape[0] for w in weights] + [weights[-1].shape[1]], dtype=np.float32)
    for layer, w in zip(net.layers, weights, strict=True):
        layer.weight.data = w
    optimizer = SGD(net.parameters(), LEARNING_RATE)
    inputs = Tensor(x, requires_grad=False)  # made once, as for the other engines

    def step():
        optimizer.zero_grad()
        loss = cross_entropy(net(inputs), labels)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def engine_unguarded_step(weights, x, labels):
    step = engine_step(weights, x, labels)

    def unguarded():
        with allow_mutation():
            return step()

    return unguarded


def numpy_step(weights, x, labels):
    """Make a step written by hand with care: buffers are reused where natural, and avoidable copies avoided."""
    ws = [w.copy() for w in weights]
    bs = [np.zeros(w.shape[1], np.float32) for w in weights]
    rows = np.arange(len(labels))

    def step():
        activations = [x]
        for w, b in zip(ws[:-1], bs[:-1], strict=True):
            h = activations[-1] @ w
            h += b
            activations.append(np.maximum(h, 0, out=h))
        logits = activations[-1] @ ws[-1]
        logits += bs[-1]
        logits -= logits.max(axis=1, keepdims=True)
        p = np.exp(logits)
        total = p.sum(axis=1, keepdims=True)
        loss = (np.log(total[:, 0]) - logits[rows, labels]).mean()
        p /= total
        p[rows, labels] -= 1
        p /= len(labels)
        upstream = p
        for i in reversed(range(len(ws))):
            h = activations[i]
            dw, db = h.T @ upstream, upstream.sum(axis=0)
            if i:
                upstream = upstream @ ws[i].T
                upstream *= h > 0
            dw *= LEARNING_RATE
            db *= LEARNING_RATE
            ws[i] -= dw
            bs[i] -= db
        return float(loss)

    return step


def torch_step(weights, x, labels):
    import torch

    torch.set_num_threads(1)
    layers = []
    for w in weights:
        layer = torch.nn.Linear(*w.shape)
        with torch.no_grad():
            layer.weight.copy_(torch.tensor(w.T))
            layer.bias.zero_()
        layers += [layer, torch.nn.ReLU()]
    net = torch.nn.Sequential(*layers[:-1])
    optimizer = torch.optim.SGD(net.parameters(), LEARNING_RATE)
    inputs, targets = torch.tensor(x), torch.tensor(labels)

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(inputs), targets)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def scalar_chain(make, length):
    """Make a step of a chain x = x * a + b with `length` scalar operations, forward and backward."""

    def step():
        a, b, x = make(0.99), make(0.01), make(1.0)
        for _ in range(length // 2):
            x = x * a + b
        x.backward()
        return a.grad

    return step


# ---------------------------------------------------------------- measuring


def medians(steps, rounds, repeat):
    """Measure the median microseconds per step of each engine, taking turns."""
    for step in steps.values():
        for _ in range(repeat):
            step()
    times = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            start = time.perf_counter()
            for _ in range(repeat):
                step()
            times[name].append((time.perf_counter() - start) / repeat)
    return {name: 1e6 * statistics.median(values) for name, values in times.items()}


def peers():
    """Import the optional engines; return those found, and for the others why they are missing."""
    found, missing = {}, {}
    for name in ("torch", "micrograd"):
        try:
            found[name] = __import__(f"{name}.engine" if name == "micrograd" else name)
        except ImportError as error:
            missing[name] = f"not measured: {error}"
    return found, missing


def measure_networks(rounds, found):
    results = []
    for sizes, batch in NETWORKS:
        rng = np.random.default_rng(0)
        weights = [rng.normal(0, 0.05, pair).astype(np.float32) for pair in pairwise(sizes)]
        x = rng.random((batch, sizes[0]), dtype=np.float32)
        labels = rng.integers(0, sizes[-1], batch)
        makers = {"engine": engine_step, "engine, no guard": engine_unguarded_step, "numpy": numpy_step}
        makers |= {"torch": torch_step} if "torch" in found else {}
        steps = {name: make(weights, x, labels) for name, make in makers.items()}
        first = {name: step() for name, step in steps.items()}
        if max(first.values()) - min(first.values()) > 1e-4:
            raise SystemExit(f"The engines do not compute the same loss: {first}")
        micros = medians(steps, rounds, repeat=20 if sizes[0] > 100 else 100)
        results.append({"case": f"{'-'.join(map(str, sizes))} batch {batch}", "microseconds": micros})
    return results


def measure_scalars(rounds, found, length=400):
    steps = {"engine": scalar_chain(Tensor, length)}
    if "micrograd" in found:
        from micrograd.engine import Value

        steps["micrograd"] = scalar_chain(Value, length)
    if "torch" in found:
        import torch

        steps["torch"] = scalar_chain(lambda v: torch.tensor(v, requires_grad=True, dtype=torch.float64), length)
    sys.setrecursionlimit(10_000)  # micrograd recurses
    micros = {name: value / length for name, value in medians(steps, rounds, repeat=3).items()}
    return {"case": "scalar node, forward and backward", "microseconds": micros}


def measure_chain(longest):
    """Measure seconds for chains of growing length, to see that they grow linearly."""
    seconds = {}
    for length in (longest // 8, longest // 4, longest // 2, longest):
        start = time.perf_counter()
        scalar_chain(Tensor, length)()
        seconds[length] = time.perf_counter() - start
    return seconds


def measure_memory(steps):
    """Measure resident kilobytes before and after many training steps with the garbage collector off."""

    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024

    if not Path("/proc/self/statm").exists():
        return {"not measured": "needs /proc"}
    rng = np.random.default_rng(0)
    step = engine_step(
        [rng.normal(size=s).astype(np.float32) for s in ((2, 16), (16, 16), (16, 10))],
        rng.random((32, 2), dtype=np.float32),
        rng.integers(0, 10, 32),
    )
    gc.collect()
    gc.disable()
    try:
        for _ in range(100):
            step()
        before = resident()
        for _ in range(steps):
            step()
        after = resident()
    finally:
        gc.enable()
    return {"steps": steps, "before_kB": before, "after_kB": after, "uncollected_objects": gc.collect()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40, help="also scales the chains and the memory test")
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/engine.json"))
    args = parser.parse_args()

    found, missing = peers()
    cases = [*measure_networks(args.rounds, found), measure_scalars(args.rounds, found)]
    chain, memory = measure_chain(25_000 * args.rounds), measure_memory(250 * args.rounds)

    print(f"{'microseconds per step (median)':36} {'engine':>9}   peers, and engine / peer")
    for case in cases:
        micros = case["microseconds"]
        case["ratio"] = {name: micros["engine"] / value for name, value in micros.items() if name != "engine"}
        others = "   ".join(f"{n} {micros[n]:.2f} ({case['ratio'][n]:.2f}x)" for n in case["ratio"])
        print(f"{case['case']:36} {micros['engine']:9.2f}   {others}")
    for name, reason in missing.items():
        print(f"{name}: {reason}")
    print("chain of n operations, forward and backward: " + ", ".join(f"{n:,}: {s:.2f} s" for n, s in chain.items()))
    print(f"memory over training steps, garbage collector off: {memory}")

    args.json.parent.mkdir(parents=True, exist_ok=True)
    machine = {"python": platform.python_version(), "numpy": np.__version__, "machine": platform.machine()}
    report = {"machine": machine, "cases": cases, "missing": missing, "chain_seconds": chain, "memory": memory}
    args.json.write_text(json.dumps(report, indent=2))
    print(f"written to {args.json}")


if __name__ == "__main__":
    main()
