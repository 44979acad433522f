"""A course's reference as a learner's file that grows task by task."""


def grown(ladder, count):
    """A file in which the first `count` tasks are solved."""
    return ladder.grown(ladder.reference, count)
