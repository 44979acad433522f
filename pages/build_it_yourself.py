"""Build it yourself: from an empty file to a trained network; then the visitor's own engine at work."""

from lab.ui import page
from pages.parts import build_it_yourself, your_engine

page.show_parts(page.Tabs("build-it-yourself", "build tab"), build_it_yourself.PART, your_engine.PART)
