"""A course's reference as a learner's file that grows task by task."""


def grown(course, count):
    """A file in which the first `count` tasks are solved."""
    return course.grown(course.reference, count)
