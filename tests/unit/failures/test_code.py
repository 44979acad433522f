"""Failures found in code: a corpus of loops and models with what is wrong marked, and texts that are no programs.

A line of the corpus that ends in `#! 6` commits failure 6; `#! 5|19` one of the two. The marks are taken away before a
program is read. The first 150 programs were there before the rules; half of them (by a checksum of the name) was held
out until the rules stood, and gave 32 of 36 marks, 1 false word in the faulty ones and 1 of 41 right ones flagged. Of
two sets written after that, the first gave 8 of 12, the second 17 of 18, before their misses were mended. A third one,
a hundred programs in other styles by somebody who had not seen the rules, gave 23 of 52 marks, 2 false words in the
faulty ones and 1 of 50 right ones flagged. One half of it was then mended for; the other, of which only the numbers and
seven names were looked at until that was done, went from 10 to 18 of 22, with the right failure in another line once,
and 0 of 21 right ones flagged. What was fixed after that is in the numbers that the tests hold.
A fourth set, 53 faulty and 40 right programs written before the rules for it, each one run with PyTorch or the engine:
32 of 53 found with number and line, 3 of 40 right ones flagged (two of them had the fault); then 53 of 53, and none.
A fifth, 20 and 17, at first sight: 15 of 20, none flagged; now all 20.
A sixth, 29 and 12: at first sight 22 of 31 marks (2 more in another line), 1 false word, none of the right ones flagged.
A seventh, 22 and 8: at first sight 16 of 22, no false word, none of the right ones flagged.
Two more sets, 46 faulty and 48 right programs each, written by somebody who had not seen the rules, the line of each
cause named beside it. The first at first sight: 21 of 46 with number and line, the number in another line 10 times, 1
right one flagged; when it was mended for, 36 and 9, none flagged. The second, looked at only then: 24 of 46, the number
in another line 7 times, 1 right one flagged (an ascent on purpose); when it was mended for, 30 and 6, none flagged.
Where only the line differed it was nearly always this reader's habit: failure 2, 3 and 6 at `backward()`, 17 at the
optimizer, where the sets named the value, the loss or the setting that is behind it; there the findings stand now.
Two more sets of 40 faulty and 40 right programs by somebody else. The first at first sight: 25 of 40 with number and
line, the number in another line 6 times, none of the right ones flagged; when it was mended for, 38 and 1, none
flagged. The second, looked at only then, once: 21 of 40, the number in another line 6 times, none flagged. (The reader
as it was before both: 17 and 9.) When that one was mended for, 33 and 3, none flagged.
Two more sets of 40 faulty and 40 right programs. The first at first sight: 30 of 40 with number and line, the number in
another line 3 times, 1 right one flagged (NumPy under no_grad, which PyTorch allows); when it was mended for, 40, none
flagged. The second, looked at only then, once: 26 of 40, the number in another line 6 times, 2 right ones flagged (rates
that are large because their inputs are small). (The reader as it was before both: 26, 5 and 2.) When that one was mended
for, 36 and 2, none flagged.
Two more sets of 34 faulty and 40 right programs, at first sight: 29 and 18 of 34 with number and line, the number in
another line 2 and 3 times, 1 and 0 right ones flagged; when they were mended for, 34 and 31, none flagged.
"""

import ast
import io
import json
import random
import re
import subprocess
import sys
import sysconfig
import zlib
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import pytest

from lab.failures import FAILURES
from lab.failures.__main__ import main
from lab.failures.code import CodeFinding, NotReadable, apply, check_code, program
from lab.failures.code import read as read_to_its_end

ROOT = Path(__file__).parents[3]
CORPUS = Path(__file__).parent / "programs"
FRAGMENTS = Path(__file__).parent / "fragments.txt"  # pieces as they are pasted, each under what is wrong with it
IMPORTS = "import math\nimport numpy as np\nimport pytorch_lightning as pl\nimport torch\nimport torch.nn as nn\n"
IMPORTS += "import torch.nn.functional as F\n"
FILES = sorted(CORPUS.glob("*/*.py"))
NAME = next(failure.name for failure in FAILURES if failure.number == 2)
WRONG = [path for path in FILES if path.parent.name == "wrong"]
RIGHT = [path for path in FILES if path.parent.name == "right"]


def held_out(path: Path) -> bool:
    return zlib.crc32(path.stem.encode()) % 2 == 1


@cache
def read(path: Path) -> tuple[str, dict[int, set[int]]]:
    """A program of the corpus without its marks, and the failures marked, by line."""
    marks, lines = {}, []
    for number, line in enumerate(path.read_text("utf-8").split("\n"), 1):
        if mark := re.search(r"  #! ([\d|]+)$", line):
            marks[number] = {int(failure) for failure in mark[1].split("|")}
            line = line[: mark.start()]
        lines.append(line)
    return "\n".join(lines), marks


@cache
def findings(path: Path) -> tuple[CodeFinding, ...]:
    return tuple(check_code(read(path)[0]))


def test_the_corpus_is_large_and_in_two_halves():
    assert len(WRONG) >= 42
    assert len(RIGHT) >= 42
    marked = {failure for path in WRONG for mark in read(path)[1].values() for failure in mark}
    assert marked == set(range(1, 26))
    for part in (WRONG, RIGHT):
        assert 0.35 < sum(map(held_out, part)) / len(part) < 0.65
    for path in FILES:
        assert 4 <= len(read(path)[0].strip().split("\n")) <= 120, path.stem


@pytest.mark.parametrize("half", [False, True], ids=["developed on", "held out"])
def test_faulty_programs_are_found_and_nothing_else_in_them(half):
    hits, missed, wrong = 0, [], []
    for path in WRONG:
        if held_out(path) is not half:
            continue
        marks, found = read(path)[1], findings(path)
        for line, failures in marks.items():
            hit = any(f.line == line and f.failure in failures for f in found)
            hits += hit
            missed += [] if hit else [(path.stem, line, failures)]
        wrong += [(path.stem, f.line, f.failure) for f in found if f.failure not in marks.get(f.line, set())]
    assert hits / (hits + len(missed)) >= 0.9, missed
    assert hits / (hits + len(wrong)) >= 0.95, wrong


def test_right_programs_get_no_false_word():
    flagged = [(path.stem, f.line, f.failure) for path in RIGHT for f in findings(path)]
    assert flagged == []


def test_pasted_pieces_of_which_little_is_known():
    """Loops whose network, data and loss are only names, and right ones that look much like the faulty."""
    _, *parts = re.split(r"(?m)^=== (.+)\n", FRAGMENTS.read_text("utf-8"))
    wrong = []
    for says, text in zip(parts[::2], parts[1::2], strict=True):
        found = {f.failure for f in check_code(IMPORTS + text)}
        fits = not found if says == "right" else found and found <= {int(failure) for failure in says.split("|")}
        wrong += [] if fits else [(says, found, text)]
    assert wrong == []


def test_the_right_programs_of_this_project_get_no_false_word():
    """References of the practice and right answers in unusual styles: written by others, for another purpose."""
    files = [*ROOT.glob("practice/*/reference.py"), *ROOT.glob("tests/unusual/*/*.py")]
    assert len(files) > 5
    flagged = [(str(path), f.line, f.failure) for path in files for f in check_code(path.read_text("utf-8"))]
    assert flagged == []


def test_at_least_eighteen_failures_can_be_seen():
    assert len({f.failure for path in WRONG for f in findings(path)}) >= 18


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_each_change_mends_its_finding(path):
    """With the change in it the text still parses, the finding is gone, and there is no other instead."""
    text = program(read(path)[0])
    for finding in filter(lambda found: found.change, findings(path)):
        changed = apply(text, finding)
        ast.parse(changed)
        left = check_code(changed)
        same = [f for f in findings(path) if f.failure == finding.failure]
        assert len([f for f in left if f.failure == finding.failure]) < len(same), finding
        assert {f.failure for f in left} <= {f.failure for f in findings(path)}, finding


def test_no_change_leaves_a_line_that_does_nothing():
    changes = [(path.stem, f.change) for path in WRONG for f in findings(path)]
    assert [(name, new) for name, new in changes if re.search(r"(?m)^\s*(\w+) = \1$", new)] == []


# What some programs of the corpus are not given there: their data, and a use of what they define.
GIVEN = {
    "accuracy_as_loss": "loader = [(torch.randn(3, 2), torch.rand(3))] * 2",
    "adversarial_steps_lose_leaf": "",
    "argmax_in_the_loss": "loader = [(torch.randn(3, 4), torch.randint(0, 3, (3,)))] * 2",
    "attention_scores_masked": "",
    "attention_weights_masked_in_place": "",
    "backward_twice_same_loss": "",
    "basis_of_learned_widths_made_once": "",
    "critic_moved_before_actor_pass": "",
    "decorator_on_train_step": "loader = [(torch.randn(3, 4), torch.randint(0, 2, (3,)))] * 2",
    "diffusion_two_backward": "",
    "ema_copy_updated_with_grad_on": "",
    "engine_augmented_update": "",
    "engine_backward_twice": "",
    "engine_detached_prediction": "",
    "engine_item_loss": "",
    "engine_parameters_rebound_in_loop": "",
    "engine_rebinding_in_function": "",
    "engine_rebinds_weight": "",
    "engine_update_under_no_grad": "",
    "engine_vector_backward": "",
    "error_rate_as_loss": "",
    "errors_of_each_time_step": "",
    "evaluate_disables_gradients_forever": "",
    "exp_then_index_write": "",
    "first_filter_zeroed": "",
    "float_targets_for_cross_entropy": "",
    "gan_discriminator_without_detach": "dataloader = [torch.randn(4, 784)] * 2",
    "grad_of_scaled_leaf": "",
    "gradcheck_of_a_default_precision": "",
    "gradcheck_single_precision": "",
    "gradient_of_gradient_missing": "",
    "gru_language_state": "",
    "heads_by_name_two_passes": "",
    "heat_equation_inputs": "",
    "hidden_state_on_self": "data = [(torch.randn(6, 1, 16), torch.randint(0, 5, (6,)))] * 3",
    "hits_of_a_threshold": "",
    "inplace_relu_on_tanh": "",
    "input_optimised_not_leaf": "",
    "int_param": "def use():\n    Count()(torch.ones(3))",
    "integer_inputs_to_linear": "",
    "integer_leaf": "",
    "integer_weights": "",
    "item_for_weight_decay": "loader = [(torch.randn(3, 10), torch.randn(3, 1))] * 2",
    "judge_moves_before_the_player": "",
    "leaf_element_assigned": "",
    "list_of_losses_copied": "",
    "loop_loss_list_backward": "",
    "loss_outside_the_loop": "",
    "lstm_retain_graph_to_silence": "chunks = [(torch.randn(5, 4, 10), torch.randn(5, 4, 1))] * 3",
    "map_of_a_hooked_layer": "",
    "mixture_weights_cached_as_property": "",
    "moving_mean_from_none": "",
    "multitask_shared_trunk": "",
    "no_grad_around_training": "loader = [(torch.randn(3, 3), torch.randn(3, 1))] * 2",
    "notebook_vae_second_backward": "",
    "numpy_metric_as_loss": "loader = [(torch.randn(3, 5), torch.randn(3, 1))] * 2",
    "output_detached_before_loss": "x_train, y_train = torch.randn(4, 5), torch.randn(4, 1)",
    "own_function_gradcheck_float": "",
    "parameters_used_up": "",
    "params_rebuilt_comprehension": "",
    "penalty_computed_before_loop": "",
    "perceptual_loss_of_a_fixed_image": "",
    "phase_of_another_name": "",
    "places_counted_by_a_range": "",
    "prior_kept_by_lru_cache": "",
    "reduction_none_backward": "loader = [(torch.randn(3, 12), torch.randint(0, 4, (3,)))] * 2",
    "relu_sum_index": "",
    "residual_added_onto_relu": "def use():\n    Block(2)(torch.randn(1, 2, 4, 4)).sum().backward()",
    "retain_needed_by_regulariser": "",
    "rnn_buffer_written_in_place": "def use():\n    Recurrent(3)(torch.randn(4, 3)).sum().backward()",
    "rnn_cell_loop_in_class": "",
    "rnn_state_never_detached": "batches = [(torch.randint(0, 100, (32, 7)), torch.randint(0, 100, (32, 7)))] * 3",
    "running_scale_of_two_views": "",
    "saved_square_overwritten": "",
    "scaled_param_nonleaf_optimizer": "loader = [(torch.randn(4, 10), torch.randint(0, 3, (4,)))] * 2",
    "sigmoid_output_changed": "data = [(torch.randn(4, 6), torch.randn(4, 6))] * 2",
    "slope_logged_before_the_pass": "",
    "slope_of_a_whole_column": "",
    "slope_of_what_a_function_returns": "",
    "soft_f1_by_threshold": "",
    "softplus_clamp_inplace": "",
    "squared_error_without_mean": "",
    "step_inside_no_grad_block": "",
    "tensor_without_requires_grad": "",
    "truncated_with_cell": "stream = [(torch.randn(1, 4), torch.randn(1, 1))] * 3",
    "trunk_moved_before_second_pass": "",
    "two_losses_one_graph": "data = [(torch.randn(4, 16), torch.randint(0, 4, (4,)), torch.randn(4, 1))] * 2",
    "update_by_rebinding": "data, target = torch.randn(4, 3), torch.randn(4)",
    "update_outside_no_grad": "",
    "vector_loss": "",
    "weighted_samples_no_mean": "",
    "weights_updated_grad_none": "",
    "wgan_critic_loses_graph": "loader = [torch.randn(4, 2)] * 2",
    "wgan_fake_kept_for_both": "",
    "whole_network_frozen": "",
}
FAILS_IN_SILENCE = {"list_of_losses_copied", "moving_mean_from_none", "numpy_metric_as_loss"}


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.filterwarnings("ignore")
def test_pytorch_refuses_what_is_found_and_takes_what_is_proposed(name):
    """The failures that PyTorch has an error for: the program raises it, and with the changes in it runs."""
    torch = pytest.importorskip("torch")
    text = read(CORPUS / "wrong" / f"{name}.py")[0]

    def run(program: str) -> None:
        names = {"torch": torch, "__name__": "__main__"}
        with torch.enable_grad():  # on leaving, what the program switched off is on again
            exec(GIVEN[name], names)
            exec(re.sub(r"range\(\d{3,}\)", "range(3)", program), names)  # three turns show it
            if "use" in names:
                names["use"]()

    if name not in FAILS_IN_SILENCE:
        with pytest.raises((RuntimeError, TypeError, ValueError, AttributeError)):
            run(text)
    for _ in range(4):
        left = check_code(text)
        if left and not left[0].change:
            return  # no mechanical edit removes it
        if left:
            text = apply(program(text), left[0])
    assert check_code(text) == []
    run(text)


def test_a_finding_says_where_and_why_in_one_sentence():
    for path in WRONG:
        lines = program(read(path)[0]).split("\n")
        for f in findings(path):
            assert f.failure in {failure.number for failure in FAILURES}
            assert f.first <= f.last <= len(lines)
            assert 0 <= f.column < f.end_column <= len(lines[f.line - 1])
            assert "\n" not in f.sentence
            assert f.sentence.endswith(".")
            assert len(f.sentence) < 400


def test_a_notebook_is_read_as_its_code_cells():
    text, marks = read(CORPUS / "wrong" / "notebook_cells.py")
    cells = [{"cell_type": "markdown", "source": ["# A title"]}]
    cells += [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in text.split("# %%\n")[1:]]
    notebook = json.dumps({"cells": cells, "nbformat": 4})
    lines = program(notebook).split("\n")
    found = check_code(notebook)
    assert [f.failure for f in found] == [8, 6]
    assert [lines[f.line - 1].strip() for f in found] == [text.split("\n")[line - 1].strip() for line in marks]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "nothing to read"),
        ("   \n\n", "nothing to read"),
        ("Dear list, my loss does not fall, what can I do?", "breaks off in line 1"),
        ("import torch\nprint 'loss', loss\nx = 1\n", "Line 2 is Python 2"),
        ("try:\n    pass\nexcept ValueError, e:\n    pass\n", "Line 3 is Python 2"),
        ("for x, y in loader:\n    loss = criterion(mod", "breaks off in line 2"),
        ("x = = 2\ny = 3\n", "Line 1 is not Python"),
        ('{"a": [1, 2]}', "not a notebook"),
        ('{"cells": [], "nbformat": 4}', "no code cells"),
        ("x = 1\n" * 200_000, "characters"),
        (b"\x80\x02\xff\x00\x01", "binary"),
        ("x\0y", "binary"),
        ("(" * 5000, "line 1"),
        ("x = " + "-" * 100_000 + "1", "nested too deeply"),
    ],
)
def test_what_cannot_be_read_gets_one_sentence(text, says):
    with pytest.raises(NotReadable, match=re.escape(says)) as caught:
        check_code(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "text",
    [
        "    for x, y in loader:\n        loss = f(net(x), y)\n        loss.backward()\n        opt.step()\n",
        ">>> for x, y in loader:\n...     loss = f(net(x), y)\n...     loss.backward()\n...     opt.step()\n",
        "for x, y in loader:\r\n    loss = f(net(x), y)\r\n    loss.backward()\r\n    opt.step()\r\n",
        "\ufefffor x, y in loader:\n    loss = f(net(x), y)\n    loss.backward()\n    opt.step()",
    ],
    ids=["indented", "console", "carriage returns", "byte order mark"],
)
def test_a_fragment_is_read_as_it_was_pasted(text):
    assert [(f.failure, f.line) for f in check_code(text)] == [(6, 3)]


def test_the_command_line(tmp_path, monkeypatch):
    text, _ = read(CORPUS / "wrong" / "backward_twice_same_loss.py")
    wrong, right = tmp_path / "wrong.py", tmp_path / "right.py"
    wrong.write_text(text)
    right.write_text(read(CORPUS / "right" / "plain_classifier.py")[0])

    def run(*arguments: str) -> tuple[int, str, str]:
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
            code = main(list(arguments))
        return code, out.getvalue(), err.getvalue()

    assert run(str(right)) == (0, "", "")
    (tmp_path / "__init__.py").write_text("")
    assert run(str(tmp_path / "__init__.py")) == (0, "", "")
    code, out, _ = run(str(right), str(wrong))
    assert code == 1
    assert out.startswith(f"{wrong}:8: {NAME}: ")
    assert out.count("\n") == 1
    code, out, _ = run("--json", str(wrong))
    assert code == 1
    assert [(row["line"], row["failure"]) for row in json.loads(out)] == [(8, 2)]
    (tmp_path / "bad.bin").write_bytes(b"\x80\xff")
    code, out, err = run(str(tmp_path / "bad.bin"), str(tmp_path / "absent.py"), str(wrong))
    assert (code, err.count("\n"), out.count("\n")) == (2, 2, 1)
    long = tmp_path / "long.py"
    long.write_text(text + "\nx = 1 + 1" * 6000)
    code, out, err = run(str(long))
    assert (code, out.count("\n")) == (1, 1)  # what stands before is found
    assert err == f"{long}: {read_to_its_end(long.read_text()).left_out}\n"
    assert "reading stopped after 15,000 expressions" in err
    command = [sys.executable, "-m", "lab.failures", "-"]
    ran = subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (ran.returncode, ran.stderr) == (1, "")
    assert ran.stdout.startswith(f"standard input:8: {NAME}: ")


def test_no_text_of_any_kind_ends_in_a_traceback():
    """The standard library's files, pieces of them and bytes: findings or one sentence. (10,000 by hand: no traceback.)"""
    choose = random.Random(5)
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    corpus = [path.read_text("utf-8") for path in choose.sample(FILES, 40)]
    texts: list[str | bytes] = [path.read_bytes() for path in choose.sample(files, 12)]
    for text in [*(t.decode("utf-8", "replace") for t in list(texts)), *corpus]:  # type: ignore[union-attr]
        start = choose.randrange(len(text))
        texts.append(text[start : start + choose.randrange(4000)])
        lines = text.split("\n")
        start = choose.randrange(len(lines))
        texts.append("\n".join(lines[start : start + choose.randrange(60)]))
        mixed = lines[:120]
        choose.shuffle(mixed)
        texts.append("\n".join(line.strip() for line in mixed))
    texts += [choose.randbytes(choose.randrange(200)) for _ in range(50)]
    texts += [bytes(choose.choices(b"()[]{}:=.,\n 'ab1#%!", k=40)) for _ in range(200)]
    for text in texts:
        try:
            check_code(text)
        except NotReadable as reason:
            said = str(reason)
            if "\n" in said or not said:
                pytest.fail(f"{said!r} is no sentence")


@pytest.mark.parametrize("loss", ["+x * 3.0", "nn.functional.mse_loss()"])
def test_a_loss_of_which_no_part_is_known_gets_no_traceback(loss):
    assert check_code(f"import torch\nfrom torch import nn\nx = torch.ones(2)\ny = {loss}\ny.backward()\n") == []
