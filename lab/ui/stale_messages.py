"""A session that ignores outdated widget values, so that they do not undo what the script has set.

With each key or click the browser sends the values of all widgets on the page. While an answer of the server is on its
way, these values are older than the answer. Streamlit would take each for a choice of the visitor, run the widget's
callback and restore the old value. `LatestState` leaves such values out. The browser acknowledges an answer with a
hidden widget, `acknowledge`, which the script sets to the number of the run after all other widgets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.state import SCRIPT_RUN_WITHOUT_ERRORS_KEY, SessionState
from streamlit.runtime.state.common import RegisterWidgetResult, T, WidgetMetadata

NUMBER = "answer"  # the hidden widget's key; assets/app.css hides its container
COUNT = "answers"  # session key: how many runs have sent their number
_ABSENT = object()


def acknowledge() -> None:
    """Send the number of this answer to the browser; call it at the end of a run of the whole page."""
    session = st.session_state
    session[COUNT] = session[NUMBER] = session.get(COUNT, 0) + 1
    with st.container(key=f"{NUMBER}-number"):
        st.number_input("Number of the answer", 0, key=NUMBER)


class Values(Mapping[str, Any]):
    """The values of a session by the script's keys, each looked up only on access.

    Streamlit builds such a mapping for each select box and number input to read one key, and a component's value is
    slow to compute.
    """

    def __init__(self, session: LatestState) -> None:
        self._session = session

    def __getitem__(self, key: str) -> Any:
        return self._session[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._session.all_values())

    def __len__(self) -> int:
        return len(self._session.all_values())


@dataclass
class LatestState(SessionState):
    """A visitor's session that keeps what the script has set until the browser has received it.

    pending   id of a widget that the script has set -> number of the answer that tells the browser
    sent      ids of the widgets in the browser's last message
    drawn     ids of the widgets that the last run has drawn, which the browser therefore knows
    complete  True if the last run was not interrupted
    """

    pending: dict[str, int] = field(default_factory=dict)
    sent: frozenset[str] = frozenset()
    drawn: set[str] = field(default_factory=set)
    complete: bool = True

    @property
    def filtered_state(self) -> Mapping[str, Any]:  # type: ignore[override]  # it is never written to
        """The session's values, which Streamlit reads for single widgets and a script for all of them."""
        return Values(self)

    def all_values(self) -> Mapping[str, Any]:
        """Return all values of the session at once, as Streamlit computes them."""
        return super().filtered_state

    def on_script_will_rerun(
        self,
        fresh_widget_states: WidgetStates | None,
        *,
        replay_trigger_states: WidgetStates | None = None,
        replay_trigger_values: Mapping[str, Any] | None = None,
        is_history_navigation: bool = False,
    ) -> None:
        """Drop the outdated values of a browser message; Streamlit calls this before the callbacks."""
        self._note_what_was_set()
        if self._new_session_state.get(SCRIPT_RUN_WITHOUT_ERRORS_KEY) is False:
            # A failed script sends no number and may fail again, so what it drew would stay pending forever.
            self.pending = {widget: number for widget, number in self.pending.items() if widget not in self.drawn}
        self.drawn.clear()
        if fresh_widget_states is not None:
            fresh_widget_states = self._without_outdated(fresh_widget_states)
        self.complete = False
        super().on_script_will_rerun(
            fresh_widget_states,
            replay_trigger_states=replay_trigger_states,
            replay_trigger_values=replay_trigger_values,
            is_history_navigation=is_history_navigation,
        )
        keys = self._key_id_mapper.id_key_mapping
        for widget in self.pending:  # set it again: the run that set it may have ended before it reached the browser
            if widget in self._old_state and widget in keys:
                self._new_session_state.setdefault(keys[widget], self._old_state[widget])

    def on_script_finished(self, widget_ids_this_run: frozenset[str], *, remove_stale_widgets: bool = True) -> None:
        """Remember whether the run was interrupted; Streamlit calls this after each run."""
        super().on_script_finished(widget_ids_this_run, remove_stale_widgets=remove_stale_widgets)
        self.complete = remove_stale_widgets

    def register_widget(self, metadata: WidgetMetadata[T], user_key: str | None) -> RegisterWidgetResult[T]:
        """Register a widget, but do not send the browser a value that came from it: it may have a newer one by now."""
        made = super().register_widget(metadata, user_key)
        self.drawn.add(metadata.id)
        if metadata.bind or not made.value_changed or self._new_widget_state.get(metadata.id, _ABSENT) != made.value:
            return made
        return replace(made, value_changed=False)

    def __delitem__(self, key: str) -> None:
        """Delete a value; until the browser knows, ignore what it still sends for the deleted widget."""
        widget = self._get_widget_id(key)
        super().__delitem__(key)
        if widget in self.sent and widget not in self._query_param_bound_widget_ids:
            self.pending[widget] = self._old_state.get(COUNT, 0) + 1

    def _note_what_was_set(self) -> None:
        """Record as pending the widgets whose values the last run has changed."""
        number = self._old_state.get(COUNT, 0) + 1
        if NUMBER in self._new_session_state:
            number = self._new_session_state[NUMBER]
        elif self.complete:  # a fragment sends no number, so nothing would ever be acknowledged
            self.pending = {widget: answer for widget, answer in self.pending.items() if answer < number}
            return
        for key, value in self._new_session_state.items():
            widget = self._get_widget_id(key)
            if key == NUMBER or widget not in self.sent or widget in self._query_param_bound_widget_ids:
                continue
            if widget in self.pending or self._new_widget_state.get(widget, _ABSENT) != value:
                self.pending[widget] = number

    def _without_outdated(self, message: WidgetStates) -> WidgetStates:
        """Return a message without the values that the script has replaced since the browser sent it."""
        self.sent = frozenset(state.id for state in message.widgets)
        counter = self._get_widget_id(NUMBER)
        known = next((state.int_value for state in message.widgets if state.id == counter), 0)
        self.pending = {widget: number for widget, number in self.pending.items() if number > known}
        return WidgetStates(widgets=[state for state in message.widgets if state.id not in self.pending])
