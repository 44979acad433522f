"""One forward and backward pass of the real engine as events, and what is read from it."""

from lab.trace.notebook import in_notebook
from lab.trace.recording import Trace, record

__all__ = ["Trace", "record"]

# A notebook displays a trace as the player. It is said here, because the player's page is made above the trace.
Trace._repr_html_ = in_notebook
