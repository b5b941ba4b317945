"""The numbers of the calls on one connection: an answer that comes twice must not be taken for the next call's."""

from typing import Final

_LEAST: Final = -(1 << 31)
_MOST: Final = (1 << 31) - 1


class CallNumbers:
    """Numbers as the client gives them."""

    def __init__(self) -> None:
        self.last = _LEAST - 1
        """What the last call was sent as."""

    def of(self, sequence: int) -> int:
        """Return the number to send a call as that its client has given this one."""
        self.last = sequence
        return sequence


class RisingNumbers(CallNumbers):
    """Numbers that rise, so that each is given once.

    A client whose own numbers rise keeps them. Thrift's client for Python gives every call the number 0, for example:
    from the second one on its calls get numbers of ours, and it gets its own back with the answers.
    """

    def __init__(self) -> None:
        super().__init__()
        self._are_ours = False

    def of(self, sequence: int) -> int:
        """Return the number to send a call as that its client has given this one."""
        self._are_ours = self._are_ours or sequence <= self.last
        if self._are_ours:
            sequence = self.last + 1 if self.last < _MOST else _LEAST
        self.last = sequence
        return sequence
