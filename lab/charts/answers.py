"""Chart that compares the answers of this engine and PyTorch to the same questions, a row for each question."""

from __future__ import annotations

from collections.abc import Mapping

from lab.charts.chart import COLOURS, Chart, heat_palette, mix
from lab.designs.frameworks import QUESTIONS, EngineAnswer

ROW, AROUND = 29, 30  # height in pixels of a row, and of the names above the rows
UNASKED, PRINTED, FAILED, BETWEEN = range(4)  # codes of a cell
SIGNS = {None: "", True: "=", False: "≠"}


def differing(here: Mapping[str, EngineAnswer], there: Mapping[str, EngineAnswer]) -> list[str]:
    """Return the keys of the questions whose outcomes differ."""
    return [key for key in QUESTIONS if there[key].outcome != here[key].outcome]


def answers(
    here: Mapping[str, EngineAnswer], there: Mapping[str, EngineAnswer], version: str, theme: str = "light"
) -> Chart:
    """Draw the answers by question of this engine (here) and of this version of PyTorch (there; {} until asked)."""
    colours = COLOURS[theme]
    different = differing(here, there) if there else []
    cells = []
    for row, key in enumerate(QUESTIONS):
        same = key not in different if there else None
        weight = "bold" if same is False else "normal"
        for column, answer in ((0, here[key]), (2, there.get(key))):
            code = UNASKED if answer is None else FAILED if answer.failed else PRINTED
            label = {"formatter": answer.outcome if answer else "?", "fontWeight": weight}
            cells.append({"value": [column, row, code], "label": label})
        sign = {"formatter": SIGNS[same], "fontSize": 18, "fontWeight": weight}
        cells.append({"value": [1, row, BETWEEN], "label": sign, "itemStyle": {"borderWidth": 0}})
    paper = colours["paper"]
    palette = [
        mix(paper, colours["faint"], 0.1),
        mix(paper, colours["train"], 0.2),
        mix(paper, colours["validation"], 0.25),
        "transparent",
    ]
    axis = {"type": "category", "splitArea": {"show": False}, "axisTick": {"show": False}, "axisLine": {"show": False}}
    names = [question.name for question in QUESTIONS.values()]
    return Chart(
        "The same questions to both",
        {
            "animation": False,
            "grid": {"left": 112, "right": 4, "top": 24, "bottom": 4, "outerBoundsMode": "none"},
            "xAxis": {**axis, "data": ["this engine", "", "PyTorch"], "position": "top", "axisLabel": {"interval": 0}},
            "yAxis": {**axis, "data": names, "inverse": True, "axisLabel": {"interval": 0}},
            "visualMap": heat_palette(palette),
            "series": [
                {
                    "type": "heatmap",
                    "data": cells,
                    "label": {"show": True, "color": colours["text"]},
                    "itemStyle": {"borderColor": paper, "borderWidth": 2},
                    "silent": True,
                }
            ],
        },
        AROUND + ROW * len(QUESTIONS),
        _alt([QUESTIONS[key].name for key in different]) if there else "PyTorch has not been asked yet.",
        ("question", "this engine", f"PyTorch {version}".strip()),
        [(question.title, here[key].text, there[key].text if there else "?") for key, question in QUESTIONS.items()],
    )


def _alt(names: list[str]) -> str:
    return f"PyTorch’s outcome differs in {len(names)} of {len(QUESTIONS)} questions: {', '.join(names)}."
