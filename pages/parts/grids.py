"""Arrays drawn cell by cell; static/grids/ answers in the browser when the visitor points at a cell."""

from __future__ import annotations

from lab.autodiff.array_pictures import GridPicture
from lab.text import strict_json
from lab.ui.assets import component

_component = component("grids", "grids/grids.js", lost="The arrays")


def packed(picture: GridPicture) -> bytes:
    """Encode a picture for `show`."""
    return strict_json(picture.data()).encode()


def show(packed: bytes, key: str) -> None:
    """Draw the arrays at this point of the page."""
    _component(key=key, data=packed)
