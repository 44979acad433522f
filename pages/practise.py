"""Practise: programs to debug, passes to predict by hand, and questions."""

from lab.ui import page
from pages.parts import debug_these, predict_and_reveal, question_time

page.show_parts(page.Tabs("practise", "practise tab"), debug_these.PART, predict_and_reveal.PART, question_time.PART)
