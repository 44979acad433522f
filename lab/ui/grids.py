"""Arrays drawn cell by cell on a page; pointing at a cell is answered in the browser, by static/grids/."""

from __future__ import annotations

from lab.autodiff.grids import GridPicture
from lab.text import strict_json
from lab.ui.assets import component

_component = component("grids", "grids/grids.js", lost="The arrays", style="grids/grids.css")


def packed(picture: GridPicture) -> bytes:
    """What `show` draws."""
    return strict_json(picture.data()).encode()


def show(packed: bytes, key: str) -> None:
    """Draw the arrays where the page is just now."""
    _component(key=key, data=packed)
