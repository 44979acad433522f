"""Each of the 25: caused and cured by programs that run, found by PyTorch's own words and by what people say."""

import tomllib

import numpy as np
import pytest

from lab.expression.run_pytorch import run_programs
from lab.failures import FAILURES, find, programs
from lab.failures.catalogue import BY_KEY, OTHER, SENTENCES, failure_of, sentences_of
from lab.failures.curve import KNOWN
from lab.failures.failure import format_numbers, in_pytorch, patched, read_numbers, run
from lab.failures.index import fit, labelled_sentences, rank
from lab.failures.numbers import Number
from lab.traps.faults import catalogue as faults
from practice.debug import PROGRAMS

FORMS = [failure.in_form(number) for failure in FAILURES for number in range(len(failure.others) + 1)]
by_form = pytest.mark.parametrize("failure", FORMS, ids=lambda failure: f"{failure.number} {failure.broken.__name__}")
by_failure = pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: f"{failure.number} {failure.key}")
SILENT = {"zero-grad", "kept", "no-grad", "dead", "vanishing", "zero-init", "rate", "order", "accumulation", "softmax"}


def test_they_are_the_25_in_their_order():
    assert [failure.number for failure in FAILURES] == [*Number]
    assert {failure.key: failure.number for failure in FAILURES} == {number.key: number for number in Number}
    assert len(BY_KEY) == len({failure.name for failure in FAILURES}) == len(Number)


@by_form
def test_it_is_caused_and_cured_by_the_lines_that_are_shown(failure):
    cause, cure = run(failure.broken), run(failure.fixed)
    assert cause.error or failure.silent
    assert cure.error == ""
    assert cure.shown
    for ran in (cause, cure):
        assert _error_of(ran.code) == ran.error


def _error_of(code):
    try:
        with np.errstate(all="ignore"):
            exec(code, {name: getattr(programs, name) for name in dir(programs)})
    except (AttributeError, RuntimeError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


@by_form
def test_it_shows_where_there_is_no_error(failure):
    """What differs between the two runs; where this engine is kinder than PyTorch, the page says so."""
    cause, cure = run(failure.broken), run(failure.fixed)
    if not cause.error and failure.key not in ("nonleafgrad", "integers"):
        both = cause.shown.keys() & cure.shown.keys()
        assert any(
            cause.shown[name] is None or not np.array_equal(cause.shown[name], cure.shown[name]) for name in both
        )


@by_form
def test_it_takes_numbers_of_ones_own(failure):
    low, high = failure.limits
    rng = np.random.default_rng(failure.number)
    many = isinstance(failure.numbers, list)
    whole = isinstance(failure.numbers[0] if many else failure.numbers, int)
    for size in (failure.min_count, 8) if many else (1, 1, 1):
        numbers = rng.uniform(low, high, size)
        text = ", ".join(f"{number:.0f}" if whole else f"{number:.3f}" for number in numbers)
        given = read_numbers(failure, text)
        assert run(failure.broken, given).code != run(failure.broken).code
        assert run(failure.fixed, given).error == ""
    for wrong in ("x", "nan", f"{high + 1:.0f}", "1," * 9 + "1", "1e999"):
        with pytest.raises(ValueError, match=r"^Write (one|[0-9] to 8) (whole )?numbers? from "):
            read_numbers(failure, wrong)
    assert read_numbers(failure, format_numbers(failure.numbers)) == failure.numbers


@by_failure
def test_it_is_found_by_what_people_say_of_it(failure):
    assert len(SENTENCES[(failure.key,)]) >= 3
    for text in SENTENCES[(failure.key,)][:12]:
        assert find(text)[0].failure is failure, text


NEW = (
    """
number = 26
key = "frozen-norm"
title = "A norm in eval mode"
symptom = "Training changes nothing in the running mean."
phrases = ["running statistics are not updated"]
keywords = ["running"]
said = """
    + "'batchnorm keeps its running mean at zero | running variance of batchnorm stays at one'"
    + """
tells = "The statistics of a norm do not move."
meaning = "In eval mode a norm uses its statistics and does not update them."
fix = "Call train() first."
broken = "in_eval"
fixed = "-training = False\\n+training = True"
torch = "print(number)"
silent = "Nothing is raised."
"""
)


def in_eval(number: float = 2.0) -> dict[str, float]:
    training = False
    mean = 0.1 * number if training else 0.0
    return {"mean": mean}


def test_a_failure_is_added_with_one_row_and_one_program(monkeypatch):
    monkeypatch.setattr(programs, "in_eval", in_eval, raising=False)
    row = tomllib.loads(NEW)
    failure = failure_of(row)
    assert (run(failure.broken).shown, run(failure.fixed, 3.0).shown) == ({"mean": 0.0}, {"mean": pytest.approx(0.3)})
    said = [((failure.key,), sentence) for sentence in sentences_of(row)]
    assert (
        rank("the running mean of my batchnorm is always zero", fit([*labelled_sentences(), *said]))[0].key
        == failure.key
    )


def test_no_sentence_stands_twice():
    sentences = [sentence for its in SENTENCES.values() for sentence in its]
    assert len(sentences) == len({sentence.lower() for sentence in sentences}) > 800
    assert len(SENTENCES[OTHER]) > 50


def test_a_patch_that_does_not_fit_is_refused():
    fixed = patched(programs.not_scalar, "-loss = w * w  # as many numbers as w has\n+loss = (w * w).sum()\n")
    assert run(fixed).error == ""
    with pytest.raises(ValueError, match="w \\+ w"):
        patched(programs.not_scalar, "-loss = w + w\n+loss = w\n")


def test_a_program_is_written_in_pytorch_with_its_names():
    lines = in_pytorch(programs.no_grad_too_wide).splitlines()
    assert lines[2:4] == ["with torch.no_grad():", "    hidden = (w1 * x).tanh()"]
    assert lines[0] == "w1, w2 = torch.tensor(0.5, requires_grad=True), torch.tensor(0.5, requires_grad=True)"
    assert in_pytorch(programs.never_zeroed).splitlines()[-3:] == [
        "print('w', w.item())",
        "print('w.grad', w.grad)",
        "print('loss', loss.item())",
    ]


def test_pytorchs_own_words_lead_there():
    pytest.importorskip("torch", reason="PyTorch is not installed")
    said = run_programs({failure.broken.__name__: failure.pytorch_equivalent() for failure in FORMS})
    silent = {failure.broken.__name__ for failure in FAILURES if failure.key in SILENT} | {
        "wrong_sign",
        "not_registered",
        "not_used",
        "kept_outputs",
        "detached_part",
    }
    assert {name for name, answer in said.items() if not answer.text} == silent
    for failure in FORMS:
        answer = said[failure.broken.__name__]
        if not answer.text:
            assert answer.printed
            continue
        found = [match.failure for match in find(answer.text)]
        assert BY_KEY[failure.key] in found or failure.key in found[0].related, answer.text


@by_failure
def test_what_it_refers_to_is_there(failure):
    assert set(failure.related) <= BY_KEY.keys() - {failure.key}
    courses = {program.key for program in PROGRAMS}
    for place in failure.places:
        assert place.query.get("fault", next(iter(faults.BY_KEY))) in faults.BY_KEY
        assert place.query.get("course", next(iter(courses))) in courses


def test_what_refers_to_a_failure_does_it_by_its_key():
    """The faults and the causes of a curve say which failure they are; the failure's links agree."""
    assert {known.failure for known in KNOWN.values()} - {""} <= BY_KEY.keys()
    assert {fault.failure for fault in faults.FAULTS} - {""} <= BY_KEY.keys()
    for failure in FAILURES:
        for place in failure.places:
            if "fault" in place.query:
                assert faults.BY_KEY[place.query["fault"]].failure == failure.key


def test_a_failure_in_several_forms_has_another_program_for_each():
    assert [failure.number for failure in FAILURES if failure.forms] == [2, 4, 5, 10, 11, 13, 18, 19]
    for failure in FAILURES:
        forms = [failure.in_form(number) for number in range(len(failure.forms))]
        assert len({form.broken for form in forms}) == len({form.torch for form in forms}) == len(forms)
        assert failure.in_form(9) is failure
        assert all(form.numbers == failure.numbers for form in forms)


def test_accumulation_that_divides_is_one_large_batch():
    shown = run(BY_KEY["accumulation"].fixed, [1.0, -2.0, 3.5]).shown
    assert np.allclose(*shown.values())
