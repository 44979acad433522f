"""Why reverse mode: what a gradient costs in three ways, and all derivatives of a function as one picture."""

from lab.ui import page
from pages.parts import jacobian, why

page.show_parts(page.Tabs("why-reverse-mode", "why tab"), why.PART, jacobian.PART)
