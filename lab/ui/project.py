"""The F key on every page: it projects the page's picture and its words in the whole window (static/project/)."""

from lab.ui.assets import component

_component = component("project", "project/project.js", "listen", isolate_styles=False)


def projectable() -> None:
    """Let the F key project the page; call it once on a page."""
    _component(key="project")
