"""The watcher on the programs of the corpus that run, and on more of its own."""

import contextlib
import gc
import io
import json
import os
import re
import subprocess
import sys
import weakref
from html import unescape
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from lab.failures.numbers import Number  # noqa: E402
from lab.watch import doctor  # noqa: E402
from lab.watch.__main__ import main, run  # noqa: E402
from lab.watch.run_passes import RunPasses  # noqa: E402
from lab.watch.sites import is_library  # noqa: E402
from lab.watch.watcher import Watcher  # noqa: E402
from tests.corpus import programs  # noqa: E402

ROOT = Path(__file__).parents[3]
RUNNING = [program for program in programs().values() if program.ending != "read"]

pytestmark = pytest.mark.xdist_group("test_watch")  # each program is run once for all tests, where one process has them


def watched(text: str, script: Path, *, record: bool = False) -> tuple[set[tuple[int, int]], BaseException | None]:
    """Run a program as a script; return line and failure of what the watcher found, and what ended the run.

    record   also record the passes, as `--html` does
    """
    script.write_text(text, "utf-8")
    gc.collect()
    gc.freeze()  # as in conftest.py: one test watches many programs
    grad = torch.is_grad_enabled()
    quiet = io.StringIO()
    torch.manual_seed(0)  # some programs set no seed
    with (
        contextlib.redirect_stdout(quiet),
        contextlib.redirect_stderr(quiet),
        Watcher() as watcher,
        RunPasses(watcher) if record else contextlib.nullcontext() as passes,
    ):
        _, error, variables = run(script)
    torch.set_grad_enabled(grad)  # a program may leave it off
    found = watcher.findings(error)  # while the script's variables are there, as at the end of a real run
    variables.clear()
    if passes:
        assert (passes.cards(), passes.failure) == ([], "")
        assert all(passes.pass_number(finding) in {0, *passes.traces} for finding in found)
    return {(finding.line, finding.failure) for finding in found}, error


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", RUNNING, ids=lambda program: program.title)
def test_what_is_marked_is_found_and_nothing_else(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found, error = watched(program.text, tmp_path / "script.py")
    assert program.places(found) == program.places(program.ran)
    assert (error is not None) == (program.ending == "stops"), error


def test_each_failure_is_found_in_some_program():
    assert {failure for program in RUNNING for _, failure in program.ran} == set(Number)


# These failures are judged when the script has ended, where what a function made might be gone.
JUDGED_LATE = {5, 10, 12, 18, 19, 23}
LATE = [program for program in RUNNING if program.ran and {failure for _, failure in program.ran} <= JUDGED_LATE]


@pytest.mark.sample(12)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", LATE, ids=lambda program: program.title)
def test_a_program_inside_a_function_commits_the_same_failures(program, tmp_path):
    lines = [f"    {line}" if line else line for line in program.text.splitlines()]
    found, _ = watched("\n".join(["def main():", *lines, "main()"]), tmp_path / "script.py")
    assert found == {(line + 1, failure) for line, failure in program.ran}


@pytest.mark.filterwarnings("ignore")
def test_a_block_is_watched_and_nothing_stays_behind(capsys):
    before = (torch.nn.Parameter.__new__, torch.optim.Optimizer.__init__, torch.no_grad.__enter__)
    w = torch.ones(3, requires_grad=True)
    with doctor() as found:
        for _ in range(4):
            loss = (w - 2).pow(2).sum()
            loss.backward()
            with torch.no_grad():
                w -= 0.1 * w.grad
    assert [finding.failure for finding in found] == [6]
    assert "zero_grad forgotten" in capsys.readouterr().err
    assert (torch.nn.Parameter.__new__, torch.optim.Optimizer.__init__, torch.no_grad.__enter__) == before
    refs = [weakref.ref(w), weakref.ref(loss)]
    del w, loss
    assert [ref() for ref in refs] == [None, None]


@pytest.mark.filterwarnings("ignore")
def test_a_running_total_holds_as_many_graphs_as_it_says(capsys):
    w, total = torch.ones(3, requires_grad=True), 0
    with doctor() as found:
        for _ in range(6):
            loss = w.square().sum()
            loss.backward()
            w.grad = None
            total = total + loss
    assert ["at least 6 iterations" in finding.evidence for finding in found if finding.failure == 10] == [True]


@pytest.mark.filterwarnings("ignore")
def test_two_sizes_of_floats_are_no_whole_numbers(capsys):
    with pytest.raises(RuntimeError, match="same dtype"), doctor() as found:
        torch.nn.Linear(3, 1)(torch.rand(4, 3).double())
    assert found == []


def losses_of_single_points(seed):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(60, 3, generator=generator)
    y = x @ torch.tensor([1.0, -2.0, 0.5]) + 0.3 * torch.randn(60, generator=generator)
    weight, bias = torch.zeros(3, requires_grad=True), torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([weight, bias], lr=0.05)
    for one, target in zip(x, y, strict=True):
        loss = (one @ weight + bias - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", [1, 5, 12])
def test_a_first_loss_that_is_tiny_by_chance_accuses_no_rate(seed, capsys):
    with doctor() as found:
        losses = list(losses_of_single_points(seed))
    assert losses[0] < 0.1 * losses[1]
    assert found == []


@pytest.mark.filterwarnings("ignore")
def test_units_that_too_long_steps_killed_are_no_second_failure(capsys):
    torch.manual_seed(2)
    net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
    x, y = torch.randn(64, 4), torch.randint(3, (64,))
    with doctor() as found:
        optimizer = torch.optim.SGD(net.parameters(), lr=20.0)
        for _ in range(30):
            loss = torch.nn.functional.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert bool((net[:2](x) == 0).all())
    assert [finding.failure for finding in found] == [17]


SCRIPT = """import sys
import torch
print(sys.argv[1:], torch.rand(1).item() < 2)
float(torch.ones(1, requires_grad=True))
sys.exit(7)
"""


@pytest.fixture(scope="module")
def command_line(tmp_path_factory):
    """A script that the real command line has run, the process that did, and the file that it wrote."""
    folder = tmp_path_factory.mktemp("command_line")
    script, written = folder / "script.py", folder / "out.json"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "lab.watch", "--json", written, script, "--a", "b"]
    return script, subprocess.run(command, cwd=ROOT, capture_output=True, text=True), written


def test_command_line(command_line):
    _, ran, written = command_line
    assert (ran.returncode, ran.stdout) == (7, "['--a', 'b'] True\n")
    assert "no failure found" in ran.stderr
    assert json.loads(written.read_text()) == []


def test_a_run_that_stops_is_not_called_free_of_failures(tmp_path, capsys):
    script = tmp_path / "script.py"
    script.write_text("def f(:\n")
    assert main([str(script)]) == 1
    assert "SyntaxError ended the run; no known failure was found." in capsys.readouterr().err
    assert main([str(tmp_path)]) == 2
    assert "this is a folder" in capsys.readouterr().err


def test_a_warning_of_pytorch_names_the_line_of_the_script(command_line):
    script, ran, _ = command_line
    assert f"{script}:4: UserWarning" in ran.stderr
    assert "watcher.py" not in ran.stderr


def test_the_files_are_written_where_nobody_reads_what_is_printed(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import torch\n")
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "lab.watch", "--json", tmp_path / "out.json", script]
    subprocess.run(command, cwd=ROOT, stderr=writing)
    os.close(writing)
    assert json.loads((tmp_path / "out.json").read_text()) == []


@pytest.mark.parametrize("place", [".", "no/such/folder.json"])
def test_a_file_that_cannot_be_written_is_named_before_the_run(tmp_path, place, capsys):
    script = tmp_path / "script.py"
    script.write_text("print('it ran')\n")
    assert main(["--json", str(tmp_path / place), str(script)]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)


@pytest.fixture
def written_page(tmp_path, watched_script):
    """written_page(program): the page that --html writes of a program that fails, the numbers of its passes, and the
    recorded data of each."""
    target = tmp_path / "page.html"

    def write(program):
        watched_script("--html", target, program)
        page = target.read_text("utf-8")
        data = [unescape(part) for part in re.findall(r"id=&quot;trace&quot;&gt;(\{.*?)&lt;/script", page)]
        return page, re.findall(r'id="pass-(\d+)"', page), [json.loads(part)["trace"] for part in data]

    return write


@pytest.mark.filterwarnings("ignore")
def test_a_page_plays_the_pass_in_which_the_failure_was_noticed(written_page):
    page, numbers, (trace,) = written_page(ROOT / "docs" / "programs" / "nan_at_step_400.py")
    assert numbers == ["400"]
    assert '<a href="#pass-400">' in page
    values = {node["op"]: node["value"] for node in trace["nodes"]}
    assert values["mean"] == "nan"
    assert "-inf" in values["log"]


@pytest.mark.filterwarnings("ignore")
def test_a_page_plays_the_pass_that_stopped(written_page, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(programs()["gate clamped after use"].text, "utf-8")
    page, numbers, (trace,) = written_page(script)
    assert len(numbers) == 1
    assert "modified by an inplace operation" in trace["error"]
    assert "It stopped: one of the variables needed" in page


@pytest.mark.sample(12)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", RUNNING, ids=lambda program: program.title)
def test_recording_the_passes_changes_no_finding(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found, _ = watched(program.text, tmp_path / "script.py", record=True)
    assert program.places(found) == program.places(program.ran)


@pytest.mark.parametrize("folder", ["/home/me/.local/lib/python3.11/site-packages", "/usr/lib/python3/dist-packages"])
def test_pytorch_installed_outside_the_environment_is_no_code_of_the_user(folder):
    assert is_library(f"{folder}/torch/overrides.py")
    assert not is_library("/home/me/packages/train.py")


def test_a_finding_in_a_notebook_names_its_cell():
    pytest.importorskip("ipykernel")
    manager = pytest.importorskip("jupyter_client.manager", reason="pip install -r requirements-dev.txt")
    cell = """import torch
from lab.watch import doctor
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
with doctor():
    for _ in range(3):
        net(torch.ones(4, 2)).sum().backward()
        opt.step()
"""
    printed = []
    kernel, client = manager.start_new_kernel(kernel_name="python3", cwd=str(ROOT))
    try:
        client.execute_interactive(cell, output_hook=lambda told: printed.append(told["content"].get("text", "")))
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)
    assert "Cell In[1]:7: failure 6" in "".join(printed)


def test_a_single_gradient_is_not_said_as_several():
    with doctor() as found:
        x = torch.zeros(3, requires_grad=True)
        x.square().sum().sqrt().backward()
    assert "; 1 gradient became nan" in found[0].evidence


@pytest.mark.filterwarnings("ignore")
def test_what_is_compiled_is_said_to_be_unwatched(capsys):
    net = torch.nn.Linear(2, 1)
    with doctor() as found:
        fast = torch.compile(net, backend="eager")
        loss = fast(torch.ones(3, 2)).square().mean()
        loss.backward()
    assert (found, net.weight.grad is None) == ([], False)
    assert "torch.compile made here ran unwatched" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")
def test_what_a_transform_runs_is_said_to_be_unwatched(tmp_path, monkeypatch, capsys):
    script = tmp_path / "script.py"
    script.write_text(programs()["transforms"].text, "utf-8")
    monkeypatch.setattr(sys, "argv", [])
    monkeypatch.setattr(sys, "path", [""])
    assert main([str(script)]) == 0
    assert f"{script}:17: what torch.func transforms ran unwatched" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")
def test_results_are_the_same_bit_for_bit():
    def train():
        torch.manual_seed(3)
        net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Dropout(), torch.nn.Linear(8, 1))
        optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
        for _ in range(12):
            loss = net(torch.randn(8, 4)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return torch.cat([p.detach().flatten() for p in net.parameters()]), torch.rand(3)

    plain = train()
    with doctor():
        seen = train()
    assert all(torch.equal(a, b) for a, b in zip(plain, seen, strict=True))
