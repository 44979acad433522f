"""For the curious: four topics behind reverse mode, one at a time."""

from lab.ui import page
from lab.ui.widgets import switch
from pages.parts.curious import chain, checkpointing, depth, formula

TITLES = {
    "formula": "Formula, differences, autograd",
    "chain": "A chain of functions",
    "depth": "Depth",
    "memory": "Checkpointing",
}
TOPICS = {"formula": formula, "chain": chain, "depth": depth, "memory": checkpointing}


def draw() -> None:
    """Draw the tab."""
    topic = TOPICS[switch("Topic", TITLES, "why-topic", bare=True, bind="query-params")]
    topic.draw()
    page.closing(topic.TRY_THIS, "pages/other_engines.py", "Next: one engine, built in several ways")
