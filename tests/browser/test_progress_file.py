"""What a learner keeps goes from one browser to another: ticks, code, and the engine that was built."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from lab.practice import isolation
from practice import COURSES
from tests.browser.conftest import prepared
from tests.support import in_full, write

SCALARS = COURSES["scalars"]


@pytest.mark.flow
@pytest.mark.skipif(bool(isolation.unavailable()), reason=isolation.unavailable())
def test_an_engine_goes_from_one_browser_to_another(open_page, browser, app_url, tmp_path):
    page = open_page("build-it-yourself?course=scalars&task=train")
    write(page, SCALARS.reference)
    expect(page.locator(".headline")).to_contain_text(f"All {len(SCALARS.tasks)} tasks are passed")
    write(page, SCALARS.reference + "half = (")  # what is in the editor is no engine
    expect(page.locator(".headline")).to_contain_text("cannot run")
    page.goto(app_url)
    page.get_by_label("Name in the file").fill("Ada Lovelace")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save to a file").click()
    assert download.value.suggested_filename == "Ada-Lovelace-progress.json"
    saved = tmp_path / "ada.json"
    download.value.save_as(saved)
    assert json.loads(saved.read_text("utf-8"))["stumbles"]["scalars/value"]["mistake"] == ""

    with browser.new_context() as home:
        other = prepared(home.new_page())
        other.goto(app_url)
        other.locator("input[type=file]").set_input_files(saved)
        expect(
            other.get_by_text(f"{len(SCALARS.tasks)} tasks from the file. Your code of Scalars is here.")
        ).to_be_visible()
        expect(other.get_by_label("Name in the file")).to_have_value("Ada Lovelace")
        other.goto(f"{app_url}/{in_full('build-it-yourself?tab=passes')}")
        expect(other.get_by_text("Your engine: scalars, passed")).to_be_visible()
        other.goto(f"{app_url}/{in_full('build-it-yourself?course=scalars')}")
        expect(other.locator(".cm-content")).to_contain_text("class Value")
        expect(other.get_by_role("button", name=re.compile("passed"))).to_have_count(len(SCALARS.tasks))


@pytest.mark.skipif(bool(isolation.unavailable()), reason=isolation.unavailable())
def test_what_the_command_line_checked_is_taken_by_start(browser, app_url, tmp_path):
    text = SCALARS.grown(SCALARS.reference, 3)
    for command in ("start scalars", "check"):
        if command == "check":
            (tmp_path / "scalars.py").write_text(text, "utf-8")
        run = [sys.executable, "-m", "lab.practice", *command.split(), str(tmp_path)]
        subprocess.run(run, cwd=Path(__file__).parents[2], capture_output=True, timeout=120, check=False)
    with browser.new_context() as context:
        page = prepared(context.new_page())
        page.goto(app_url)
        page.locator("input[type=file]").set_input_files(tmp_path / "progress.json")
        expect(page.get_by_text("3 tasks from the file. Your code of Scalars is here.")).to_be_visible()
        page.goto(f"{app_url}/{in_full('build-it-yourself?course=scalars')}")
        expect(page.get_by_role("button", name=re.compile("passed"))).to_have_count(3)
        expect(page.locator(".cm-content")).to_contain_text("class Value")
        assert page.evaluate("localStorage.getItem('tensor-ops-lab text scalars')") == text


def test_a_link_to_an_engine_that_is_not_here_gets_the_labs_and_the_address_is_right(open_page):
    page = open_page("graph-lab?engine=scalars")
    expect(page.get_by_role("radio", name="The lab’s")).to_be_checked()
    expect(page).not_to_have_url(re.compile("engine="))


@pytest.mark.skipif(bool(isolation.unavailable()), reason=isolation.unavailable())
@pytest.mark.parametrize("size", [(1280, 720), (360, 740)])
def test_the_end_of_a_course_is_seen_with_the_way_on(open_page, size):
    page = open_page("build-it-yourself?course=scalars&task=train", width=size[0], height=size[1])
    page.locator(".cm-content").wait_for()
    write(page, SCALARS.reference)
    onward = page.get_by_role("button", name="See your engine at work")
    expect(page.locator(".headline")).to_have_text(f"✓ All {len(SCALARS.tasks)} tasks are passed.")
    for seen in (page.locator(".headline"), page.get_by_text("You have built an engine, in"), onward):
        expect(seen).to_be_in_viewport(ratio=1)
    onward.click()
    expect(page).to_have_url(re.compile("/build-it-yourself.*tab=Your"))
    expect(page.get_by_text("Your engine: scalars, passed")).to_be_visible()
