"""Shows the training doctor's verdict on a run, and tries its remedies in experiments with old and new settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from lab.failures.curve import failure_of
from lab.training.config import Config
from lab.training.doctor import REMARKS, Finding, diagnose
from lab.training.live import LiveRun
from lab.training.records import Record
from lab.training.trial import SEEDS, Trial, TrialResult, can_be_tried, candidates
from lab.ui import page
from lab.ui.widgets import button
from pages.parts.training import kept
from pages.parts.training.settings import in_words, remedy_button, trainable

TICK = 0.3  # seconds between two updates of an experiment
MAX_TRIED = 20  # results that a visit keeps


def say(seen: Sequence[Record], config: Config, trials: Sequence[Trial] = ()) -> None:
    """Show the verdict on the records up to the cursor, with the results of the remedies that were tried."""
    found = _found(seen, config)
    if not found:
        st.caption("The doctor speaks after the first epoch.")
        return
    first, *more = found
    trials = _trials_of(found, trials)
    text = " ".join([_name(first, trials), *map(_result, trials), *first.evidence, _advice(first, trials)])
    if first.key == "healthy":
        st.success(text, icon=":material/check_circle:")
    elif first.well:
        st.info(text, icon=":material/hourglass_top:")
    else:
        st.warning(text, icon=":material/stethoscope:")
    if more:
        names = ", ".join(finding.name.lower() for finding in more)
        also = st.expander(f"The doctor also sees: {names}", type="compact")
        for finding in more:
            also.markdown(f"{_name(finding, trials)} {' '.join(finding.evidence)}")


def _found(seen: Sequence[Record], config: Config) -> list[Finding]:
    """Return the doctor's findings; none before the first epoch."""
    records = [record for record in seen if record["epoch"] > 0]
    return diagnose(records, config) if records else []


def _trials_of(found: Sequence[Finding], trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials of the remedies in these findings."""
    named = [finding.settings for finding in candidates(found)]
    return [trial for trial in trials if trial.finding.settings in named]


def _name(finding: Finding, trials: Sequence[Trial]) -> str:
    """Return the finding's name and how sure it is; "shown" only if its remedy has helped."""
    if finding.well or finding.key in REMARKS:
        return f"**{finding.name}.**"
    helped = any(trial.helps and trial.finding.settings == finding.settings for trial in trials)
    return f"**{finding.name}** ({'shown' if helped else finding.grade})."


def _advice(finding: Finding, trials: Sequence[Trial]) -> str:
    if any(trial.finding.settings == finding.settings and not trial.helps for trial in trials):
        return "Its remedy did not help."
    if finding.well or can_be_tried(finding):
        return finding.remedy
    why = "the samples change" if finding.settings else "no setting does this"
    return f"{finding.remedy} It cannot be tried side by side: {why}."


def _result(trial: Trial) -> str:
    tried = in_words(trial.finding.settings)
    return f"Tried {tried}: **{trial.word}**{str(trial).removeprefix(trial.word)}."


# ---------------------------------------------------------------- remedies as buttons


def prescribe(seen: Sequence[Record], run: LiveRun) -> None:
    """Draw a button that tries the next remedy, and buttons that set a remedy that helped or cannot be tried."""
    config, found = run.config.latest, _found(seen, run.config)
    trials = _trials_of(found, tried(run))
    withdrawn = [trial.finding.settings for trial in trials]
    untried = [
        finding
        for finding in candidates(found)
        if finding.settings not in withdrawn and trainable(replace(config, **finding.settings))
    ]
    again = [finding for finding in untried if finding.key in st.session_state["training try again"]]
    if not again:
        st.session_state["training try again"] = ()
    elif not experiment(run):
        _begin(again[0], run)
    with st.container(key="training-remedies", horizontal=True, vertical_alignment="center", gap="small"):
        if experiment(run):
            st.fragment(_follow, run_every=TICK)(run)
            button("Stop trying", "training trial stop", stop, icon="stop")
            return
        helpful = next((trial.finding for trial in trials if trial.helps), None)
        if helpful:
            remedy_button(config, helpful.settings, f"training remedy {helpful.key}")
        elif untried:
            finding = untried[0]
            button(
                f"Try {in_words(finding.settings)}",
                f"training try {finding.key}",
                _begin,
                finding,
                run,
                icon="science",
                help=f"Trains with and without it, from the same start and with {SEEDS} seeds, and compares.",
            )
        for finding in found:
            if not can_be_tried(finding):
                remedy_button(config, finding.settings, f"training remedy {finding.key}")
        if failure := failure_of(found[0]) if found else None:
            label = f"Failure {failure.number}: cause and fix"
            page.link_to("pages/what_went_wrong.py", label, "troubleshoot", {"failure": failure.key})


# ---------------------------------------------------------------- experiments, in the session


def _begin(finding: Finding, run: LiveRun) -> None:
    st.session_state["training trial"] = TrialResult(finding, run.config, run.trainer.dataset, kept.visit())


def experiment(run: LiveRun) -> TrialResult | None:
    """Return the experiment on this run that is under way, or None."""
    found: TrialResult | None = st.session_state.get("training trial")
    same = (
        found
        and not found.done
        and (found.config, found.dataset.fingerprint) == (run.config, run.trainer.dataset.fingerprint)
    )
    return found if same else None


def _follow(run: LiveRun) -> None:
    """Go on with the experiment on this run and say how far it is; when it is done, keep its result."""
    session, found = st.session_state, experiment(run)
    if not found:
        return
    try:
        found.watch()
    except RuntimeError as error:
        session["training trial"], session["training complaint"] = None, str(error)
        st.rerun()
    if found.done:
        tried_now = (run.config, run.trainer.dataset.fingerprint), found.result()
        session["training tried"] = [*session["training tried"], tried_now][-MAX_TRIED:]
        st.rerun()
    ahead = f", after {found.queue_position} other trainings" if found.queue_position else ""
    st.caption(f"Trying {in_words(found.finding.settings)}: pair {found.pair} of {SEEDS}{ahead}", width="content")


def stop() -> None:
    """Stop the running experiment, and those that would follow it after a reload."""
    st.session_state["training try again"] = ()
    found: TrialResult | None = st.session_state.get("training trial")
    if found and not found.done:
        found.stop()
        st.session_state["training trial"] = None


def tried(run: LiveRun) -> list[Trial]:
    """Return the results of the experiments on runs with the same settings and data."""
    same = run.config, run.trainer.dataset.fingerprint
    return [trial for tried_on, trial in st.session_state["training tried"] if tried_on == same]
