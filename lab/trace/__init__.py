"""Record one forward and backward pass of the real engine as events; derive, check, draw, export and load it."""

from lab.trace.notebook import in_notebook
from lab.trace.recording import Trace, record

__all__ = ["Trace", "record"]

# A notebook displays a trace as the player. Set here, because notebook.py imports recording.py.
Trace._repr_html_ = in_notebook
