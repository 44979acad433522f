"""TensorBoard's event files, read back by TensorBoard itself where it is installed."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from lab.training import cli

SMALL = ["--data", "moons", "--hidden", "6", "--epochs", "2", "--batch-size", "200", "--out", "r", "--quiet"]
installed = importlib.util.find_spec("tensorboard") is not None


@pytest.mark.skipif(not installed, reason="TensorBoard is an optional extra")
@pytest.mark.exhaustive
def test_tensorboard_reads_what_the_run_recorded(tmp_path, monkeypatch):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    monkeypatch.chdir(tmp_path)
    assert cli.main([*SMALL, "--tensorboard"]) == 0
    assert cli.main(["--out", "r", "--resume", "--epochs", "3", "--quiet", "--tensorboard"]) == 0
    records = [json.loads(line) for line in Path("r/metrics.jsonl").read_text().splitlines()]
    events = EventAccumulator("r").Reload()
    for name in ("train_loss", "val_accuracy", "lr"):
        points = [(event.step, event.value) for event in events.Scalars(name)]
        assert points == [(record["epoch"], pytest.approx(record[name])) for record in records]
    norms = [event.value for event in events.Scalars("grad_norm/layer2")]
    assert norms == [pytest.approx(record["grad_norm"]["layer2"]) for record in records]
    last = events.Histograms("weight_histogram/layer1")[-1].histogram_value
    assert last.num == sum(last.bucket) == 2 * 6
    assert last.bucket_limit == records[-1]["weight_histogram"]["layer1"]["edges"]


def test_without_tensorboard_it_says_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "tensorboard.compat.proto.event_pb2", None)  # as if it were not installed
    monkeypatch.delitem(sys.modules, "lab.training.tensorboard", raising=False)
    assert cli.main([*SMALL, "--tensorboard"]) == 2
    err = capsys.readouterr().err
    assert "--tensorboard needs the package tensorboard: pip install tensorboard" in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())
