"""What a browser fetches anew after an update."""

import json
import re

from lab.trace.export import MODULES
from lab.ui import assets


def names(code):
    return set(json.loads(re.search(r"Promise\.all\((\[.*?\])", code)[1]))


def test_all_that_a_module_imports_belongs_to_it():
    player = {f"player/{name}.js" for name in MODULES}
    assert names(assets.loading("player/streamlit.js", "player/player.css")) == {
        "current_page.js",
        "player/streamlit.js",
        "player/player.css",
        *player,
    }
    assert {"echarts/echarts.js", "charts/data_table.js", "network/network.js", "player/dom.js"} < names(
        assets.loading("charts/charts.js")
    )


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
