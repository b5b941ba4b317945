"""A remote's metastore, asked past its own gateway, has a view in the place of each remote table that is kept there.

Who reads that view gets its error. Partitions are asked for without reading: the view has none, and 'none' would be
believed. So where a metastore says that a table has no such partition, the table is looked at.
"""

from struct import Struct as Packing
from typing import Final

from twinhive.core.model.remotes.definitions import MARKER, UNREADABLE
from twinhive.federation.gateway.struct_edits import elements_at, place_of
from twinhive.hive.wire.method_table import I32, LIST, MAP, METHODS, SET, STRUCT
from twinhive.hive.wire.roles import Role
from twinhive.hive.wire.thrift_message import STOP, Head, MessageKind, WireMessage, call, struct_field, text_field
from twinhive.hive.wire.thrift_skip import end_of_value

_INT: Final = Packing("!i").unpack_from
_SUCCESS: Final = b"\0\0"
_ABOUT_PARTITIONS: Final = frozenset(
    name
    for name, method in METHODS.items()
    if name.startswith(("get_", "fetch_")) and "part" in name and method.asks_for(Role.TABLE)
) | {"get_aggr_stats_for"}

_SPECS: Final = {
    **dict.fromkeys(("get_partitions_pspec", "get_part_specs_by_filter"), (0,)),
    **dict.fromkeys(("get_partitions_spec_by_expr", "get_partitions_with_specs"), (0, 1)),
}
"""Methods that return partitions in groups, and where the groups are."""
_PARTITIONS: Final = ((4, 1), (5, 1))
"""Where the partitions of a group are: those that share its description, and the others."""
_NO_HEAD: Final = Head(MessageKind.REPLY, "", 0)


def says_no_partition(answer: WireMessage) -> bool:
    """True for an answer about partitions that has none of them, an error too."""
    if answer.head.method not in _ABOUT_PARTITIONS:
        return False
    raw, at = answer.raw, answer.at
    if (path := _SPECS.get(answer.head.method)) is not None and place_of(answer, path) is not None:
        return all(map(_is_empty, elements_at(answer, path)))
    if answer.head.kind is MessageKind.EXCEPTION or raw[at] == 0:
        return raw[at] != 0
    return raw[at + 1 : at + 3] != _SUCCESS or _holds_nothing(raw, raw[at], at + 3)


def _is_empty(spec: bytes) -> bool:
    """True for partitions that share a description where there are none: the metastore gives one for every table."""
    one = WireMessage(_NO_HEAD, spec, 0)
    places = (place_of(one, path) for path in _PARTITIONS)
    return all(place is None or _INT(spec, place.begin + 1)[0] == 0 for place in places)


def _holds_nothing(raw: bytes, code: int, at: int) -> bool:
    if code in (LIST, SET):
        return bool(_INT(raw, at + 1)[0] == 0)
    if code == MAP:
        return bool(_INT(raw, at + 2)[0] == 0)
    return bool(_INT(raw, at)[0] == 0) if code == I32 else code == STRUCT and _has_nothing_in_it(raw, at)


def _has_nothing_in_it(raw: bytes, at: int) -> bool:
    """True for a struct whose lists are empty, and that holds no other struct."""
    while code := raw[at]:
        if code == STRUCT or (code in (LIST, SET, MAP) and not _holds_nothing(raw, code, at + 3)):
            return False
        at = end_of_value(raw, code, at + 3)
    return True


def look_at(database: str, table: str) -> WireMessage:
    """Return the call for a table under the remote's own names."""
    asked = text_field(1, database) + text_field(2, table) + STOP
    return call("get_table_req", 0, struct_field(1, asked) + STOP)


def is_stub(table: WireMessage) -> bool:
    """True where the answer to that is the view that keeps a remote table."""
    return MARKER in table.raw and UNREADABLE.encode() in table.raw
