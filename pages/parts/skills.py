"""The list of skills on Practise, ticked by the browser."""

from lab.lessons.pages import BY_FILE
from lab.lessons.skills import ACHIEVEMENTS, SKILLS
from lab.ui import places
from lab.ui.assets import component

_component = component("skills", "progress/skills.js", lost="The list", style="progress/skills.css")


def show() -> None:
    """Show the list of skills, ticked by the browser from the visitor's progress."""
    achievements = {
        key: {"title": one.title, "href": BY_FILE[one.file].address(one.query)} for key, one in ACHIEVEMENTS.items()
    }
    shown = [{"group": one.group, "text": one.text, "needs": one.needs} for one in SKILLS]
    places.show(_component, "skills", {"skills": shown, "achievements": achievements}, ACHIEVEMENTS)
