"""How much data there is, in logs and on pages alike."""

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def readable(length: float) -> str:
    """Return a number of bytes as people read it, in decimal units."""
    value, unit = float(length), _UNITS[0]
    for unit in _UNITS:
        if value < 1000 or unit == _UNITS[-1]:
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
