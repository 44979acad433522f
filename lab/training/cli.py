"""The command line of train.py: its options, made from the settings in config.py, and its other commands.

Without a command a network is trained, or several with --sweep. A user's mistake prints one line, never a traceback.
"""

from __future__ import annotations

import argparse
import difflib
import functools
import json
import shlex
import sys
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from lab.training.config import SETTINGS, Config, ConfigError, as_typed, hint, parse, require, setting_text
from lab.training.datasets import NAMES
from lab.training.doctor import diagnose
from lab.training.memory import keep_freed_memory
from lab.training.run_folder import RunError, RunFolder, lock_run, new_folder, uninterrupted, write_atomic
from lab.training.samples import DataError, TargetError
from lab.training.terminal import TerminalLog, progress_bar
from lab.training.trial import try_in_turn
from train import Trainer, train_in_folder

if TYPE_CHECKING:
    from lab.training.tensorboard import EventWriter  # an optional extra


class _Parser(argparse.ArgumentParser):
    def __init__(self, command: str = "", **about: Any) -> None:
        super().__init__(prog=f"train.py {command}".rstrip(), allow_abbrev=False, **about)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        given, unknown = self.parse_known_args(args, namespace)
        if unknown:
            known = [*COMMANDS, *(flag for action in self._actions for flag in action.option_strings)]
            close = difflib.get_close_matches(unknown[0].partition("=")[0], known, n=1)
            if close:
                raise ConfigError(f"There is no {unknown[0].partition('=')[0]}: did you mean {close[0]}?")
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return given

    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message}; python {self.prog} --help lists the options.")


def _parser() -> argparse.ArgumentParser:
    """Make the parser. Settings have no default here, so that only those given end up in the namespace."""
    parser = _Parser(
        description="Train a network with the engine of model.py. What is wrong with a run, and whether the remedy "
        "helps: train.py doctor RUN --try. To use one: train.py predict RUN FILE.csv.",
        epilog="exit codes: 0 trained, 1 the loss diverged, 2 invalid input, 130 stopped by Ctrl-C",
        argument_default=argparse.SUPPRESS,
    )
    add = parser.add_argument
    default = Config()
    for name, known in SETTINGS.items():
        about = f"{', '.join(NAMES)} or csv:PATH" if name == "data" else known.help
        value = getattr(default, name)
        if value and "default" not in about:
            about += f" (default {as_typed(value) if known.kind == 'widths' else value})"
        flag = f"--{name.replace('_', '-')}"
        if known.kind == "flag":
            add(flag, action="store_true", help=about)
            continue
        nargs = {"widths": "*", "names": "*", "changes": "+"}.get(known.kind)
        add(flag, metavar=known.metavar, help=about, nargs=nargs)
    add(
        "--sweep",
        metavar="NAME=VALUE,VALUE",
        nargs="+",
        default=None,
        help="a run for each combination, on all processors: --sweep lr=0.01,0.1 hidden=64-32,128; "
        "the same command again continues it",
    )
    add(
        "--scheduler",
        metavar="ADDRESS",
        default=None,
        help="hand the sweep to a Dask cluster, such as tcp://host:8786, whose workers were started in this folder",
    )
    add("--out", metavar="DIR", default=None, help="the folder of the run, or of a sweep (default: runs/NAME-NUMBER)")
    add("--resume", action="store_true", default=False, help="continue the run in --out; --epochs may extend it")
    add("--tensorboard", action="store_true", default=False, help="write TensorBoard's event files into the run, too")
    add("--quiet", action="store_true", default=False, help="print the result only")
    add("--json", action="store_true", default=False, help="print one JSON object per epoch and nothing else")
    add("-v", "--verbose", action="store_true", default=False, help="print the gradient norm of each layer, too")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code. A user's mistake prints one line to stderr, never a traceback."""
    keep_freed_memory()
    try:
        argv = sys.argv[1:] if argv is None else list(argv)
        if argv[:1] and argv[0] in COMMANDS:
            return COMMANDS[argv[0]](argv[1:])
        given = _given(argv)
        sweep, scheduler = given.pop("sweep"), given.pop("scheduler")
        require(sweep is not None or scheduler is None, "--scheduler needs a --sweep: a single run trains here.")
        return _run_command(given) if sweep is None else _sweep_command(sweep, scheduler, given)
    except TargetError as error:
        return _fail(f"{error} Options: --target, --task.")
    except (ConfigError, DataError, RunError) as error:
        return _fail(str(error))
    except MemoryError:
        return _fail("There is not enough memory for these data and this network: use less data or a smaller network.")
    except KeyboardInterrupt:
        print("train.py: stopped by Ctrl-C.", file=sys.stderr)
        return 130
    except OSError as error:  # of stdout: the disk is full or the pipe's reader has gone. Files raise RunError
        return _fail(f"The output could not be written ({error.strerror}); what was trained is kept in the run folder.")


def _fail(sentence: str) -> int:
    print(f"train.py: {sentence}", file=sys.stderr)
    return 2


def _given(argv: Sequence[str]) -> dict[str, Any]:
    """Parse options: the settings that are given, and all other options."""
    given = vars(_parser().parse_args(argv))
    for name in SETTINGS.keys() & given.keys():
        if SETTINGS[name].kind != "flag":
            given[name] = parse(name, [given[name]] if isinstance(given[name], str) else given[name])
    return given


def _run_command(given: dict[str, Any]) -> int:
    out, resume = (given.pop(name) for name in ("out", "resume"))
    printed = {
        kind: given.pop(name) for kind, name in (("quiet", "quiet"), ("as_json", "json"), ("verbose", "verbose"))
    }
    open_events = _event_writer() if given.pop("tensorboard") else None
    if resume:
        require(out is not None, "--resume needs --out DIR: the folder of the run to continue.")
        run, trainer = RunFolder(Path(out)), None
    else:
        config = Config(**given)
        trainer = Trainer(config)  # first, so that a mistake in the data leaves no folder behind
        run = RunFolder.create(new_folder(config.data) if out is None else Path(out), config)
    with lock_run(run.path):
        try:
            trainer = trainer or _resume(run, given)
            interrupted = False
            try:
                with TerminalLog(run, trainer, **printed, events=open_events(run.path) if open_events else None) as log:
                    train_in_folder(trainer, run, log)
            except KeyboardInterrupt:
                interrupted = True
            with uninterrupted(ignore=True):
                from lab.training.summary_picture import save_summary  # matplotlib takes half a second

                save_summary(run, trainer)
            if interrupted:
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            complete, epochs = len(run.records()), run.config().epochs
            print(
                f"Stopped by Ctrl-C with {complete} of {epochs} epochs complete. Continue with: {_resume_command(run)}",
                file=sys.stderr,
            )
            return 130
        except RunError as error:
            raise RunError(f"{error} Then continue with: {_resume_command(run)}") from None
    return 1 if trainer.diverged else 0


def _event_writer() -> type[EventWriter]:
    try:
        from lab.training.tensorboard import EventWriter
    except ImportError:
        raise ConfigError("--tensorboard needs the package tensorboard: pip install tensorboard.") from None
    return EventWriter


def _resume(run: RunFolder, given: dict[str, Any]) -> Trainer:
    """Resume a run. Raises ConfigError if a given flag other than epochs, patience and data_dir contradicts it."""
    out = str(run.path)
    begun = run.config()
    for name, value in given.items():
        before = getattr(begun, name)
        require(
            value == before or name in ("epochs", "patience", "data_dir"),
            f"--{name.replace('_', '-')} {as_typed(value)} contradicts the run in {out!r}, which has "
            f"{as_typed(before)}: leave it out, or start a new run in another --out.",
        )
    config = replace(begun, **given)
    require(
        begun.schedule == "constant" or config.epochs == begun.epochs,
        f"--epochs {config.epochs} would change the learning rates of the run in {out!r}, because its {begun.schedule} "
        f"schedule is laid out over {begun.epochs} epochs: leave it out, or start a new run in another --out.",
    )
    trainer = Trainer.resume(run, config)
    if config != begun:
        run.write_config(config)
    return trainer


def _sweep_command(texts: list[str], scheduler: str | None, given: dict[str, Any]) -> int:
    from lab.training import sweep

    out, resume, quiet, as_json, _ = (given.pop(name) for name in ("out", "resume", "quiet", "json", "verbose"))
    require(not given.pop("tensorboard"), "--tensorboard is for a single run: leave it out of a sweep.")
    require(not resume, "--resume is for a single run: the same --sweep with the same --out continues a sweep.")
    axes = _sweep_axes(texts)
    members = sweep.plan(axes, given, Path(out or "."))
    client = None if scheduler is None else sweep.connect(scheduler)
    if out is None:
        made = new_folder(f"sweep-{given.get('data', Config.data)}")
        members = [replace(member, path=made / member.path.name) for member in members]
    folder = members[0].path.parent
    again = f"Continue with the same --sweep and --out {shlex.quote(str(folder))}."
    sweep.make_folders(members)
    try:
        ready = sum(member.finished() for member in members)
        if not (quiet or as_json):
            finished = f", {ready} of them already finished" if ready else ""
            print(f"sweep: {len(members)} runs in {folder}{finished}", flush=True)
        with (
            progress_bar(
                sum(member.config.epochs for member in members), 0, "epoch", show=not (quiet or as_json)
            ) as bar,
            sweep.cluster_workers(client) if client else sweep.local_workers(len(members) - ready) as workers,
        ):
            sweep.train_all(members, workers, on_progress=lambda epochs: bar.update(epochs - bar.n))
    except KeyboardInterrupt:
        with uninterrupted(ignore=True):
            begun = ""
            if client:
                sweep.stop(members)
                begun = " Runs that the cluster has begun stop after their present epoch."
            done = sum(member.finished() for member in members)
            print(f"Stopped by Ctrl-C with {done} of {len(members)} runs finished.{begun} {again}", file=sys.stderr)
        return 130
    except BrokenExecutor:
        raise RunError(f"A worker process was killed, perhaps for lack of memory. {again}") from None
    except (DataError, RunError) as error:
        raise RunError(f"{error} {again}") from None
    table = sweep.rows(members)
    lines = [json.dumps(row) for row in table] if as_json else sweep.as_text(table)
    print("\n".join(lines[:2] if quiet and not as_json else lines), flush=True)
    return 0


def _doctor_command(argv: Sequence[str]) -> int:
    parser = _Parser("doctor", description="Say what is wrong with a run, and test whether the remedy helps.")
    parser.add_argument("run", metavar="RUN", help="the folder of a run")
    parser.add_argument(
        "--try",
        dest="try_it",
        action="store_true",
        help="train with the old and the new settings, from the same start and with several seeds, and compare",
    )
    given = parser.parse_args(argv)
    run = RunFolder(Path(given.run))
    records, config = run.records(), run.config()
    if not records:
        raise RunError(f"The run in {given.run!r} has no complete epoch: train it first.")
    findings = diagnose(records, config)
    print("\n".join(f"{finding.grade}: {finding}" for finding in findings))
    if given.try_it:
        trials = 0
        for trials, trial in enumerate(try_in_turn(findings, config), start=1):  # noqa: B007
            changes = ", ".join(f"{name} {setting_text(value)}" for name, value in trial.finding.settings.items())
            print(f"tried {changes}: {trial}", flush=True)
        if not trials:
            print("Nothing to try: no finding names settings that can be compared on the same validation samples.")
    return 0


def _predict_command(argv: Sequence[str]) -> int:
    from lab.training.predictions import load, predict_table

    parser = _Parser("predict", description="Predict a table's rows with the network that a run has trained, as CSV.")
    parser.add_argument("run", metavar="RUN", help="the folder of a run")
    parser.add_argument("table", metavar="FILE.csv", help="rows with the columns that it was trained on")
    parser.add_argument("--out", metavar="FILE", help="default: the predictions are printed")
    parser.add_argument("--encoding", metavar="NAME", help="of the table (default: as in training)")
    given = parser.parse_args(argv)
    warn = functools.partial(print, "warning:", file=sys.stderr)
    answered = predict_table(load(given.run), given.table, given.encoding, warn)
    if given.out is None:
        print(answered, end="", flush=True)
    else:
        write_atomic(Path(given.out), answered.encode())
    return 0


# Each is the first word of the command line; without one, a network is trained
COMMANDS = {"doctor": _doctor_command, "predict": _predict_command}


def _sweep_axes(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Parse the values of --sweep as the flag of each name would; the widths of `hidden` are joined by dashes."""
    axes: dict[str, list[Any]] = {}
    for text in texts:
        flag, equals, values = text.partition("=")
        name = flag.replace("-", "_")
        require(bool(equals and values), f"--sweep {text} has no values: write for example lr=0.01,0.1.")
        require(name in SETTINGS, f"--sweep cannot vary {flag!r}: {hint(name, sorted(SETTINGS))}")
        require(name not in axes, f"--sweep names {flag} twice: write all its values after one {flag}=.")
        axes[name] = [parse(name, [value]) for value in values.split(",")]
    return axes


def _resume_command(run: RunFolder) -> str:
    return f"python train.py --resume --out {shlex.quote(str(run.path))}"
