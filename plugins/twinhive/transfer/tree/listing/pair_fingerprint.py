"""Find out whether pairs of files are known to be equal, and read what is known only when that is in doubt.

The pairs that a look asks about have a sign. A look that finds them all equal gives its sign away; a later one that
comes to the same sign has asked about the same pairs.
"""

from array import array
from collections.abc import Callable

from twinhive.transfer.tree.verified_pairs import VerifiedPairs

_64_BITS = 2**64 - 1


class AskedPairs:
    """Take pairs for equal while they are asked about; `are_equal` tells afterwards whether all of them are.

    `load` reads what is known; `sign` is that of the last look that found everything equal, '' without one.
    """

    def __init__(self, load: Callable[[], VerifiedPairs], sign: str = "") -> None:
        self._load = load
        self._last = sign
        self._asked = array("Q")

    def knows(self, digest: int) -> bool:
        """Note that a pair was asked about; False for one that cannot be known."""
        if digest:
            self._asked.append(digest)
        return bool(digest)

    @property
    def sign(self) -> str:
        """What only the same pairs have, in whatever order they are asked about."""
        return f"{len(self._asked)}:{sum(self._asked) & _64_BITS:016x}"

    def are_equal(self) -> bool:
        """True when all pairs that were asked about are known to be equal. Raises TryAgain."""
        if not self._asked or self.sign == self._last:
            return True
        known = self._load()
        return all(map(known.knows, self._asked))
