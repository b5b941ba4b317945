"""Say lengths of time, amounts of data, and the first of many, as people do."""

from collections.abc import Callable, Iterable

Say = Callable[[str], None]
"""Takes a line for people."""


_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def spoken_time(seconds: float | None) -> str:
    """Say a length of time as people do: `3 min 20 s`, `2 d 5 h`."""
    left = round(seconds or 0)
    parts = []
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")):
        number, left = divmod(left, size)
        if number:
            parts.append(f"{number} {unit}")
    return " ".join(parts[:2]) or "0 s"


def readable(length: float) -> str:
    """Return a number of bytes as people read it, in decimal units."""
    value, unit = float(length), _UNITS[0]
    for unit in _UNITS:
        if value < 1000 or unit == _UNITS[-1]:
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"


def first_of(found: Iterable[object], most: int, more: str = "more") -> list[str]:
    """Return at most so many of what was found, as text, and after them how many more there are."""
    every = list(found)
    rest = [f"and {len(every) - most:,} {more}"] if len(every) > most else []
    return [*map(str, every[:most]), *rest]
