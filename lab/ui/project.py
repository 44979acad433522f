"""F projects any page: its picture and what it says, large, in the whole window (static/project/)."""

from lab.ui.assets import component

_component = component("project", "project/project.js", "listen", isolate_styles=False)


def projectable() -> None:
    """Let the F key project the page; once on a page."""
    _component(key="project")
