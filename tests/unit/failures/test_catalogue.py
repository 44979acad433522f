"""Each of the 25: caused and cured by programs that run, found by PyTorch's own words and by what people say."""

import tomllib

import numpy as np
import pytest

from lab.expression.run_pytorch import run_programs
from lab.failures import FAILURES, find
from lab.failures.catalogue import BY_KEY, NEARBY, OTHER, SENTENCES, failure_of, sentences_of
from lab.failures.curve import KNOWN
from lab.failures.failure import format_numbers, read_numbers
from lab.failures.index import fit, labelled_sentences, rank
from lab.failures.numbers import Number
from lab.failures.programs import NAMES, NO_PROGRAM, Program, in_pytorch, pair, run
from lab.traps.faults import catalogue as faults
from practice.debug import PROGRAMS

FORMS = {f"{its.key}/{form}": its.in_form(form) for its in FAILURES for form in range(len(its.others) + 1)}
SHOWN = {key: its for key, its in NEARBY.items() if its.broken is not NO_PROGRAM}
by_form = pytest.mark.parametrize("failure", FORMS.values(), ids=FORMS)
by_failure = pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: f"{failure.number} {failure.key}")
SILENT = {
    "zero-grad",
    "kept",
    "no-grad",
    "dead",
    "vanishing",
    "zero-init",
    "rate",
    "order",
    "accumulation",
    "softmax",
    "where",
}


def test_they_are_the_25_in_their_order():
    assert [failure.number for failure in FAILURES] == [*Number]
    assert {failure.key: failure.number for failure in FAILURES} == {number.key: number for number in Number}
    assert len(BY_KEY) == len({failure.name for failure in FAILURES}) == len(Number)


@pytest.mark.parametrize("failure", [*FORMS.values(), *SHOWN.values()], ids=[*FORMS, *SHOWN])
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
            exec(code, dict(NAMES))
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
    many = isinstance(failure.broken.numbers, list)
    whole = isinstance(failure.broken.numbers[0] if many else failure.broken.numbers, int)
    for size in (failure.min_count, 8) if many else (1, 1, 1):
        numbers = rng.uniform(low, high, size)
        text = ", ".join(f"{number:.0f}" if whole else f"{number:.3f}" for number in numbers)
        given = read_numbers(failure, text)
        assert run(failure.broken, given).code != run(failure.broken).code
        assert run(failure.fixed, given).error == ""
    for wrong in ("x", "nan", f"{high + 1:.0f}", "1," * 9 + "1", "1e999"):
        with pytest.raises(ValueError, match=r"^Write (one|[0-9] to 8) (whole )?numbers? from "):
            read_numbers(failure, wrong)
    assert read_numbers(failure, format_numbers(failure.broken.numbers)) == failure.broken.numbers


@by_failure
def test_it_is_found_by_what_people_say_of_it(failure):
    assert len(SENTENCES[(failure.key,)]) >= 3
    for text in SENTENCES[(failure.key,)][:12]:
        assert find(text)[0].failure is failure, text


def test_a_word_of_the_field_alone_lists_a_failure_that_it_belongs_to():
    named = {word: {its.key for its in FAILURES if word in its.keywords} for each in FAILURES for word in each.keywords}
    assert [word for word, keys in named.items() if not keys & {match.key for match in find(word)}] == []


NEW = '''
name = "A norm in eval mode"
symptom = "Training changes nothing in the running mean."
phrases = ["running statistics are not updated"]
keywords = ["running"]
said = "batchnorm keeps its running mean at zero | running variance of batchnorm stays at one"
meaning = "In eval mode a norm uses its statistics and does not update them."
fix = "Call train() first."
program = """
 number = 2.0
-training = False
+training = True
 mean = 0.1 * number if training else 0.0
 return {'mean': mean}"""
torch = "print(number)"
silent = "Nothing is raised."
'''


def test_a_failure_is_added_with_one_row():
    row = tomllib.loads(NEW)
    failure = failure_of(26, "frozen-norm", row)
    assert (run(failure.broken).shown, run(failure.fixed, 3.0).shown) == ({"mean": 0.0}, {"mean": pytest.approx(0.3)})
    said = [((failure.key,), sentence) for sentence in sentences_of(row)]
    assert (
        rank("the running mean of my batchnorm is always zero", fit([*labelled_sentences(), *said]))[0].key
        == failure.key
    )


def test_no_sentence_stands_twice():
    sentences = [sentence for its in SENTENCES.values() for sentence in its]
    assert len(sentences) == len({sentence.lower() for sentence in sentences}) > 300
    assert len(SENTENCES[OTHER]) > 50


def test_two_programs_are_read_from_one_text():
    broken, fixed = pair(" n = [1.0]  # losses\n-loss = n\n+loss = sum(n)\n return {'loss': loss}")
    assert broken.own == "losses"
    assert (broken.code(), fixed.code([2.0])) == ("n = [1.0]\nloss = n\n", "n = [2.0]\nloss = sum(n)\n")
    assert (run(broken).shown, run(fixed, [2.0]).shown) == ({"loss": [1.0]}, {"loss": 2.0})
    with pytest.raises(ValueError, match="'loss = 1'"):
        pair(" n = 1\nloss = 1\n return {}")


def test_a_program_is_written_in_pytorch_with_its_names():
    lines = in_pytorch(BY_KEY["no-grad"].broken).splitlines()
    assert lines[2:4] == ["with torch.no_grad():", "    hidden = (w1 * x).tanh()"]
    assert lines[0] == "w1, w2 = torch.tensor(0.5, requires_grad=True), torch.tensor(0.5, requires_grad=True)"
    assert in_pytorch(BY_KEY["zero-grad"].broken).splitlines()[-3:] == [
        "print('w', w.item())",
        "print('w.grad', w.grad)",
        "print('loss', loss.item())",
    ]
    apostrophe = Program("", [], "", "", '{"a row\'s sum": total}')
    assert in_pytorch(apostrophe) == 'print("a row\'s sum", total)\n'


def test_pytorchs_own_words_lead_there():
    pytest.importorskip("torch", reason="PyTorch is not installed")
    said = run_programs({name: failure.pytorch_equivalent() for name, failure in FORMS.items()})
    silent = {f"{key}/0" for key in SILENT} | {"order/1", "optimizer/2", "nonleafgrad/2", "kept/1", "detach/1"}
    assert {name for name, answer in said.items() if not answer.text} == silent
    for name, failure in FORMS.items():
        answer = said[name]
        assert failure.says in answer.text
        assert bool(failure.says) == bool(answer.text), (
            "the page shows what PyTorch says, and nothing where it is silent"
        )
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
        assert place.query.get("course", next(iter(courses))) in courses


def test_what_refers_to_a_failure_does_it_by_its_key():
    """The faults and the causes of a curve say which failure they are."""
    assert {known.failure for known in KNOWN.values()} - {""} <= BY_KEY.keys()
    assert {fault.failure for fault in faults.FAULTS} - {""} <= BY_KEY.keys()


def test_a_failure_in_several_forms_has_another_program_for_each():
    assert [failure.number for failure in FAILURES if failure.forms] == [2, 4, 5, 10, 11, 13, 18, 19]
    for failure in FAILURES:
        forms = [failure.in_form(number) for number in range(len(failure.forms))]
        assert len({form.broken.lines for form in forms}) == len({form.torch for form in forms}) == len(forms)
        assert failure.in_form(9) is failure
        assert all(
            (form.broken.numbers, form.broken.own) == (failure.broken.numbers, failure.broken.own) for form in forms
        )


def test_accumulation_that_divides_is_one_large_batch():
    shown = run(BY_KEY["accumulation"].fixed, [1.0, -2.0, 3.5]).shown
    assert np.allclose(*shown.values())
