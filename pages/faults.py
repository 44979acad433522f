"""Faults: engines with one bug, to compare with the healthy engine or to recognise from their curves."""

from lab.ui import page
from pages.parts import fault_lab, spot_the_fault

page.show_parts(page.Tabs("faults", "faults tab"), fault_lab.PART, spot_the_fault.PART)
