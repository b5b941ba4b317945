"""Say lengths of time as people do."""


def spoken_time(seconds: float | None) -> str:
    """Say a length of time as people do: `3 min 20 s`, `2 d 5 h`."""
    left = round(seconds or 0)
    parts = []
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")):
        number, left = divmod(left, size)
        if number:
            parts.append(f"{number} {unit}")
    return " ".join(parts[:2]) or "0 s"
