"""For the curious: four topics behind reverse mode, one at a time."""

from lab.ui import address, expression_box, page
from lab.ui.address import Field
from lab.ui.state import PageState, step
from lab.ui.widgets import switch
from pages.parts.curious import chain, checkpointing, depth, formula

TITLES = {
    "formula": "Formula, differences, autograd",
    "chain": "A chain of functions",
    "depth": "Depth, scalars",
    "memory": "Checkpointing",
}
TOPICS = {"formula": formula, "chain": chain, "depth": depth, "memory": checkpointing}
FIELDS = (
    Field("topic", "curious topic", "formula", address.one_of(*TITLES), always=True),
    *(field for topic in TOPICS.values() for field in topic.FIELDS),
)


def _tab(current: PageState) -> None:
    if current.restored:
        expression_box.begin(formula.NAME)
    topic = TOPICS[switch("Topic", TITLES, "curious topic", bare=True, on_change=step)]
    topic.draw()
    page.closing(topic.TRY_THIS, "pages/other_engines.py", "Next: one engine, built in several ways")


PART = page.TabGroup(FIELDS, {"curious": _tab})
