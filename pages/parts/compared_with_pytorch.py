"""The learner's expression as a PyTorch program, run on request in a separate process and compared with the lab's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import streamlit as st

from lab.expression.parser import Expression
from lab.expression.pytorch import TranslationError, run, to_torch
from lab.expression.run_pytorch import installed
from lab.text import brief
from lab.ui import binding
from lab.ui.memoize import memoize
from lab.ui.table import show_table, with_code
from lab.ui.widgets import button

RELATIVE, ABSOLUTE = 1e-9, 1e-12  # tolerances within which two float64 results agree


def show_comparison(
    key: str,
    expression: Expression,
    values: Mapping[str, Any],
    value: Any,
    gradients: Mapping[str, Any],
    script: Callable[[], str] | None = None,
    whose: str = "this engine",
) -> None:
    """Draw a button that shows both programs and, if PyTorch is installed, a table that compares their results.

    value, gradients: results of the engine `whose`. script: returns its program. After the inputs have changed, the
    learner has to press the button again.
    """
    runs = installed()
    asked, at = f"{key} asked", (expression.text, repr(values))
    button("Run it in PyTorch" if runs else "Write it for PyTorch", key, binding.put, asked, at, icon="compare")
    if st.session_state.get(asked) != at:
        return
    try:
        program = to_torch(expression, values)
    except TranslationError as error:
        st.info(with_code(str(error)))
        return
    programs = ({whose.capitalize(): script()} if script else {}) | {"PyTorch": program}
    for column, (title, text) in zip(st.columns(2), programs.items(), strict=False):
        column.markdown(f"**{title}**")
        column.code(text, language="python", wrap_lines=True)
    if not runs:
        st.info(
            "PyTorch is not installed here. Run the program where it is, or install it with `pip install torch`: then "
            "this page runs it."
        )
        return
    with st.spinner("PyTorch is starting…"):
        answer = memoize(key, at, lambda: run(program, expression.result_name, expression.names))
    if answer.value is None:
        st.warning(with_code(answer.error))
        return
    pairs: dict[str, tuple[Any, Any]] = {expression.result_name: (value, answer.value)}
    pairs |= {f"gradient of {name}": (gradients.get(name), answer.gradients[name]) for name in expression.names}
    headers = ["", whose, f"PyTorch {answer.version}", "same"]
    show_table(headers, [(name, *map(_text, pair), "✓" if _agree(*pair) else "✗") for name, pair in pairs.items()])


def _text(array: Any) -> str:
    return "none" if array is None else brief(np.asarray(array).tolist())


def _agree(ours: Any, theirs: Any) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    one, other = np.asarray(ours), np.asarray(theirs)
    return one.shape == other.shape and np.allclose(one, other, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True)
