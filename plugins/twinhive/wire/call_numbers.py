"""The numbers of the calls on one connection: an answer that comes twice must not be taken for the next call's."""

from typing import Final

_MOST: Final = (1 << 31) - 1
_NONE: Final = -(1 << 31) - 1


class CallNumbers:
    """Numbers as the client gives them."""

    def __init__(self) -> None:
        self.last = _NONE
        """What the last call was sent as."""

    def of(self, sequence: int) -> int:
        """Return the number to send a call as that its client has given this one."""
        self.last = sequence
        return sequence


class RisingNumbers(CallNumbers):
    """Numbers that rise, so that each is given once.

    A client whose own numbers rise keeps them. Thrift's client for Python gives every call the number 0, for example:
    its calls get numbers of ours, and it gets its own back with the answers.
    """

    def of(self, sequence: int) -> int:
        """Return the number to send a call as that its client has given this one."""
        if sequence <= self.last:
            sequence = self.last + 1 if self.last < _MOST else 0
        self.last = sequence
        return sequence
