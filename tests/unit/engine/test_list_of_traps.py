"""Every number of traps.md has a test of the first level that carries it, and no test carries another."""

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent


def test_every_trap_of_the_list_has_a_test():
    listed = [int(number) for number in re.findall(r"^(\d+)\. ", (HERE / "traps.md").read_text("utf-8"), re.MULTILINE)]
    assert listed == list(range(1, 56))
    files = [*HERE.glob("test_*.py"), *(HERE.parent / "gradcheck").glob("test_*.py")]
    tests = [node for path in files for node in ast.parse(path.read_text("utf-8")).body if hasattr(node, "name")]
    first_level = [test.name for test in tests if not any("exhaustive" in ast.unparse(d) for d in test.decorator_list)]
    carried = [re.match(r"test_trap_(\d+)(?:_and_(\d+))?_", name) for name in first_level]
    assert {int(number) for found in carried if found for number in found.groups() if number} == {*listed}
