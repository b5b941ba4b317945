"""A struct read as its bytes come in: where it ends, and what is in it, without holding it and without reading twice.

Whole values are passed over in C. A value whose end is not there yet is waited for, or, once it is large, entered: then
its parts are passed over as they come. So time is linear in the bytes however they arrive.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from struct import Struct as Packing
from typing import Final

from twinhive.hive.wire.field_roles import looked_into
from twinhive.hive.wire.method_table import LIST, MAP, SET, STRING, STRUCT, STRUCTS, Field, Kind, Struct
from twinhive.hive.wire.roles import Role
from twinhive.hive.wire.thrift_message import STOP, WireError
from twinhive.hive.wire.thrift_skip import FIXED, Short, StructRun, end_of

_SHORT: Final = Packing("!h").unpack_from
_INT: Final = Packing("!i").unpack_from
_LARGE: Final = 1 << 14
_MANY: Final = 1 << 15
_DEEPEST: Final = 64
_MOST_STEPS: Final = 20_000
_BYTES_PER_STEP: Final = 1_024
"""Of a request. A metastore's answers are no client's, and their names are looked at one by one."""
_OF_ANSWERS: Final = (2_000_000, 32)
_PASSED_PER_STEP: Final = 64
"""A step takes three microseconds; a value that is passed over with many others takes a sixty-fourth of that."""
STEPS_AT_ONCE: Final = 2_000
_MOST_ALIKE: Final = 1 << 12
_WORTHWHILE: Final = 64
_LEAST: Final = {**FIXED, STRING: 4, STRUCT: 1, LIST: 5, SET: 5, MAP: 6}
"""Bytes that a value has at least."""


@dataclass(slots=True)
class _Level:
    """A struct or a container that was entered. Of a struct `struct` says what the table knows of it."""

    struct: Struct | None
    fields: Mapping[int, Field]
    kinds: tuple[Kind, ...] = ()
    field: Field | None = None
    left: int = 0
    """Values of a container that are still to come; keys and values of a map count one each."""

    @property
    def is_at_key(self) -> bool:
        """Say whether the next value of a container is the key of a map."""
        return len(self.kinds) == 2 and self.left % 2 == 0

    @property
    def holds_plain_texts(self) -> bool:
        """Say whether a container holds texts that nobody looks at."""
        is_looked_at = self.field is not None and self.field.role is not None
        return not is_looked_at and all(kind.code == STRING for kind in self.kinds)


def _texts_alike(window: bytes, at: int, most: int) -> int:
    """Count the texts from `at` on that are as long as the first of them, and there as a whole.

    Each byte of their lengths is at the same distance from that of the next, and compared in C.
    """
    head = window[at : at + 4]
    if len(head) < 4 or head[0] > 0x7F:
        return 0
    step: int = 4 + _INT(head)[0]
    count = min(most, (len(window) - at) // step)
    for place in range(4):
        same = window[at + place : at + count * step : step]
        count = len(same) - len(same.lstrip(head[place : place + 1]))
    return count


class StructScan:
    """Find the end of a struct in bytes that are fed; subclasses see texts and whole structs that have names."""

    def __init__(self, struct: Struct, roles: frozenset[Role], most_bytes: int) -> None:
        self._roles = roles
        self._most = most_bytes
        self._read = self._pieces = self.steps = self._skipped = 0
        self._next_pause = STEPS_AT_ONCE
        self._run = StructRun()
        self._levels = [self._level(struct)]
        self._waiting = bytearray()
        self._needed = 0
        self.window = b""
        """What was fed and not read yet; after the end, what came behind it."""
        self.at = 0
        self.is_request = False
        self.pauses = False
        """Whether `feed` reads on for some milliseconds only, for who lets others go on meanwhile."""
        self.is_paused = False
        """More can be read of what was fed already: then `feed` is called again, with nothing."""

    def holds(self, data: bytes) -> bool:
        """Take some bytes, to be read with those that come next: `feed` takes as long again for few as for many.

        False where they should be fed instead, for they are many, or may be the last: a struct ends with a zero.
        """
        if len(self._waiting) + len(data) >= _MANY or data.endswith(STOP):
            return False
        self._hold(data)
        return True

    def feed(self, data: bytes) -> bool:
        """Read on with more bytes; say whether the struct has ended. Raises WireError."""
        self._hold(data)
        self.is_paused = False
        if len(self.window) + len(self._waiting) >= self._needed:
            self.window += self._waiting
            self._waiting, self._needed = bytearray(), 0
            while self._levels and not self.is_paused and self._advance():
                self.steps += 1
                self._look_at_steps()
                if self.pauses and self.steps >= self._next_pause:
                    self.is_paused, self._next_pause = True, self.steps + STEPS_AT_ONCE
            self.read_to(self.at)
            self.window, self._needed, self.at = self.window[self.at :], self._needed - self.at, 0
        if self._levels and self._read > self._most:
            raise WireError(f"a message of more than {self._most} bytes")
        return self.ended

    def _hold(self, data: bytes) -> None:
        self._waiting += data
        self._read += len(data)
        self._pieces += bool(data)

    @property
    def ended(self) -> bool:
        """Say whether the struct is there as a whole."""
        return not self._levels

    def read_to(self, at: int) -> None:
        """Take note that the window is read up to here, and will begin here."""

    def text(self, field: Field, at: int, end: int) -> None:
        """Take a text with a role in a struct that was entered; its length stands at `at`."""

    def structs(self, struct: Struct, at: int, end: int, count: int) -> None:
        """Take whole structs with names."""

    def entered(self) -> None:
        """Take note that a struct with names begins."""

    def left(self) -> None:
        """Take note that a struct that was entered has ended."""

    def most_whole(self, kind: Kind) -> int:
        """Return how many bytes of a struct are waited for; one that is longer is entered."""
        return _LARGE

    def is_entered(self, kind: Kind) -> bool:
        """Say of a struct whether what is in it is wanted, even where it is there as a whole."""
        return False

    def _level(self, struct: Struct | None) -> _Level:
        return _Level(struct, looked_into(struct, self._roles) if struct is not None else {})

    def _look_at_steps(self) -> None:
        """Give up a message that takes more time than any real one, however that comes: each piece has a step free."""
        taken = self.steps + self._skipped // _PASSED_PER_STEP
        most, bytes_per_step = (_MOST_STEPS, _BYTES_PER_STEP) if self.is_request else _OF_ANSWERS
        if taken > most + self._pieces + self._read // bytes_per_step:
            raise WireError("a message of more and smaller values than any real one has")

    def _advance(self) -> bool:
        level = self._levels[-1]
        if level.kinds:
            return self._next_of_container(level)
        if self.at >= len(self.window):
            return False
        code = self.window[self.at]
        if code == 0:
            self.at += 1
            self._levels.pop()
            self.left()
            return True
        if self.at + 3 > len(self.window):
            return False
        field = level.fields.get(_SHORT(self.window, self.at + 1)[0])
        if field is None or field.kind.code != code:
            return self._value(Kind(code), None, self.at + 3)
        return self._value(field.kind, field, self.at + 3)

    def _next_of_container(self, level: _Level) -> bool:
        if not level.left:
            self._levels.pop()
            return True
        if all(kind.code in FIXED for kind in level.kinds):
            return self._some_of_one_size(level)
        if level.holds_plain_texts and self._some_texts(level):
            return True
        kind = level.kinds[0] if level.is_at_key else level.kinds[-1]
        if (
            kind.code == STRUCT
            and len(level.kinds) == 1
            and (passed := self.some_structs(kind, level.field, level.left))
        ):
            level.left -= passed
            self._skipped += passed
            # The next one is not there as a whole, and only one that is large is entered.
            return not level.left or len(self.window) - self.at >= self.most_whole(kind)
        taken = self._value(kind, None if level.is_at_key else level.field, self.at)
        level.left -= taken
        return taken

    def some_structs(self, kind: Kind, field: Field | None, most: int) -> int:
        """Pass over structs that are there as a whole, at most so many, and return how many."""
        count, end = self._run.passed(self.window, self.at, most)
        if count:
            self._take(kind, field, self.at, end, count)
        return count

    def _some_texts(self, level: _Level) -> bool:
        """Pass over texts that are there as a whole, so many in one loop: a list of names of partitions has 30,000."""
        window, at, left = self.window, self.at, level.left
        last = len(window) - 4
        while left and (alike := _texts_alike(window, at, min(left, _MOST_ALIKE))) >= _WORTHWHILE:
            at += alike * (4 + _INT(window, at)[0])
            left -= alike
        while left and at <= last:
            length = _INT(window, at)[0]
            if length < 0 or at + length > last:
                break  # what is wrong with it, or missing of it, is said where a single one is read
            at += 4 + length
            left -= 1
        passed = level.left - left
        self.at, level.left = at, left
        self._skipped += passed
        return passed > 0

    def _some_of_one_size(self, level: _Level) -> bool:
        size = sum(FIXED[kind.code] for kind in level.kinds)
        count = min(level.left // len(level.kinds), (len(self.window) - self.at) // size)
        level.left -= count * len(level.kinds)
        self.at += count * size
        return count > 0

    def _value(self, kind: Kind, field: Field | None, at: int) -> bool:
        """Pass over a value, or enter it; False when more bytes are needed, and nothing was taken."""
        match kind.code:
            case code if code in FIXED:
                return self._bytes(at, FIXED[code])
            case code if code == STRING:
                return self._string(field, at)
            case code if code == STRUCT:
                return self._struct(kind, field, at)
            case code if code in (LIST, SET, MAP):
                return self._container(kind, field, at)
            case code:
                raise WireError(f"{code} is no type of Thrift")

    def _bytes(self, at: int, count: int) -> bool:
        """Pass over bytes if they are there; else say how many must be."""
        if count < 0 or count > self._most:
            raise WireError(f"a value of {count} bytes, where {self._most} are allowed")
        if at + count > len(self.window):
            self._needed = at + count
            return False
        self.at = at + count
        return True

    def _string(self, field: Field | None, at: int) -> bool:
        if at + 4 > len(self.window) or not self._bytes(at + 4, _INT(self.window, at)[0]):
            return False
        if field is not None and field.role is not None:
            self.text(field, at, self.at)
        return True

    def _struct(self, kind: Kind, field: Field | None, at: int) -> bool:
        try:
            end = 0 if self.is_entered(kind) else end_of(self.window, at)
        except Short:
            if len(self.window) - at < self.most_whole(kind):
                return False
            end = 0
        if not end:
            self.at = at
            self._enter(self._level(None if field is None else STRUCTS.get(kind.struct)))
            return True
        self._take(kind, field, at, end, 1)
        return True

    def _take(self, kind: Kind, field: Field | None, at: int, end: int, count: int) -> None:
        if field is not None and kind.struct in STRUCTS:
            self.structs(STRUCTS[kind.struct], at, end, count)
        self.at = end

    def _container(self, kind: Kind, field: Field | None, at: int) -> bool:
        codes = 2 if kind.code == MAP else 1
        if at + codes + 4 > len(self.window):
            return False
        kinds = tuple(Kind(code) for code in self.window[at : at + codes])
        if tuple(part.code for part in kind.parts) == tuple(part.code for part in kinds):
            kinds = kind.parts
        else:
            field = None  # not what the table says: nobody reads it
        count = _INT(self.window, at + codes)[0]
        if count < 0 or sum(_LEAST.get(one.code, 1) for one in kinds) * count > self._most:
            raise WireError(f"a container of {count} values, where {self._most} bytes are allowed")
        self.at = at + codes + 4
        if count:
            self._enter(_Level(None, {}, kinds, field, count * codes))
        return True

    def _enter(self, level: _Level) -> None:
        if len(self._levels) >= _DEEPEST:
            raise WireError(f"more than {_DEEPEST} structs and containers inside each other")
        self._levels.append(level)
        if not level.kinds:
            self.entered()
