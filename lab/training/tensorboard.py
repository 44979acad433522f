"""Write a run's records as event files for TensorBoard. Needs the package `tensorboard`, an optional extra."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from lab.training.records import (
    Histogram,
    Histograms,
    Measure,
    PerLayer,
    Record,
    Score,
    Share,
    SharePerHiddenLayer,
    fields_of,
)

SCALARS = fields_of(Measure, Share, Score, float)
PER_LAYER = fields_of(PerLayer, SharePerHiddenLayer)
HISTOGRAMS = fields_of(Histograms)


class EventWriter:
    """Writes records into a new event file in the folder; TensorBoard shows all files of a folder as one run."""

    def __init__(self, folder: Path) -> None:
        self._writer = EventFileWriter(str(folder))

    def write(self, record: Record) -> None:
        """Add an epoch and flush it. A number that is inf or nan, which a record gives as None, is left out."""
        known: dict[str, Any] = {**record}
        scalars = {name: known[name] for name in SCALARS}
        scalars |= {f"{name}/{layer}": value for name in PER_LAYER for layer, value in known[name].items()}
        values = [Summary.Value(tag=tag, simple_value=value) for tag, value in scalars.items() if value is not None]
        for name in HISTOGRAMS:
            values += [
                Summary.Value(tag=f"{name}/{layer}", histo=_histogram(histogram))
                for layer, histogram in known[name].items()
            ]
        self._writer.add_event(Event(wall_time=time.time(), step=record["epoch"], summary=Summary(value=values)))
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


def _histogram(histogram: Histogram) -> HistogramProto:
    """Convert a histogram; values beyond its edges join the outer bins, since TensorBoard knows only upper edges."""
    edges, counts = histogram["edges"], [histogram["below"], *histogram["counts"]]
    counts[-1] += histogram["above"]
    return HistogramProto(min=edges[0], max=edges[-1], num=sum(counts), bucket_limit=edges, bucket=counts)
