"""What the script has set stays until the browser has shown it; what the visitor does afterwards counts."""

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.state import SCRIPT_RUN_WITHOUT_ERRORS_KEY
from streamlit.runtime.state.common import WidgetMetadata

from lab.ui.stale_messages import COUNT, NUMBER, LatestState


class Visit:
    """A page with the widgets a and b, each an integer, as Streamlit runs it for one browser."""

    def __init__(self):
        self.state = LatestState()
        self.answers = 0
        self.answer({})

    def answer(self, sends, *, script=lambda state: None, number=True, fails=False):
        """One run. sends: what the browser says of its widgets. Returns what it is told to show."""
        states = [WidgetState(id=f"$$ID-x-{key}", int_value=value) for key, value in sends.items()]
        self.state.on_script_will_rerun(WidgetStates(widgets=states))
        arrived = self.state._new_widget_state  # of these, Streamlit calls the callbacks of those that have changed
        ids = {key: f"$$ID-x-{key}" for key in ("a", "b")}
        self.chosen = {key for key, id in ids.items() if id in arrived and self.state._widget_changed(id)}
        script(self.state)
        told = {key: self._widget(key) for key in ("a", "b")}
        self.state[SCRIPT_RUN_WITHOUT_ERRORS_KEY] = not fails
        if fails:  # Streamlit says of a run that raised nothing but this
            return {key: made.value for key, made in told.items() if made.value_changed}
        if number:
            self.answers += 1
            self.state[COUNT] = self.state[NUMBER] = self.answers
            self._widget(NUMBER)
        self.state.on_script_finished(frozenset(f"$$ID-x-{key}" for key in ("a", "b", NUMBER)))
        return {key: made.value for key, made in told.items() if made.value_changed}

    def values(self):
        return self.state["a"], self.state["b"]

    def _widget(self, key):
        self.state._key_id_mapper[key] = f"$$ID-x-{key}"
        return self.state.register_widget(
            WidgetMetadata(
                id=f"$$ID-x-{key}",
                deserializer=lambda value: 0 if value is None else value,
                serializer=int,
                value_type="int_value",
            ),
            key,
        )


def put(**values):
    return lambda state: [state.__setitem__(key, value) for key, value in values.items()]


@pytest.fixture
def visit():
    visit = Visit()
    visit.answer({"a": 0, "b": 0, NUMBER: 1})
    return visit


def test_a_value_from_before_the_answer_is_no_choice(visit):
    assert visit.answer({"a": 1, "b": 0, NUMBER: 2}, script=put(b=7)) == {"b": 7}  # answer 3
    assert visit.answer({"a": 2, "b": 0, NUMBER: 2}) == {"b": 7}  # told again: the answer may never have been sent
    assert visit.values() == (2, 7)
    assert visit.chosen == {"a"}


def test_after_the_answer_every_value_is_a_choice_also_the_one_before(visit):
    visit.answer({"a": 1, "b": 0, NUMBER: 2}, script=put(b=7))
    visit.answer({"a": 1, "b": 0, NUMBER: 3})
    assert visit.values() == (1, 0)
    assert visit.chosen == {"b"}


def test_what_is_forgotten_begins_again(visit):
    def forget(state):
        del state["b"]

    visit.answer({"a": 1, "b": 3, NUMBER: 2}, script=forget)
    visit.answer({"a": 2, "b": 3, NUMBER: 2})
    assert visit.values() == (2, 0)
    assert visit.chosen == {"a"}


def test_the_browser_is_not_told_what_it_has_said_itself(visit):
    assert visit.answer({"a": 1, "b": 4, NUMBER: 2}, script=put(b=4)) == {}
    visit.answer({"a": 1, "b": 5, NUMBER: 2})
    assert visit.values() == (1, 5)


def test_a_part_of_the_page_that_sends_no_number_holds_nothing_back(visit):
    visit.answer({"a": 1, "b": 0, NUMBER: 2}, script=put(b=7), number=False)
    visit.answer({"a": 1, "b": 3, NUMBER: 2})
    assert visit.values() == (1, 3)


def test_after_a_script_that_fails_each_time_every_value_is_a_choice(visit):
    assert visit.answer({"a": 1, "b": 0, NUMBER: 2}, script=put(b=7), fails=True) == {"b": 7}
    visit.answer({"a": 1, "b": 3, NUMBER: 2}, fails=True)
    assert visit.values() == (1, 3)
    visit.answer({"a": 1, "b": 4, NUMBER: 2})
    assert visit.values() == (1, 4)


def test_a_widget_that_asks_for_its_value_costs_no_look_at_the_others(visit, monkeypatch):
    """Streamlit asks `key in filtered_state` for each select box; to look up a component's value takes 0.2 ms."""
    everything = super(LatestState, visit.state).filtered_state
    assert dict(visit.state.filtered_state) == everything
    assert len(visit.state.filtered_state) == len(everything) > 2
    asked = []
    monkeypatch.setattr(LatestState, "__getitem__", lambda self, key: asked.append(key) or everything[key])
    values = visit.state.filtered_state
    assert "a" in values
    assert values["b"] == 0
    assert "none of that name" not in values
    assert asked == ["a", "b", "none of that name"]
