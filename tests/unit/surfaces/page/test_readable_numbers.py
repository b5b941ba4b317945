"""Numbers are said short, in the unit that matters."""

import pytest

from twinhive.surfaces.page.readable_numbers import NOTHING, ago, count, duration, moment, size


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (None, NOTHING),
        (0, "0 s"),
        (-3, "0 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (252, "4 min 12 s"),
        (599, "9 min 59 s"),
        (600, "10 min"),
        (2_471, "41 min"),
        (3_600, "1 h"),
        (3_840, "1 h 4 min"),
        (86_400, "1 d"),
        (190_000, "2 d 4 h"),
    ],
)
def test_a_duration_has_at_most_two_units(seconds: float | None, said: str) -> None:
    assert duration(seconds) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "now"), (59, "59 s ago"), (119, "1 min ago"), (720, "12 min ago"), (7_300, "2 h ago"), (400_000, "4 d ago")],
)
def test_the_past_has_one_unit(seconds: float, said: str) -> None:
    assert ago(1_000_000, 1_000_000 + seconds) == said


@pytest.mark.parametrize(
    ("number", "said"),
    [(0, "0 B"), (999, "999 B"), (1_536, "1.5 kB"), (5 * 10**12, "5.0 TB"), (10**18, "1000 PB")],
)
def test_bytes_have_a_unit(number: int, said: str) -> None:
    assert size(number) == said


def test_what_is_not_known_is_not_nought() -> None:
    assert {count(None), size(None), duration(None), moment(None), ago(None, 1.0)} == {NOTHING}
    assert (count(336_776), moment(1_700_000_000)) == ("336,776", "2023-11-14 22:13:20")
