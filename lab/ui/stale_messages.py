"""Keeps what the script sets from being undone by a message that the browser sent before it knew.

With each key or click the browser sends the values of all widgets on the page. While an answer is on its way, these
are values from before the answer. Streamlit would take each of them for a choice of the visitor: it would run the
widget's callback and put the old value back. Here such a value is left out. The browser tells what it knows by a hidden
widget, `acknowledge`, which the script sets to the number of the run, after all other widgets.
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
COUNT = "answers"  # how many runs have sent their number
_ABSENT = object()


def acknowledge() -> None:
    """Send the number of this answer, at the end of a run of a whole page."""
    session = st.session_state
    session[COUNT] = session[NUMBER] = session.get(COUNT, 0) + 1
    with st.container(key=f"{NUMBER}-number"):
        st.number_input("Number of the answer", 0, key=NUMBER)


class Values(Mapping[str, Any]):
    """What a session has, by the script's keys. A value is looked up when it is asked for, and not all of them before:
    Streamlit makes such a mapping for each select box and number, to ask for one key, and a component's value costs."""

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
    """A visitor's session. What the script has set stays until the browser has shown it.

    pending   id of a widget that the script has set -> the number of the answer that tells the browser
    sent      the ids of the widgets in the browser's last message
    drawn     the ids of the widgets that the last run has made: of these the browser knows
    complete  has the last run come to its end?
    """

    pending: dict[str, int] = field(default_factory=dict)
    sent: frozenset[str] = frozenset()
    drawn: set[str] = field(default_factory=set)
    complete: bool = True

    @property
    def filtered_state(self) -> Mapping[str, Any]:  # type: ignore[override]  # nobody writes to it
        """Streamlit asks it whether a widget's value is None, and a script for all that the session has."""
        return Values(self)

    def all_values(self) -> Mapping[str, Any]:
        """What Streamlit makes of the whole session."""
        return super().filtered_state

    def on_script_will_rerun(
        self,
        fresh_widget_states: WidgetStates | None,
        *,
        replay_trigger_states: WidgetStates | None = None,
        replay_trigger_values: Mapping[str, Any] | None = None,
        is_history_navigation: bool = False,
    ) -> None:
        """Streamlit calls it with each message of the browser, before the callbacks."""
        self._note_what_was_set()
        if self._new_session_state.get(SCRIPT_RUN_WITHOUT_ERRORS_KEY) is False:
            # A script that failed sends no number, and may fail again: what it drew would never be acknowledged.
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
        for widget in self.pending:  # once more: the run that set it may have ended before the browser was told
            if widget in self._old_state and widget in keys:
                self._new_session_state.setdefault(keys[widget], self._old_state[widget])

    def on_script_finished(self, widget_ids_this_run: frozenset[str], *, remove_stale_widgets: bool = True) -> None:
        """Streamlit calls it after each run, also after one that a new message has ended."""
        super().on_script_finished(widget_ids_this_run, remove_stale_widgets=remove_stale_widgets)
        self.complete = remove_stale_widgets

    def register_widget(self, metadata: WidgetMetadata[T], user_key: str | None) -> RegisterWidgetResult[T]:
        """Streamlit calls it where the script makes a widget. What the browser has said itself it is not told: it may
        have gone on since."""
        made = super().register_widget(metadata, user_key)
        self.drawn.add(metadata.id)
        if not made.value_changed or self._new_widget_state.get(metadata.id, _ABSENT) != made.value:
            return made
        return replace(made, value_changed=False)

    def __delitem__(self, key: str) -> None:
        """A widget that is forgotten begins again: what the browser says of it until then is of the one before."""
        widget = self._get_widget_id(key)
        super().__delitem__(key)
        if widget in self.sent:
            self.pending[widget] = self._old_state.get(COUNT, 0) + 1

    def _note_what_was_set(self) -> None:
        """Which widgets of the browser has the last run given another value?"""
        number = self._old_state.get(COUNT, 0) + 1
        if NUMBER in self._new_session_state:
            number = self._new_session_state[NUMBER]
        elif self.complete:  # a fragment, which sends no number: nothing would ever be acknowledged
            self.pending = {widget: waiting for widget, waiting in self.pending.items() if waiting < number}
            return
        for key, value in self._new_session_state.items():
            widget = self._get_widget_id(key)
            if key == NUMBER or widget not in self.sent:
                continue
            if widget in self.pending or self._new_widget_state.get(widget, _ABSENT) != value:
                self.pending[widget] = number

    def _without_outdated(self, message: WidgetStates) -> WidgetStates:
        """A message without the values that the script has replaced since."""
        self.sent = frozenset(state.id for state in message.widgets)
        counter = self._get_widget_id(NUMBER)
        known = next((state.int_value for state in message.widgets if state.id == counter), 0)
        self.pending = {widget: number for widget, number in self.pending.items() if number > known}
        return WidgetStates(widgets=[state for state in message.widgets if state.id not in self.pending])
