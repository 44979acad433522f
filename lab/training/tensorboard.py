"""Write a run's records as event files for TensorBoard. Needs the package `tensorboard`, an optional extra."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, cast

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from lab.training.records import Histogram, Record


class EventWriter:
    """Writes records into a new event file in the folder; TensorBoard shows all files of a folder as one run."""

    def __init__(self, folder: Path) -> None:
        self._writer = EventFileWriter(str(folder))

    def write(self, record: Record) -> None:
        """Add an epoch and flush it. A number that is inf or nan, which a record gives as None, is left out."""
        values = []
        for name, value in record.items():
            if isinstance(value, dict) and name not in ("origin", "changed"):
                values += [_summary(f"{name}/{layer}", one) for layer, one in value.items() if one is not None]
            elif isinstance(value, float):
                values.append(_summary(name, value))
        self._writer.add_event(Event(wall_time=time.time(), step=record["epoch"], summary=Summary(value=values)))
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


def _summary(tag: str, value: Any) -> Summary.Value:
    """Make the entry for a number or a histogram."""
    if isinstance(value, dict):
        return Summary.Value(tag=tag, histo=_histogram(cast(Histogram, value)))
    return Summary.Value(tag=tag, simple_value=value)


def _histogram(histogram: Histogram) -> HistogramProto:
    """Convert a histogram; values beyond its edges join the outer bins, since TensorBoard knows only upper edges."""
    edges, counts = histogram["edges"], [histogram["below"], *histogram["counts"]]
    counts[-1] += histogram["above"]
    return HistogramProto(min=edges[0], max=edges[-1], num=sum(counts), bucket_limit=edges, bucket=counts)
