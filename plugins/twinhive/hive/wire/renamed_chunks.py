"""A large answer with other names, in pieces as it comes in: never held as a whole.

Whole structs with names are renamed run by run. The names of a struct that is too large for that, such as the answer
itself, are held back until the struct ends or a megabyte waits behind them; what is known of it by then decides. When
the rest of the struct says otherwise the answer breaks off with an error: a wrong name never gets a proper end.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from struct import Struct as Packing
from typing import Final

from twinhive.hive.wire.decoding import NamedRun, can_be_run
from twinhive.hive.wire.field_roles import FoundText, relate
from twinhive.hive.wire.message_renaming import NAMES, TextChange, renamed_struct, replaced, struct_of
from twinhive.hive.wire.method_table import LIST, STRUCT, STRUCTS, Field, Kind, Struct
from twinhive.hive.wire.renames import Renames
from twinhive.hive.wire.scanning import StructScan
from twinhive.hive.wire.thrift_message import WireError, WireMessage
from twinhive.hive.wire.thrift_skip import end_of

_INT: Final = Packing("!i")
_RUN_HEAD: Final = Packing("!bhbi")
_STOP: Final = b"\0"
_MOST_WAITING: Final = 1 << 20
_SLICE: Final = 1 << 18
_MOST_REMEMBERED: Final = 64
_MOST_CHANGED: Final = 4 << 20
StructChanges = Mapping[str, Callable[[bytes], bytes]]
"""By a struct's name what becomes of each one, encoded, besides its names."""


@dataclass(slots=True)
class _Held:
    """A name whose struct is not whole yet, and what it was sent on as."""

    found: FoundText
    sent: bytes | None = None


class PassedPieces(StructScan):
    """Hand the struct of an answer on as it is, and know where it ends."""

    def __init__(self, struct: Struct, most_bytes: int) -> None:
        super().__init__(struct, frozenset(), most_bytes)
        self._passed = bytearray()

    def taken(self) -> bytes:
        """Return what was read since the last time."""
        return self.behind(b"")

    def behind(self, head: bytes) -> bytes:
        """Return what was read since the last time, with something before it."""
        passed, self._passed = self._passed, bytearray()
        return b"".join((head, passed))

    def given_up(self) -> bytes:
        """Return all that was fed since the last time, for who reads it again; nothing can be fed any more."""
        return self.behind(b"") + self.window + self._waiting

    def read_to(self, at: int) -> None:
        """Take what was read before the window moves."""
        self._passed += self.window[:at]


class RenamedPieces(StructScan):
    """Rename the struct of an answer while it is fed; `taken` returns what can be sent on.

    A struct that is changed has to be there as a whole: one that is too large for that breaks the answer off.
    """

    def __init__(self, struct: Struct, renames: Renames, most_bytes: int, changes: StructChanges | None = None) -> None:
        super().__init__(struct, NAMES, most_bytes)
        self._changes = changes or {}
        self._renames = renames
        self._out: deque[bytearray | _Held] = deque()
        self._waiting_bytes = 0
        self._copied = 0
        self._open: list[list[_Held]] = [[]]
        self._runs: dict[str, NamedRun] = {}
        self._change = _remembering(renames.change)

    def taken(self) -> bytes:
        """Return what is ready since the last time. Raises WireError."""
        if self._waiting_bytes > _MOST_WAITING:
            for own in self._open:
                self._decide(own)
        ready = bytearray()
        while self._out and (part := _ready(self._out[0])) is not None:
            ready += part
            if isinstance(self._out.popleft(), bytearray):
                self._waiting_bytes -= len(part)
        return bytes(ready)

    def text(self, field: Field, at: int, end: int) -> None:
        """Hold a name back."""
        held = _Held(FoundText(field, at, self.window[at + 4 : end]))
        self._copy(at)
        self._out.append(held)
        self._open[-1].append(held)
        self._copied = end

    def structs(self, struct: Struct, at: int, end: int, count: int) -> None:
        """Rename a run of whole structs, as the one field of a struct that is a list of them."""
        self._copy(at)
        body = _RUN_HEAD.pack(LIST, 0, STRUCT, count) + self._changed(struct, at, end) + _STOP
        self._put(renamed_struct(body, 0, _list_of(struct), self._renames)[_RUN_HEAD.size : -1])
        self._copied = end

    def some_structs(self, kind: Kind, field: Field | None, most: int) -> int:
        """Rename a run of whole structs with one decoding for their ends and their names."""
        struct = STRUCTS.get(kind.struct)
        if field is None or struct is None or struct.name in self._changes or not can_be_run(struct, NAMES):
            return super().some_structs(kind, field, most)
        if (run := self._runs.get(struct.name)) is None:
            run = self._runs[struct.name] = NamedRun(struct, NAMES)
        try:
            count, end = run.passed(self.window, self.at, most)
        except WireError:  # a field of another type than the table says: names nobody looks at are passed over
            return super().some_structs(kind, field, most)
        if not count:
            return 0
        new = replaced(self.window[self.at : end], run.groups(count), self._change)
        if new is None:
            self.structs(struct, self.at, end, count)
        else:
            self._copy(self.at)
            self._put(new)
            self._copied = end
        self.at = end
        return count

    def most_whole(self, kind: Kind) -> int:
        """Wait for the whole of a struct that is changed."""
        return _MOST_CHANGED if kind.struct in self._changes else super().most_whole(kind)

    def is_entered(self, kind: Kind) -> bool:
        """Look for structs that are changed inside of all others."""
        return bool(self._changes) and kind.struct in STRUCTS and kind.struct not in self._changes

    def entered(self) -> None:
        """Collect the names of another struct. Raises WireError for one that has to be there as a whole."""
        struct = self._levels[-1].struct
        if struct is not None and struct.name in self._changes:
            raise WireError(f"a {struct.name} of more than {_MOST_CHANGED} bytes")
        self._open.append([])

    def left(self) -> None:
        """Decide about the names of the struct that has ended. Raises WireError when one was sent on as another."""
        self._decide(self._open.pop(), is_last=True)

    def read_to(self, at: int) -> None:
        """Take what was not taken yet before the window moves."""
        self._copy(at)
        self._copied = 0

    def _changed(self, struct: Struct, at: int, end: int) -> bytes:
        """Return a run of whole structs as they are to be, but for their names."""
        if (change := self._changes.get(struct.name)) is None:
            return self.window[at:end]
        changed = []
        while at < end:
            begin, at = at, end_of(self.window, at)
            changed.append(change(self.window[begin:at]))
        return b"".join(changed)

    def _copy(self, at: int) -> None:
        self._put(self.window[self._copied : at])
        self._copied = at

    def _put(self, data: bytes) -> None:
        self._waiting_bytes += len(data)
        if self._out and isinstance(last := self._out[-1], bytearray):
            last += data
        else:
            self._out.append(bytearray(data))

    def _decide(self, own: list[_Held], *, is_last: bool = False) -> None:
        """Decide about the names that were not sent yet; the last time look at all again."""
        relate([one.found for one in own])
        for one in own if is_last else [held for held in own if held.sent is None]:
            new = self._renames.change(one.found)
            text = one.found.text if new is None else new
            encoded = _INT.pack(len(text)) + text
            if one.sent is not None and one.sent != encoded:
                raise WireError("a name that was sent on already is another one by what came after it")
            one.sent = encoded


def _remembering(change: TextChange) -> TextChange:
    """Remember what became of the last names: those in the structs of a list are mostly the same."""
    known: dict[tuple[object, ...], bytes | None] = {}

    def remembered(one: FoundText) -> bytes | None:
        key = one.field.number, one.field.role, one.text, one.database, one.tables
        if key not in known:
            if len(known) >= _MOST_REMEMBERED:
                known.clear()
            known[key] = change(one)
        return known[key]

    return remembered


def _ready(one: bytearray | _Held) -> bytes | bytearray | None:
    return one.sent if isinstance(one, _Held) else one


@cache
def _list_of(struct: Struct) -> Struct:
    return Struct(f"list of {struct.name}", (Field(0, "run", Kind(LIST, "", (Kind(STRUCT, struct.name),))),))


def renamed_pieces(message: WireMessage, renames: Renames) -> Iterator[bytes]:
    """Yield a message with other names in pieces, so that others need not wait for all of it. Raises WireError."""
    pieces = RenamedPieces(struct_of(message), renames, len(message.raw))
    yield message.raw[: message.at]
    for at in range(message.at, len(message.raw), _SLICE):
        pieces.feed(message.raw[at : at + _SLICE])
        yield pieces.taken()
