"""Other engines: five small designs, PyTorch, how to trade time for memory, and what to read."""

from lab.ui import page
from pages.parts import engine_designs, wider_field

page.show_parts(page.Tabs("other-engines", "engines tab"), engine_designs.PART, wider_field.PART)
