"""Build it yourself: an engine from an empty file, programs to debug, questions; then the visitor's engine at work."""

from lab.ui import page
from pages.parts import build_it_yourself, debug_these, questions, your_engine

PARTS = (build_it_yourself.PART, debug_these.PART, questions.PART, your_engine.PART)
page.show_parts(page.Tabs("build-it-yourself", "build tab"), *PARTS)
