"""Train a network with the engine: `python train.py`, or `train(Config(...))` from a page or a notebook.

This is the command line. The settings, the training itself and everything else about a run are in lab/training.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import io
import json
import re
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from lab.text import percent_text
from lab.training import data_card
from lab.training.config import (
    DEFAULT_LR,
    LIVE,
    SCHEDULES,
    TASKS,
    Config,
    ConfigError,
    describe,
    epochs_text,
    parse_change,
    parse_widths,
    require,
    setting_text,
    typed,
)
from lab.training.datasets import NAMES, SYNTHETIC_SAMPLES
from lab.training.doctor import Finding, diagnose, remarks
from lab.training.features import FEATURES
from lab.training.live_doctor import Watch
from lab.training.memory import keep_freed_memory
from lab.training.records import Record, is_regression, r_squared, score
from lab.training.run_folder import RunError, RunFolder, in_new_folder, lock_run, write_atomic
from lab.training.samples import DataError
from lab.training.trainer import Trainer, resume_trainer, save_summary, train
from lab.training.trial import try_in_turn
from nn import ACTIVATIONS, INITS

if TYPE_CHECKING:
    from lab.training.tensorboard import EventWriter  # an optional extra

__all__ = ["Config", "Trainer", "main", "train"]

EXIT_CODES = "exit codes: 0 trained, 1 the loss diverged, 2 invalid input, 130 stopped by Ctrl-C"


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
            if "--data" in known and unknown[0].lower().endswith(".csv"):
                raise ConfigError(f"For a table of your own write --data csv:{unknown[0].removeprefix('csv:')}.")
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return given

    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message}; python {self.prog} --help lists the options.")


class _Words(argparse.Action):
    """Parses all words of an option together."""

    def __init__(self, *names: Any, parse: Callable[[list[str]], Any], **more: Any) -> None:
        super().__init__(*names, **more)
        self._parse = parse

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option: str | None = None) -> None:
        setattr(namespace, self.dest, self._parse(values))


def _names(words: list[str]) -> tuple[str, ...]:
    """Parse names: x y x2 as well as x,y,x2 and x-y-x2."""
    return tuple(re.split(r"[\s,-]+", " ".join(words).strip())) if words else ()


def _parser() -> argparse.ArgumentParser:
    """Make the parser. Settings have no default here, so that only those given end up in the namespace."""
    defaults = Config()
    parser = _Parser(
        description="Train a network with the engine of model.py. To compare runs: train.py report RUN RUN ... "
        "What is wrong with one, and whether the remedy helps: train.py doctor RUN --try. "
        "To use one: train.py predict RUN FILE.csv.",
        epilog=EXIT_CODES,
        argument_default=argparse.SUPPRESS,
    )
    add = parser.add_argument
    rates = ", ".join(f"{rate} for {name}" for name, rate in DEFAULT_LR.items())
    settings = {  # field of Config -> what --help calls its value and says about it
        "data": ("NAME", f"{', '.join(NAMES)} or csv:PATH (default {defaults.data})"),
        "data_dir": ("DIR", "the folder of the MNIST files (default: they are downloaded)"),
        "target": ("COLUMN", "the target column of a CSV: its name, or its number from 1 (default: the last)"),
        "task": ("NAME", f"for a CSV: {' or '.join(TASKS)} (default: regression if its target is a measured number)"),
        "drop": ("COLUMN", "columns of a CSV to leave out"),
        "keep": ("COLUMN", "columns of a CSV to use where they would be left out"),
        "noise": ("DEVIATION", "of the noise in generated points (default: depends on --data)"),
        "samples": ("N", f"generated points (default {SYNTHETIC_SAMPLES})"),
        "hidden": ("WIDTH", f"widths of the hidden layers (default {' '.join(map(str, defaults.hidden))})"),
        "features": (
            "NAME",
            f"features made from the two inputs: {', '.join(FEATURES)} (default: the inputs as they are)",
        ),
        "skip": ("ANSWER", "yes: a hidden layer adds its input to its output if both have the same width"),
        "activation": ("NAME", f"{', '.join(ACTIVATIONS)} (default {defaults.activation})"),
        "init": ("NAME", f"{', '.join(INITS)} (default {defaults.init})"),
        "optimizer": ("NAME", f"{', '.join(DEFAULT_LR)} (default {defaults.optimizer})"),
        "lr": ("RATE", f"learning rate (default {rates})"),
        "schedule": ("NAME", f"rate over time: {', '.join(SCHEDULES)} (default {defaults.schedule})"),
        "warmup": ("EPOCHS", "epochs during which the learning rate grows from 0 (default 0)"),
        "momentum": ("SHARE", f"momentum of sgd (default {defaults.momentum:g})"),
        "weight_decay": (
            "SHARE",
            "share of each weight that is added to its gradient, which pulls it to 0 (default 0)",
        ),
        "l1": (
            "FACTOR",
            "factor of the L1 penalty: adds the weights' absolute values to the loss, pulling them to 0 (default 0)",
        ),
        "clip": ("NORM", "largest norm of all gradients together (default: no limit)"),
        "batch_size": ("N", f"samples in a batch (default {defaults.batch_size})"),
        "epochs": ("N", f"passes over the training samples (default {defaults.epochs})"),
        "patience": ("N", "stop after N epochs without a better one (default: train all epochs)"),
        "changes": (
            "EPOCH:NAME=VALUE",
            f"new value of one of {', '.join(LIVE)} after EPOCH epochs: --changes 5:lr=0.001 8:batch-size=8",
        ),
        "seed": ("N", f"seed of everything that is random (default {defaults.seed})"),
        "val_fraction": (
            "SHARE",
            f"share of the samples held out for validation (default {defaults.val_fraction}; 0: none)",
        ),
    }
    types = {one.name: float if "float" in one.type else int if "int" in one.type else str for one in fields(Config)}
    words: dict[str, Any] = {
        "drop": {"nargs": "*", "parse": tuple},
        "keep": {"nargs": "*", "parse": tuple},
        "hidden": {"nargs": "*", "parse": lambda words: parse_widths(" ".join(words))},  # also 64,32 and 64-32
        "features": {"nargs": "*", "parse": _names},
        "changes": {"nargs": "+", "parse": lambda words: tuple(map(parse_change, words))},
    }
    for name, (metavar, text) in settings.items():
        how: dict[str, Any] = {"action": _Words, **words[name]} if name in words else {"type": types[name]}
        add(f"--{name.replace('_', '-')}", metavar=metavar, help=text, **how)
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
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code. A user's mistake prints one line to stderr, never a traceback."""
    keep_freed_memory()
    try:
        argv = sys.argv[1:] if argv is None else list(argv)
        if argv[:1] and argv[0] in COMMANDS:
            return COMMANDS[argv[0]](argv[1:])
        given = vars(_parser().parse_args(argv))
        sweep, scheduler = given.pop("sweep"), given.pop("scheduler")
        require(sweep is not None or scheduler is None, "--scheduler needs a --sweep: a single run trains here.")
        return _run_command(given) if sweep is None else _sweep_command(sweep, scheduler, given)
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


def _run_command(given: dict[str, Any]) -> int:
    out, resume, quiet, as_json = (given.pop(name) for name in ("out", "resume", "quiet", "json"))
    open_events = _event_writer() if given.pop("tensorboard") else None
    if resume:
        require(out is not None, "--resume needs --out DIR: the folder of the run to continue.")
        run, trainer = RunFolder(Path(out)), None
    else:
        config = Config(**given)
        trainer = Trainer(config)  # first, so that a mistake in the data leaves no folder behind
        if out is None:
            run = in_new_folder(config.data, lambda path: RunFolder.create(path, config))
        else:
            run = RunFolder.create(Path(out), config)
    with lock_run(run.path):
        try:
            return _train_run(run, trainer or _resume(run, given), open_events, quiet, as_json)
        except KeyboardInterrupt:
            complete, epochs = len(run.records()), run.config().epochs
            print(
                f"Stopped by Ctrl-C with {complete} of {epochs} epochs complete. Continue with: {_resume_command(run)}",
                file=sys.stderr,
            )
            return 130


def _train_run(
    run: RunFolder, trainer: Trainer, open_events: type[EventWriter] | None, quiet: bool, as_json: bool
) -> int:
    log = None if quiet else sys.stderr if as_json else sys.stdout
    if log:
        print("\n".join(_introduction(trainer, run)), file=log, flush=True)
    interrupted = False
    doctor = Watch(run.records(), trainer.config)
    events = open_events(run.path) if open_events else None
    total, begun = (epochs * trainer.steps_per_epoch for epochs in (trainer.config.epochs, trainer.epoch))
    with _bar(total, begun, "batch", show=not (quiet or as_json)) as bar:
        try:
            for record in train(trainer.config, trainer, on_batch=bar.update):
                with _ctrl_c_delayed():
                    run.save(record, trainer.state() | trainer.dataset.preparation)
                    if events:
                        events.write(record)
                    news = doctor.look(record)
                    with bar.external_write_mode():
                        if as_json:
                            print(json.dumps(record), flush=True)
                        elif not quiet:
                            print(_line(record, trainer.config), flush=True)
                        if not quiet:
                            _warn(news)
        except KeyboardInterrupt:
            interrupted = True
        except RunError as error:
            raise RunError(f"{error} Then continue with: {_resume_command(run)}") from None
    with _ctrl_c_delayed(ignore=True):
        save_summary(run, trainer)
        if events:
            events.close()
    if not quiet:
        _warn(doctor.untold())
    if interrupted:
        raise KeyboardInterrupt
    if not (as_json or quiet):
        print(f"histogram of the best weights: {_histogram_command(run)}")
    if not (as_json and quiet):
        print(_conclusion(trainer, run), file=sys.stderr if as_json else sys.stdout, flush=True)
    return 1 if trainer.diverged else 0


def _warn(findings: Sequence[Finding]) -> None:
    for finding in findings:
        print(f"warning: {finding}", file=sys.stderr, flush=True)


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
            f"--{name.replace('_', '-')} {typed(value)} contradicts the run in {out!r}, which has {typed(before)}: "
            f"leave it out, or start a new run in another --out.",
        )
    config = replace(begun, **given)
    require(
        begun.schedule == "constant" or config.epochs == begun.epochs,
        f"--epochs {config.epochs} would change the learning rates of the run in {out!r}, because its {begun.schedule} "
        f"schedule is laid out over {begun.epochs} epochs: leave it out, or start a new run in another --out.",
    )
    trainer = resume_trainer(run, config)
    if config != begun:
        run.write_config(config)
    return trainer


def _sweep_command(texts: list[str], scheduler: str | None, given: dict[str, Any]) -> int:
    from lab.training import sweep

    out, resume, quiet, as_json = (given.pop(name) for name in ("out", "resume", "quiet", "json"))
    require(not given.pop("tensorboard"), "--tensorboard is for a single run: leave it out of a sweep.")
    require(not resume, "--resume is for a single run: the same --sweep with the same --out continues a sweep.")
    axes = _sweep_axes(texts)
    members = sweep.plan(axes, given, Path(out or "."))
    client = None if scheduler is None else sweep.connect(scheduler)
    if out is None:
        name = f"sweep-{given.get('data', Config.data)}"
        members = in_new_folder(name, lambda path: sweep.in_folder(members, path))
    folder = members[0].path.parent
    again = f"Continue with the same --sweep and --out {shlex.quote(str(folder))}."
    sweep.make_folders(members)
    try:
        ready = sum(member.finished() for member in members)
        if not (quiet or as_json):
            finished = f", {ready} of them already finished" if ready else ""
            print(f"sweep: {len(members)} runs in {folder}{finished}", flush=True)
        with (
            _bar(sum(member.config.epochs for member in members), 0, "epoch", show=not (quiet or as_json)) as bar,
            sweep.cluster_workers(client) if client else sweep.local_workers(len(members) - ready) as workers,
        ):
            sweep.train_all(members, workers, on_progress=lambda epochs: bar.update(epochs - bar.n))
    except KeyboardInterrupt:
        with _ctrl_c_delayed(ignore=True):
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


def _report_command(argv: Sequence[str]) -> int:
    about = "Draw summary.png in each run, and compare the runs in one HTML file that needs no network."
    parser = _Parser("report", description=about)
    parser.add_argument("runs", metavar="RUN", nargs="+", help="the folder of a run, or of a sweep")
    parser.add_argument("--out", metavar="FILE", default="report.html", help="default: %(default)s")
    given = parser.parse_args(argv)
    from lab.training import report

    entries = report.read(dict.fromkeys(map(Path, given.runs)))
    page = report.as_html(entries)
    for entry in entries:
        entry.run.write_summary(entry.picture)
    write_atomic(Path(given.out), page.encode(errors="replace"))  # a folder's name may not be valid text
    print(f"report of {len(entries)} runs in {given.out}" if len(entries) > 1 else f"report in {given.out}", flush=True)
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
    print("\n".join(f"{'seen' if finding.well else finding.grade}: {finding}" for finding in findings))
    print("".join(f"seen: {remark.name}: {' '.join(remark.evidence)}\n" for remark in remarks(records, config)), end="")
    if given.try_it:
        trials = 0
        for trials, trial in enumerate(try_in_turn(findings, config), start=1):  # noqa: B007
            changes = ", ".join(f"{name} {setting_text(value)}" for name, value in trial.finding.settings.items())
            print(f"tried {changes}: {trial}. {trial.conclusion}".rstrip(), flush=True)
        if not trials:
            print("Nothing to try: no finding names settings that can be compared on the same validation samples.")
    return 0


def _predict_command(argv: Sequence[str]) -> int:
    from lab.training.trained import load, predict_table

    about = "Predict the rows of a table with the network that a run has trained, as CSV."
    parser = _Parser("predict", description=about)
    parser.add_argument("run", metavar="RUN", help="the folder of a run")
    parser.add_argument("table", metavar="FILE.csv", help="rows with the columns that it was trained on")
    parser.add_argument("--out", metavar="FILE", help="default: the predictions are printed")
    given = parser.parse_args(argv)
    answered = predict_table(load(given.run), given.table, lambda text: print(f"warning: {text}", file=sys.stderr))
    if given.out is None:
        print(answered, end="", flush=True)
    else:
        write_atomic(Path(given.out), answered.encode())
    return 0


# Each is the first word of the command line; without one, a network is trained
COMMANDS = {"report": _report_command, "doctor": _doctor_command, "predict": _predict_command}


def _sweep_axes(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Parse the values of --sweep as the flag of each name would; the widths of `hidden` are joined by dashes."""
    settings = {field.name for field in fields(Config)}
    axes: dict[str, list[Any]] = {}
    for text in texts:
        flag, equals, values = text.partition("=")
        name = flag.replace("-", "_")
        require(bool(equals and values), f"--sweep {text} has no values: write for example lr=0.01,0.1.")
        close = difflib.get_close_matches(name, sorted(settings), n=1)
        hint = f"did you mean {close[0]}?" if close else f"choose one of {', '.join(sorted(settings))}."
        require(name in settings, f"--sweep cannot vary {flag!r}: {hint}")
        require(name not in axes, f"--sweep names {flag} twice: write all its values after one {flag}=.")
        axes[name] = []
        for value in values.split(","):
            parsed = _parser().parse_args([f"--{name.replace('_', '-')}={value}"])
            axes[name].append(getattr(parsed, name))
    return axes


def _resume_command(run: RunFolder) -> str:
    return f"python train.py --resume --out {shlex.quote(str(run.path))}"


def _histogram_command(run: RunFolder) -> str:
    weights = json.dumps(str(run.path / "best_weights.npy"))
    code = f'import numpy, matplotlib.pyplot as p; p.hist(numpy.load({weights}), 50); p.savefig("weights.png")'
    return f"python -c {shlex.quote(code)}"


@contextlib.contextmanager
def _ctrl_c_delayed(ignore: bool = False) -> Iterator[None]:
    """Delay Ctrl-C until the end of the block, while files are written; `ignore`: discard it.

    A process that ignores Ctrl-C, such as one that a shell script starts in the background, goes on ignoring it.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield
        return
    pressed = []
    previous = signal.signal(signal.SIGINT, lambda *_: pressed.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
    if pressed and not ignore:
        raise KeyboardInterrupt


def _bar(total: int, initial: int, unit: str, show: bool) -> Any:
    from tqdm import tqdm

    disable = None if show else True  # None: disabled unless stderr is a terminal
    return tqdm(total=total, initial=initial, unit=unit, leave=False, file=sys.stderr, disable=disable)


def _introduction(trainer: Trainer, run: RunFolder) -> list[str]:
    config = trainer.config
    continued = f", continued after epoch {trainer.epoch}" if trainer.epoch else ""
    change = ["to change what was decided: --target, --task, --drop, --keep"] if trainer.dataset.choices else []
    return [
        *trainer.dataset.notes,
        *change,
        *data_card.sentences(data_card.card(trainer.dataset)),
        f"network: {describe(trainer.sizes, trainer.config)}, {config.init} init, batches of {config.batch_size}, "
        f"{trainer.weights().size:,} weights in float32, seed {config.seed}",
        f"run: {run.path}{continued}",
    ]


def _line(record: Record, config: Config) -> str:
    regression = is_regression(record)
    train, val = (score(record, part) for part in ("train", "val"))
    loss, name = _rounded(record["train_loss"], "{:#.4g}"), "R²" if regression else "acc"
    scored = f"{train:.3f}" if regression else percent_text(train, 1)
    measured = f"train {loss}  {name} {scored}"
    if config.val_fraction:
        val_scored = f"{val:.3f}" if regression else percent_text(val, 1)
        val_loss = _rounded(record["val_loss"], "{:#.4g}")
        measured = f"train {loss}  val {val_loss}  {name} {val_scored} (train {scored})"
    norms = " ".join(_rounded(norm, "{:.2g}") for norm in record["grad_norm"].values())
    return (
        f"epoch {record['epoch']:>{len(str(config.epochs))}}/{config.epochs}  {measured}"
        f"  gradient norms {norms}  {record['seconds']:.2f} s"
    )


def _rounded(value: float | None, form: str) -> str:
    return "nan" if value is None else form.format(value)


def _conclusion(trainer: Trainer, run: RunFolder) -> str:
    if trainer.dataset.classes:
        scored = f"accuracy {percent_text(trainer.best_accuracy, 2)}"
    else:
        scored = f"R² {r_squared(trainer.best_loss, trainer.origin['baseline_val_loss']):.4f}"
    part = "validation " if trainer.config.val_fraction else ""
    best = f"best {part}{scored} in epoch {trainer.best_epoch} of {trainer.epoch}; run in {run.path}"
    if trainer.stopped_early:
        return f"Stopped early, after {epochs_text(trainer.epoch - trainer.best_epoch)} without a better one; {best}"
    if not trainer.diverged:
        return best
    remedy = "a smaller --lr" if trainer.config.clip else "a smaller --lr, or --clip 1"
    return (
        f"The training diverged in epoch {trainer.epoch}: the loss is no longer a number. "
        f"Start again with {remedy} (--lr was {trainer.config.lr:g}). {best[0].upper()}{best[1:]}"
    )


if __name__ == "__main__":
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="surrogateescape")  # a folder's name may not be valid text
    sys.exit(main())
