"""Names of leaves, each once."""


class Names:
    """Gives a name that is taken a number behind it."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def taken(self, name: str) -> str:
        count = self.counts[name] = self.counts.get(name, 0) + 1
        return name if count == 1 else self.taken(f"{name}_{count}")
