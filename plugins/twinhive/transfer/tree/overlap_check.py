"""Refuse a copy whose places are not apart from its sources: it would change, or delete, what it reads."""

from collections.abc import Collection, Iterator, Mapping

from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.files import authority, is_below, parent


def check_apart(sources: Mapping[str, str]) -> None:
    """Compare each place with each source, of the same copy or of another. Raises InvalidSettings.

    `sources` are the sources of a request by the places that they are put in. The cost is that of their depth: each
    path is looked up among the others with all that it lies in.
    """
    origins = set(sources.values())
    for place, own in sources.items():
        for origin in _around(place, origins, own):
            raise _not_apart(place, own, origin)
    places = {origin: place for place, origin in sources.items()}
    for origin, own in places.items():
        for place in _around(origin, sources.keys(), own):
            raise _overwritten(origin, place, sources[place])


def _around(path: str, others: Collection[str], first: str) -> Iterator[str]:
    """Yield which of the others a path is, or lies in; `first` before all."""
    short = path.rstrip("/")
    above = [path, f"{authority(path)}/"]
    while is_below(short := parent(short), authority(path)):
        above.append(short)
    yield from sorted((other for other in set(above) if other in others), key=lambda other: other != first)


def _not_apart(place: str, own: str, origin: str) -> InvalidSettings:
    if place == origin:
        return _invalid(f"{origin}: source and target are the same", place)
    whose = "its source" if origin == own else "the source"
    return _invalid(f"{place}: the target lies in {whose} {origin}", f"{place} below {origin}")


def _overwritten(origin: str, place: str, other: str) -> InvalidSettings:
    whose = "its own copy" if other == origin else f"the copy of {other}"
    where = "its target" if other == origin else "the target"
    return _invalid(
        f"{origin}: the source lies in {where} {place}, and would be changed or deleted by {whose}",
        f"{origin} below {place}",
    )


def _invalid(what: str, found: str) -> InvalidSettings:
    return InvalidSettings(
        what, found=found, expected="targets apart from all sources", next_step="choose another target"
    )
