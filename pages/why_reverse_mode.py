"""Why reverse mode: what a gradient costs, all derivatives of a function as one picture, and more for the curious."""

from lab.ui import page
from pages.parts import for_the_curious, gradient_cost, jacobian

page.show_parts(page.Tabs("why-reverse-mode", "why tab"), gradient_cost.PART, jacobian.PART, for_the_curious.PART)
