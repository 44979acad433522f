"""Practise: programs to debug, and questions."""

from lab.ui import page
from pages.parts import debug_these, question_time

page.show_parts(page.Tabs("practise", "practise tab"), debug_these.PART, question_time.PART)
