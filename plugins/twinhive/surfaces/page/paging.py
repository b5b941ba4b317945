"""Cut long lists into pages."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Paging:
    """One page of a list; pages are counted from 1."""

    total: int
    number: int
    size: int

    @classmethod
    def of(cls, total: int, wanted: int, size: int) -> "Paging":
        """Return the page that is wanted, or the last one when there are not so many."""
        return cls(total, max(1, min(wanted, _pages(total, size))), size)

    @property
    def pages(self) -> int:
        """Return how many pages there are, one at least."""
        return _pages(self.total, self.size)

    @property
    def first(self) -> int:
        """Return the place in the list of the page's first entry, from 1."""
        return min(self.total, (self.number - 1) * self.size + 1)

    @property
    def last(self) -> int:
        """Return the place in the list of the page's last entry."""
        return min(self.total, self.number * self.size)


def _pages(total: int, size: int) -> int:
    return max(1, -(-total // size))
