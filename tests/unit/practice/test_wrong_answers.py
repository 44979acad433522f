"""Wrong answers that stand in no catalogue: none is accepted, and each is named as its row says, or has no name."""

import ast
import itertools
import re
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from lab.practice import driver
from lab.practice.checker import check
from lab.practice.render_report import render_report
from lab.practice.runner import LocalRunner
from lab.practice.wrong_variants import variants
from practice import COURSES
from tests.answers import edited
from tests.told_answers import TOLD
from tests.wrong_answers import WRONG


def judged(course, key, edits):
    """The report of the task alone, with the edits in the reference."""
    return judged_text(course, key, edited(COURSES[course], edits))


def judged_text(course, key, text, before=lambda checks: ()):
    """The report of the task alone: what comes before it is as it should be. before: which earlier checks still run."""
    course = COURSES[course]
    *earlier, task = course.up_to(key)
    earlier = [replace(each, checks=tuple(before(quick(each).checks))) for each in earlier]
    return check(replace(course, tasks=(*earlier, quick(task))), key, text, LocalRunner(), 5)


def quick(task):
    """The task without checks that take long."""
    return replace(task, checks=tuple(one for one in task.checks if not one.slow and "5000" not in one.program))


def styles():
    """Read wrong_styles.txt: wrong answers in a learner's own style, with other names, loops and helpers.

    A line `### course task name: words` says for which function or class of the reference the lines below it stand,
    and that one of the words stands in the sentence that names the mistake; `### and name` begins another part of the
    same answer. Within a course, no two are named by the same sentence, apart from the code in it.
    """
    text = (Path(__file__).resolve().parents[2] / "wrong_styles.txt").read_text()
    for first, *more in (answer.split("\n### and ") for answer in re.split(r"^### (?!and )", text, flags=re.M)[1:]):
        head, code = first.split("\n", 1)
        course, task, name, said = re.fullmatch(r"(\S+) (\S+) (\S+): (.+)", head).groups()
        words = {"(anything)": None, "(nothing)": ()}.get(said, tuple(said.split(" | ")))
        yield course, task, words, {name: code, **dict(part.split("\n", 1) for part in more)}


def in_order_of_tasks(wrong):
    """What was compiled for one answer serves the next."""
    return sorted(wrong, key=lambda one: one[:2])


def assert_refused_and_named(course, key, text, words):
    report = judged_text(course, key, text)
    assert not report
    mistake = report.failure.mistake
    if words is None:
        return
    assert bool(mistake) is bool(words)
    assert not words or any(word in mistake.sentence for word in words), mistake.sentence


def test_four_in_five_of_these_answers_are_named():
    """As the rows say: that each row is true, the tests below find out."""
    named = [words != () for *_, words in WRONG] + [words != () for _, _, words, _ in styles()] + [True] * len(TOLD)
    assert sum(named) > 0.8 * len(named) > 250


@pytest.mark.sample(8)
@pytest.mark.parametrize(("course", "key", "edits", "words"), in_order_of_tasks(WRONG), ids=range(len(WRONG)))
def test_a_wrong_answer_is_refused_and_named(course, key, edits, words):
    assert_refused_and_named(course, key, edited(COURSES[course], edits), words)


@pytest.mark.sample(4)
@pytest.mark.parametrize(("course", "key", "edits", "words"), sorted(TOLD), ids=range(len(TOLD)))
def test_a_wrong_answer_is_told_in_words_that_fit(course, key, edits, words):
    report = judged_text(
        course, key, edited(COURSES[course], edits), before=lambda checks: [replace(one, cases=1) for one in checks]
    )
    assert not report
    sentence = render_report(COURSES[course], key, report, "")["sentence"]
    assert any(word in sentence for word in words), sentence


def put(text, name, replacement):
    """A text with another function or class in place of the one of that name."""
    outer, _, inner = name.partition(".")
    node = next(each for each in ast.parse(text).body if getattr(each, "name", "") == outer)
    if inner:
        node = next(each for each in node.body if getattr(each, "name", "") == inner)
    lines = text.splitlines(keepends=True)
    start = min([node.lineno, *(each.lineno for each in node.decorator_list)]) - 1
    lines[start : node.end_lineno] = [textwrap.indent(replacement.rstrip("\n") + "\n", " " * node.col_offset)]
    return "".join(lines)


def styled(course, replacements):
    """The reference with other functions or classes in place of some."""
    text = COURSES[course].reference
    for name, replacement in replacements.items():
        text = put(text, name, replacement)
    return text


@pytest.mark.sample(6)
@pytest.mark.parametrize(("course", "key", "words", "parts"), in_order_of_tasks(styles()))
def test_a_wrong_answer_in_another_style_is_refused_and_named(course, key, words, parts):
    assert_refused_and_named(course, key, styled(course, parts), words)


@pytest.mark.sample(3)
@pytest.mark.parametrize("which", range(1, 32))
def test_an_overwritten_message_is_named_for_each_rule_and_operand(which):
    """Every choice of the five messages of the scalar rules: the sentence says which rules, and no others."""
    lines = {
        ("`+`", "first"): ("self.grad += out.grad", "self.grad = out.grad"),
        ("`+`", "second"): ("other.grad += out.grad", "other.grad = out.grad"),
        ("`*`", "first"): ("self.grad += other.data * out.grad", "self.grad = other.data * out.grad"),
        ("`*`", "second"): ("other.grad += self.data * out.grad", "other.grad = self.data * out.grad"),
        ("`**`", "first"): ("self.grad += n *", "self.grad = n *"),
    }
    chosen = [place for n, place in enumerate(lines) if which >> n & 1]
    sentence = judged("scalars", "repeated", [lines[place] for place in chosen]).failure.mistake.sentence
    if len(chosen) == len(lines):
        assert "every rule" in sentence
    else:
        for rule in ("`+`", "`*`", "`**`"):
            assert (rule in sentence.replace("`a + a`", "")) == any(rule == name for name, _ in chosen), sentence


@pytest.mark.parametrize("key", ["add", "arithmetic"])
def test_overwriting_waits_for_the_task_about_it(key):
    """The task "One value, used twice" is where a learner finds out why it is `+=`."""
    text = COURSES["scalars"].reference.replace("self.grad +=", "self.grad =").replace("other.grad +=", "other.grad =")
    assert judged_text("scalars", key, text)


def test_no_check_claims_what_waits_for_a_later_task():
    """A check that is named by an expression alone claims its gradient, so it compares it with the right one."""
    named = {f"{task.key}: {one.name}": one for task in COURSES["scalars"].tasks for one in task.checks}
    assert [name for name, one in named.items() if one.judge and f"= {name.split(': ')[1]}\n" in one.program] == []
    number = [task.key for task in COURSES["scalars"].tasks].index("repeated") + 1
    add = next(task for task in COURSES["scalars"].tasks if task.key == "add")
    assert f"task {number}." in add.text
    assert any(f"Task {number} shows" in hint for hint in add.hints)


def test_the_one_operand_is_said():
    add = judged("scalars", "repeated", [("other.grad += out.grad", "other.grad = out.grad")]).failure.mistake
    assert "`+` (for the second operand)" in add.sentence


@pytest.mark.sample(1)
@pytest.mark.parametrize("course", sorted(COURSES.keys() & {course for course, *_ in WRONG}))
def test_each_variant_is_a_file_that_python_reads(course):
    course = COURSES[course]
    for task in course.tasks:
        for variant in itertools.islice(variants(course, task), 0, None, 17):  # all of them would take a minute
            text = course.with_mistake(variant)
            assert text != course.reference
            compile(text, course.file, "exec")


def test_the_variants_of_a_task_stay_compiled():
    """With the programs of its checks; where one is too many, each answer to the task has all of them compiled anew."""
    variants_of_a_task = [len(variants(course, task)) for course in COURSES.values() for task in course.tasks]
    assert max(variants_of_a_task) < 0.8 * driver.compiled.cache_info().maxsize
