"""Draws the cases of a check, and gets the answers of a runner to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lab.practice.runner import Answer, Job, LocalRunner, Runner
from practice.task import Check

SIZES = 4  # the sizes of cases are 0 to SIZES - 1, in turn


@dataclass(frozen=True)
class CheckRun:
    """A check, its cases, and the answers of the learner's code and of the reference to each."""

    check: Check
    cases: Sequence[Job]
    got: Sequence[Answer]
    right: Sequence[Answer]


def loaded(source: str, file: str) -> LocalRunner:
    here = LocalRunner()
    if problem := here.load(source, file):
        raise RuntimeError(f"{file}: {problem}")
    return here


def cases_of(one: Check, rng: np.random.Generator) -> Iterator[Job]:
    for number in range(one.cases):
        inputs = one.inputs(rng, number % SIZES)
        yield Job(one.program_for(inputs), inputs, one.shows, one.secret + one.decides)


def answers(runner: Runner, one: Check, jobs: Sequence[Job]) -> list[Answer]:
    """Run jobs and return their answers, with the verdict of the check's judge, if it has one."""
    answers = runner.run(jobs)
    if one.judge is None:
        return answers
    return [replace(result, verdict=_verdict(one, job, result)) for job, result in zip(jobs, answers, strict=True)]


def _verdict(one: Check, job: Job, result: Answer) -> str | None:
    assert one.judge
    if result.problem and not {*one.refusals} & {*result.problem.bases}:
        return None
    try:
        return one.judge(job.inputs, {} if result.problem else result.values)
    except Exception:  # a value may be anything, and a judge relies on what the task asks for
        return f"{' or '.join(f'`{show}`' for show in one.shows)} is not what the task asks for."
