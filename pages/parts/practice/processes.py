"""The processes that run and judge learners' code, which all pages and visitors share in turns."""

import functools
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager

import streamlit as st

from lab.practice.judge_processes import JudgeProcess, Judges
from lab.practice.process_pool import Pool
from lab.practice.sandbox import Sandbox


@st.cache_resource(show_spinner=False)
def judges() -> Judges:
    """Return the server's judges, and have one ready."""
    found = Judges()
    found.start()
    return found


@st.cache_resource(show_spinner=False)
def _pool() -> Pool:
    return Pool()


@st.cache_resource(show_spinner=False)
def recorders(imports: str) -> Pool:
    """Return the processes that record programs with these imports, and have one ready."""
    return Pool(watches=imports)


def recorder_in_turn(imports: str) -> Callable[..., AbstractContextManager[Sandbox]]:
    """Return what provides a process that records a program, when it is this visitor's turn."""
    return functools.partial(recorders(imports).runner, visitor=_visitor())


def judge_in_turn() -> Callable[[], AbstractContextManager[JudgeProcess]]:
    """Return what provides a judge when it is this visitor's turn. Any thread may call it."""
    return functools.partial(judges().judge, _visitor())


def runner_in_turn() -> Callable[..., AbstractContextManager[Sandbox]]:
    """Return what provides a runner of learners' code, with given limits, when it is this visitor's turn."""
    return functools.partial(_pool().runner, visitor=_visitor())


def _visitor() -> str:
    """Return a key of this session."""
    key: str = st.session_state.setdefault("turns of", secrets.token_hex(16))
    return key
