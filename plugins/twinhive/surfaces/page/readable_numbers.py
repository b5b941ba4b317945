"""Say numbers as people read them at night: short, aligned, with a unit."""

from datetime import UTC, datetime

from twinhive.core.model.human_readable import readable

NOTHING = "\N{EN DASH}"
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


def count(number: int | None) -> str:
    """Say a number of things, or that it is not known."""
    return NOTHING if number is None else f"{number:,}"


def size(number: int | None) -> str:
    """Say a number of bytes as the logs do."""
    return NOTHING if number is None else readable(number)


def duration(seconds: float | None) -> str:
    """Say seconds in the two largest units, as far as they matter."""
    if seconds is None:
        return NOTHING
    whole = max(0, round(seconds))
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < 10 * _MINUTE:
        return _two(whole, _MINUTE, "min", 1, "s")
    if whole < _HOUR:
        return f"{whole // _MINUTE} min"
    return _two(whole, _HOUR, "h", _MINUTE, "min") if whole < _DAY else _two(whole, _DAY, "d", _HOUR, "h")


def _two(whole: int, length: int, unit: str, smaller: int, smaller_unit: str) -> str:
    rest = whole % length // smaller
    return f"{whole // length} {unit} {rest} {smaller_unit}" if rest else f"{whole // length} {unit}"


def milliseconds(seconds: float | None) -> str:
    """Say how long a call took: in milliseconds, or from ten seconds on in seconds."""
    if seconds is None:
        return NOTHING
    return f"{seconds * 1_000:,.1f} ms" if seconds < 10 else f"{seconds:,.1f} s"


def ago(at: float | None, now: float) -> str:
    """Say how long ago a moment (seconds of the epoch) was, in one unit."""
    if at is None:
        return NOTHING
    whole = round(now - at)
    if whole < 5:
        return "now"
    for unit, length in (("d", _DAY), ("h", _HOUR), ("min", _MINUTE)):
        if whole >= 2 * length or (unit == "min" and whole >= length):
            return f"{whole // length} {unit} ago"
    return f"{whole} s ago"


def moment(at: float | None) -> str:
    """Say a moment (seconds of the epoch) in UTC."""
    return NOTHING if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}"
