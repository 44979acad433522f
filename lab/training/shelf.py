"""Runs to come back to and to compare: those of the page, and those that the command line left in the runs folder."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from lab.training.config import Config, ConfigError
from lab.training.run_folder import BULKY, Record, Run, RunError, alone_in, is_number, is_record, slim

MOST = 12  # of the page's runs: the oldest makes room
LONGEST_NAME = 60
UNUSABLE = '/ \\ : * ? " < > |'  # in the names of files, on one system or another
FILES = re.compile(  # of a run, with those of TensorBoard, and those that were being written when it was killed
    r"(config\.json|metrics\.jsonl|best_weights\.npy|checkpoint\.npz|summary\.png)(\.tmp)?|events\.out\.tfevents\..*"
)


@dataclass
class Kept:
    """A run on the shelf. Its records lack the histograms, unless it was opened whole; `shared`: it lies in the folder,
    for all visitors."""

    name: str
    config: Config
    records: list[Record]
    shared: bool = False

    def to_jsonl(self) -> str:
        """The records as the command line writes them: one JSON object per line."""
        return "".join(json.dumps(record) + "\n" for record in self.records)


def put(shelf: list[Kept], config: Config, records: Sequence[Record]) -> list[Kept]:
    """The shelf with one run more. A run with the same settings is replaced, unless it went further than this one."""
    twin = next((kept for kept in shelf if kept.config == config), None)
    if not records or (twin and len(twin.records) >= len(records)):
        return shelf
    if twin:
        return [Kept(kept.name, config, slim(records)) if kept is twin else kept for kept in shelf]
    return [*shelf, Kept(unused(default_name(config), shelf), config, slim(records))][-MOST:]


def default_name(config: Config) -> str:
    layers = "-".join(map(str, config.hidden)) or "no hidden layer"
    return f"{config.data} {layers} {config.optimizer} {config.lr:g}"


def unused(name: str, shelf: Sequence[Kept]) -> str:
    """The name, with a number behind it when a run has it already."""
    taken = {kept.name for kept in shelf}
    candidates = (name if number == 1 else f"{name} ({number})" for number in range(1, len(taken) + 2))
    return next(candidate for candidate in candidates if candidate not in taken)


def differences(config: Config, other: Config) -> str:
    """What the first run sets differently: "lr 0.1 instead of 0.01, seed 3 instead of 0"."""
    parts = []
    for field in fields(Config):
        mine, others = (_said(getattr(c, field.name)) for c in (config, other))
        if mine != others:
            parts.append(f"{field.name.replace('_', ' ')} {mine} instead of {others}")
    return ", ".join(parts) or "the same settings"


def _said(value: object) -> str:
    if isinstance(value, tuple):
        return "-".join(map(str, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


# ---------------------------------------------------------------- runs of the command line, in a folder


def hosted() -> bool:
    """Is this a server for visitors who must not change what they share? TENSOR_LAB_HOSTED=1 in the environment says
    so: then the runs in the folder can be read and compared, but neither renamed nor deleted."""
    return os.environ.get("TENSOR_LAB_HOSTED", "").strip().lower() not in ("", "0", "false", "no", "off")


def from_folder(folder: Path) -> tuple[list[Kept], list[str]]:
    """The runs in the sub-folders of `folder` and in its sweeps, by name, and one sentence for each that cannot be
    read."""
    paths, complaints = _runs(folder)
    found = []
    for name, path in paths.items():
        try:
            config, records = _read(path)
            found.append(Kept(name, config, slim(records), shared=True))
        except (RunError, ConfigError) as error:
            complaints.append(f"The run {name!r} is left out: {error}")
    return found, complaints


def open_whole(folder: Path, name: str) -> Kept:
    """The run of this name (see `from_folder`) with its histograms. Raises RunError, ConfigError: one sentence."""
    path = _find(folder, name)
    config, records = _read(path)
    layers = [f"layer{number}" for number in range(1, len(config.hidden) + 2)]
    if not records or not all(_is_whole(record, layers) for record in records):
        raise RunError(f"The run {name!r} cannot be shown whole: its metrics.jsonl lacks what some charts need.")
    return Kept(name, config, records, shared=True)


def rename(folder: Path, name: str, new: str) -> str:
    """Call the run's folder `new`, where it is; returns its name from now on. Raises RunError: one sentence.

    A run that is taken out of its sweep by another name is trained again when the sweep is continued.
    """
    path = _changeable(folder, name)
    if not _may_be_called(new):
        raise RunError(
            f"A run cannot be called {new[:LONGEST_NAME]!r}: use up to {LONGEST_NAME} letters, digits, spaces and "
            f"signs, but none of {UNUSABLE}, and no dot at either end."
        )
    if _alike(new) in {_alike(other.name) for other in path.parent.iterdir() if other != path}:
        raise RunError(f"Another run or file beside it is called {new!r} already, or nearly: choose another name.")
    try:
        with alone_in(path):
            path.rename(path.with_name(new))
    except OSError as error:
        raise RunError(f"The run {name!r} could not be renamed ({error.strerror}).") from None
    return f"{name.rpartition('/')[0]}/{new}"


def delete(folder: Path, name: str) -> None:
    """Delete the folder of the run, if it holds nothing but a run. Raises RunError: one sentence."""
    path = _changeable(folder, name)
    others = [file.name for file in path.iterdir() if file.is_dir() or not FILES.fullmatch(file.name)]
    if others:
        raise RunError(f"The folder of {name!r} holds {others[0]!r} too, which is not of a run: delete it yourself.")
    try:
        with alone_in(path):
            doomed = Path(tempfile.mkdtemp(dir=path.parent, prefix=".", suffix=".tmp"))
            path.rename(doomed / path.name)  # it is no run any more, however far the next line gets
            shutil.rmtree(doomed)
    except OSError as error:
        raise RunError(f"The run {name!r} could not be deleted ({error.strerror}).") from None


def _runs(folder: Path) -> tuple[dict[str, Path], list[str]]:
    """All run folders by name, and a sentence for each that is left out. A link is never followed."""
    paths, complaints = {}, []
    for entry in _subfolders(folder, complaints):
        inside = [entry] if _has_config(entry) else filter(_has_config, _subfolders(entry, complaints))
        for path in inside:
            name = f"{folder.name}/{path.relative_to(folder).as_posix()}"
            if name.isprintable():
                paths[name] = path
            else:
                complaints.append(f"The run {name!r} is left out: its name cannot be shown. Rename its folder.")
    return paths, complaints


def _has_config(path: Path) -> bool:
    return os.path.isfile(path / "config.json")  # unlike Path.is_file, false where we may not look


def _subfolders(folder: Path, complaints: list[str]) -> list[Path]:
    try:
        entries = [path for path in sorted(folder.iterdir()) if os.path.isdir(path) and not path.name.startswith(".")]
    except FileNotFoundError:
        return []
    except OSError as error:
        complaints.append(f"The folder {str(folder)!r} is left out: {error.strerror}.")
        return []
    links = [path for path in entries if path.is_symlink()]
    complaints += (f"The folder {str(path)!r} is left out: it is a link, and may lead anywhere." for path in links)
    return [path for path in entries if path not in links]


def _find(folder: Path, name: str) -> Path:
    """The folder of a run. A name is looked up among those that there are; it is never made a path."""
    paths, _ = _runs(folder)
    if name not in paths:
        raise RunError(f"There is no run called {name[:LONGEST_NAME]!r}: it may have been renamed or deleted.")
    return paths[name]


def _changeable(folder: Path, name: str) -> Path:
    if hosted():
        raise RunError("This server is shared by its visitors: the runs in its folder are for reading only.")
    path = _find(folder, name)
    try:
        _read(path)
    except (RunError, ConfigError) as error:
        raise RunError(f"{name!r} is not a run that could be changed here: {error}") from None
    return path


def _read(path: Path) -> tuple[Config, list[Record]]:
    for file in (path / "config.json", path / "metrics.jsonl"):
        if os.path.lexists(file) and (file.is_symlink() or not os.path.isfile(file)):
            raise RunError(f"its {file.name} is a link or no file at all.")
    run = Run(path)
    config, records = Config.from_json(run.config()), run.records()
    if not all(is_record(record, epoch) for epoch, record in enumerate(records, start=1)):
        raise RunError("its metrics.jsonl lacks what a chart needs.")
    return config, records


def _is_whole(record: Record, layers: Sequence[str]) -> bool:
    """Has the record of an epoch everything else, for each layer?"""
    for name, expected in (
        ("grad_norm", layers),
        ("update_ratio", layers),
        ("dead_units", layers[:-1]),
        ("saturated", layers[:-1]),
    ):
        values = record.get(name)
        if not isinstance(values, dict) or list(values) != list(expected):
            return False
        if not all(value is None or is_number(value) for value in values.values()):
            return False
    return all(
        isinstance(record.get(name), dict)
        and list(record[name]) == list(layers)
        and all(map(_is_histogram, record[name].values()))
        for name in BULKY
    )


def _is_histogram(histogram: Any) -> bool:
    if not isinstance(histogram, dict) or not histogram.keys() >= {"edges", "counts", "below", "above"}:
        return False
    edges, counts = histogram["edges"], histogram["counts"]
    if not isinstance(edges, list) or not isinstance(counts, list) or len(edges) != len(counts) + 1 or not counts:
        return False
    numbers = [*counts, histogram["below"], histogram["above"]]
    if not all(map(is_number, [*edges, *numbers])):
        return False
    return min(numbers) >= 0 and sum(numbers) > 0 and all(low < high for low, high in itertools.pairwise(edges))


def _may_be_called(name: str) -> bool:
    """Is this a name for a folder, on every system?"""
    safe = name.isprintable() and not any(sign in name for sign in UNUSABLE.split())
    return 0 < len(name) <= LONGEST_NAME and safe and name == name.strip(" .")


def _alike(name: str) -> str:
    """The same for names that look alike, or are alike to a file system that ignores case."""
    return unicodedata.normalize("NFKC", name).casefold()
