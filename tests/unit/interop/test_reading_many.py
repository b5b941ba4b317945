"""The many small files of a dump are read several at a time."""

import threading

import pytest

from twinhive.interop.hive_dump.reading import several
from twinhive.model.errors import Missing


def test_several_are_read_at_the_same_time_and_come_in_their_order() -> None:
    together = threading.Barrier(4, timeout=30)

    def read(number: int) -> int:
        if number < 4:
            together.wait()  # breaks when one is read after the other
        return -number

    assert several(read, range(50)) == [-number for number in range(50)]


def test_what_one_of_them_raises_is_raised() -> None:
    def read(number: int) -> int:
        if number == 7:
            raise Missing("event 7 is not there")
        return number

    with pytest.raises(Missing, match="event 7"):
        several(read, range(50))
