"""A ladder's reference as a learner's file that grows task by task."""

import re


def parts(ladder):
    """The reference in pieces: (key, text). Before the first mark and under "given" stands what the starter has, too."""
    pieces = re.split(r"^[ \t]*# task: ([\w-]+)\n", ladder.reference, flags=re.MULTILINE)
    return [("given", pieces[0]), *zip(pieces[1::2], pieces[2::2], strict=True)]


def grown(ladder, count):
    """A file in which the first `count` tasks are solved. A piece that begins inside of a function is a change to lines
    that stand there from the start, and is in it anyway."""
    later = {task.key for task in ladder.tasks[count:]}
    return "".join(text for key, text in parts(ladder) if key not in later or text.startswith(" " * 8))
