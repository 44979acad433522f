"""What a browser fetches anew after an update."""

import json
import re
from pathlib import Path

from lab.trace.export import MODULES
from lab.ui import assets

ROOT = Path(__file__).resolve().parents[3]


def names(code):
    return set(json.loads(re.search(r"Promise\.all\((\[.*?\])", code)[1]))


def test_all_that_a_module_imports_belongs_to_it():
    player = {f"player/{name}.js" for name in MODULES}
    assert names(assets.loading("player/streamlit.js")) == {
        "current_page.js",
        "mount.js",
        "player/streamlit.js",
        "player/player.css",
        *player,
    }
    parts = {"echarts/echarts.js", "charts/charts.css", "charts/data_table.js", "network/network.js", "player/dom.js"}
    assert parts < names(assets.loading("charts/charts.js"))


def test_a_change_of_an_import_makes_another_version(tmp_path, monkeypatch):
    (tmp_path / "parts").mkdir()
    (tmp_path / "main.js").write_text('import { a } from "./parts/one.js";\n')
    (tmp_path / "parts/one.js").write_text('import { b } from "./two.js";\n')
    (tmp_path / "parts/two.js").write_text("export const b = 1;\n")
    monkeypatch.setattr(assets, "_STATIC", tmp_path.resolve())
    before = assets.loading("main.js")
    assert names(before) == {"main.js", "parts/one.js", "parts/two.js"}
    assert assets.loading("main.js") == before
    (tmp_path / "parts/two.js").write_text("export const b = 2;\n")
    assert assets.loading("main.js") != before


def test_every_colour_of_the_player_that_is_used_has_been_chosen():
    style = (assets._STATIC / "player/player.css").read_text("utf-8")
    chosen = set(re.findall(r"(--[a-z-]+):", style)) | {"--height", "--indent", "--seed", "--share"}  # by JavaScript
    used = {name for name in re.findall(r"var\((--[a-z-]+)\)", style) if not name.startswith("--st-")}
    assert used <= chosen


def test_the_lab_has_few_components_of_its_own():
    """Each is one more thing to know: what shows something new goes into one that is there, if it belongs to it."""
    sources = [path.read_text("utf-8") for room in ("lab", "pages") for path in (ROOT / room).rglob("*.py")]
    named = [name for text in sources for name in re.findall(r'^\w+ = component\(\s*"(\w+)"', text, re.M)]
    assert len(named) == len(set(named)) <= 12, named
    assert sum(text.count("components.v2.component(") for text in sources) == 1  # `component` registers all of them
