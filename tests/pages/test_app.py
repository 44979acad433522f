"""The frame: every page is registered, opens inside the frame, and has an address that differs from its file's name."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(path.name for path in (ROOT / "pages").glob("*.py"))
APP = (ROOT / "app.py").read_text(encoding="utf-8")


def test_every_page_is_registered_once():
    assert sorted(re.findall(r'"pages/(\w+\.py)"', APP)) == PAGES


def test_no_address_is_the_name_of_a_file():
    # Streamlit would open such an address without app.py
    addresses = re.findall(r'url_path="([\w-]+)"', APP)
    assert len(addresses) == len(PAGES) - 1  # the landing page has none
    assert not {f"{address}.py" for address in addresses} & set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_with_a_title_and_ends_with_something_to_try(page):
    at = AppTest.from_file(ROOT / "app.py", default_timeout=120).run()
    at.switch_page(f"pages/{page}").run()
    assert not at.exception
    assert len(at.title) == 1
    assert any(text.value.startswith("**Try this.**") for text in at.markdown)
