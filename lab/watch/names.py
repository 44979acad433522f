"""Unique names for leaves."""


class UniqueNames:
    """Makes names unique by appending a number."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def unique(self, name: str) -> str:
        count = self.counts[name] = self.counts.get(name, 0) + 1
        return name if count == 1 else self.unique(f"{name}_{count}")
