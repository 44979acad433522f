"""Every number of traps.md has a test that carries it, and no test carries another."""

import re
from pathlib import Path

HERE = Path(__file__).parent


def test_every_trap_of_the_list_has_a_test():
    listed = [int(number) for number in re.findall(r"^(\d+)\. ", (HERE / "traps.md").read_text("utf-8"), re.MULTILINE)]
    assert listed == list(range(1, 56))
    sources = "".join(path.read_text("utf-8") for path in HERE.glob("test_*.py"))
    names = re.findall(r"^def test_trap_(\w+)\(", sources, re.MULTILINE)
    carried = {int(number) for name in names for number in re.match(r"(\d+)(?:_and_(\d+))?", name).groups() if number}
    assert carried == set(listed)
    assert len(names) == len(set(names)), "two tests of one name"
