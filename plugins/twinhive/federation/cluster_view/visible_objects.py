"""What a cluster sees of objects: their bytes with other places."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import assert_never

from twinhive.core.model.placement.copy_marks import ROOT
from twinhive.federation.cluster_view.message_locations import ObjectKind, PlacedObject
from twinhive.federation.cluster_view.splicing import Splice, other_map, other_text, spliced
from twinhive.federation.cluster_view.visibility_rules import PLACE_KEYS, Sight, Whereabouts


def shown(raw: bytes, objects: Sequence[PlacedObject], whereabouts: Iterable[Whereabouts], sight: Sight) -> bytes:
    """Return bytes in which each of these objects is as the cluster sees it."""
    pairs = zip(objects, whereabouts, strict=True)
    return spliced(raw, [splice for one, where in pairs for splice in _splices(one, where, sight)])


def database_place(entries: Mapping[str, str], place: str, where: Whereabouts, sight: Sight) -> str:
    """Return where the cluster sees a database: what is made there without a place of its own goes below."""
    root = entries.get(f"{ROOT}{sight.cluster}", "")
    if where.primary != sight.cluster and root and sight.is_here(root):
        return root
    return where.shown(place, sight)


def _splices(one: PlacedObject, where: Whereabouts, sight: Sight) -> Iterator[Splice]:
    for spot in (one.location, *one.others):
        if spot is not None and spot.text:
            new = _place(one, spot.text, where, sight)
            if new != spot.text:
                yield other_text(spot, new)
    if one.kind is ObjectKind.DATABASE:
        return
    for found in (one.parameters, *one.inner):
        if found is None:
            continue
        entries = {key: _value(key, value, where, sight) for key, value in found.entries.items()}
        if entries != found.entries:
            yield other_map(found, entries)


def _place(one: PlacedObject, place: str, where: Whereabouts, sight: Sight) -> str:
    match one.kind:
        case ObjectKind.DATABASE:
            return database_place(one.entries, place, where, sight)
        case ObjectKind.OTHER:
            other = sight.other(place)
            return place if other is None else sight.absent(place, other)
        case ObjectKind.TABLE | ObjectKind.PARTITION:
            return where.shown(place, sight)
        case _:
            assert_never(one.kind)


def _value(key: str, value: str, where: Whereabouts, sight: Sight) -> str:
    """Return what is shown of a parameter: other texts than places stay, whatever they are."""
    if "://" not in value:
        return value
    if where.primary == sight.cluster:
        return where.shown(value, sight) if key in PLACE_KEYS else value
    if value == where.own or key in PLACE_KEYS or sight.other(value) is not None:
        return where.shown(value, sight)
    return value
