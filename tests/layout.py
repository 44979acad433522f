"""Every page and tab, and what cannot be read, hit or seen on one as it is laid out in a window."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Page as Tab

from lab.lessons.pages import PAGES, Page
from tests.support import settled

AXE = (Path(__file__).parent / "browser" / "axe" / "axe.min.js").read_text("utf-8")
PLACES = [(page, tab) for page in PAGES for tab in (page.tabs or {"": ""})]
NAMES = [f"{page.title} {tab}".strip() for page, tab in PLACES]
WITH_PLAYER = ("pages/start.py", "pages/graph_lab.py")  # as a page is opened; a lesson draws its own
# Sizes in pixels of the screen, with what zooms a page or a picture. Left out: what only screen readers meet, a term
# in a sentence, and Streamlit's slider, whose input nobody sees: the whole line is pressed.
LOOK = """({ control, font, drawn }) => {
  const main = document.querySelector("[data-testid=stMain]");
  const all = (root) => [...root.querySelectorAll("*")].flatMap((one) =>
    one.shadowRoot ? [one, ...all(one.shadowRoot)] : [one]);
  const presented = all(main).find((one) => one.matches(".player.present"));
  const seen = all(presented ?? main).filter((one) => {
    const { width, height } = one.getBoundingClientRect();
    return width > 2 && height > 2 && one.checkVisibility({ visibilityProperty: true, opacityProperty: true })
      && !one.closest(".for-readers, .project-bar, [data-testid=stHeaderActionElements], .cm-editor");
  });
  const name = (one) => `${one.tagName} ${(one.ariaLabel || one.textContent || "").trim().slice(0, 40)}`;
  const CONTROL = "button, select, textarea, summary, input:not([type=hidden], [type=file]), [role=tab], [role=radio]";
  const controls = seen.filter((one) =>
    one.matches(`h1, ${CONTROL}`) && !one.matches(".term, [data-testid=stSlider] input"));
  const words = document.createRange();
  const boxOf = (one) => {
    words.selectNodeContents(one); // of a title only its words: it is as wide as the page
    return one.matches("h1") ? words.getBoundingClientRect()
      : (one.matches("input") && one.closest("label") || one).getBoundingClientRect();
  };
  const meet = (one, other, by) => Math.min(one.right, other.right) - Math.max(one.left, other.left) > by
    && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > by;
  const low = [], small = [], cut = [], high = [], overlap = [], texts = new Map();
  controls.forEach((one, at) => {
    const box = boxOf(one);
    if (Math.min(box.width, box.height) < control) low.push(`${name(one)}: ${box.width} x ${box.height}`);
    if (one.ariaLabel?.startsWith("Scroll tabs")) return; // it lies on the tab that it brings into sight
    for (const other of controls.slice(at + 1)) {
      const apart = !one.contains(other) && !other.ariaLabel?.startsWith("Scroll tabs")
        && (one.closest("label") ?? one) !== (other.closest("label") ?? other);
      if (apart && meet(box, boxOf(other), 4)) overlap.push(`${name(one)} / ${name(other)}`);
    }
  });
  for (const one of seen) {
    const { overflowX, overflowY, fontSize } = getComputedStyle(one);
    const svg = one.closest("svg");
    if ([...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())) {
      const scale = svg ? Math.hypot(one.getScreenCTM().b, one.getScreenCTM().d) : one.currentCSSZoom;
      const size = parseFloat(fontSize) * scale;
      if (size < (svg ? drawn : font) - 0.01) small.push(`${name(one)}: ${size}`);
      if (svg) texts.set(svg, [...(texts.get(svg) ?? []), one]);
    }
    if (one.matches("input[role=combobox]") && one.scrollWidth > one.clientWidth + 1) cut.push(`${name(one)} ${one.value}`);
    if (svg || !one.textContent.trim()) continue;
    const hides = (overflow) => overflow === "hidden" || overflow === "clip";
    if (hides(overflowX) && one.scrollWidth > one.clientWidth + 1) cut.push(name(one));
    if (hides(overflowY) && one.scrollHeight > one.clientHeight + 2) cut.push(name(one));
  }
  for (const [svg, found] of texts) {
    const frame = svg.getBoundingClientRect();
    found.forEach((one, at) => {
      const box = one.getBoundingClientRect();
      if (svg.clientWidth && (box.left < frame.left - 1 || box.right > frame.right + 1)) cut.push(name(one));
      if (svg.clientHeight && (box.top < frame.top - 1 || box.bottom > frame.bottom + 1)) high.push(name(one));
      const on = found.slice(at + 1).find((other) => meet(box, other.getBoundingClientRect(), box.height / 2));
      if (on) overlap.push(`${name(one)} / ${name(on)}`);
    });
  }
  const PICTURE = "[data-testid=stGraphVizChart], [data-testid=stEChartsChart], .grids, section.figure .picture, "
    + ".stage, .pictures, .tracks, .editor";
  const bottom = (one) => one && `${name(one)}: ${Math.round(boxOf(one).bottom)}`;
  const picture = seen.find((one) => one.matches(PICTURE) && one.clientHeight > 90);
  const first = [picture, controls.find((one) => !one.matches("h1, [role=tab]")),
    ...controls.filter((one) => one.matches("[data-testid^=stBaseButton-primary]"))];
  return {
    low, small, cut, high, overlap, wide: Math.max(main.scrollWidth - main.clientWidth, 0),
    below: first.filter((one) => one && boxOf(one).bottom > innerHeight).map(bottom),
  };
}"""


def opened(page: Tab, app_url: str, known: Page, tab: str) -> None:
    """Open a page at one of its tabs, and wait until what it shows is there."""
    page.goto(f"{app_url}/{known.address({known.tab: tab} if tab else {})}")
    page.get_by_role("heading", level=1).wait_for()
    page.get_by_text("Try this.").first.wait_for()
    if known.file in WITH_PLAYER:
        page.locator(".stage .card, [data-testid=stCheckbox]").first.wait_for()
    page.wait_for_load_state("networkidle")
    settled(page)


def look(page: Tab, *, control: int = 24, font: int = 12, drawn: int = 12) -> dict[str, Any]:
    """What is wrong with the page as it stands, by name.

    low      controls with a side shorter than `control` pixels
    small    text of less than `font` pixels; in an SVG picture, of less than `drawn`
    cut      text of which a part is hidden
    high     text of a picture that lies above or below it
    overlap  controls, or texts in a picture, that lie on each other
    wide     pixels that have to be scrolled sideways
    below    the first picture, the first control and lit buttons, where they do not end in the window
    """
    settled(page)
    return page.evaluate(LOOK, {"control": control, "font": font, "drawn": drawn})


def violations(page: Tab, options: dict[str, Any] | None = None, within: str = "[data-testid=stMain]") -> list[Any]:
    """What axe finds serious or critical, or a heading out of order, with the first places of each.

    Left out: the menu beside the page, which is Streamlit's own, and labels of disabled controls, which may be faint.
    """
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE)
    found = page.evaluate(
        "([within, options]) => axe.run({ include: [within], exclude: ['label[disabled]'] }, options)",
        [within, {"resultTypes": ["violations"], **(options or {})}],
    )
    assert found["passes"], "axe looked at nothing"
    return [
        (violation["id"], [(node["target"], node["failureSummary"]) for node in violation["nodes"]][:3])
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical") or violation["id"] == "heading-order"
    ]


def project(page: Tab) -> None:
    """Press F, once what listens to the key is there."""
    page.locator(".project-bar").wait_for(state="attached")
    settled(page)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("f")
