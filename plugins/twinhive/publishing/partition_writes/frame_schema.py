"""Does a data frame fit a table: each of its columns there once, by name, with a type that loses nothing."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from twinhive.core.model.errors import ActNow
from twinhive.publishing.partition_writes.write_target import WriteTarget

_WIDER = {
    "tinyint": ("smallint", "int", "bigint", "float", "double"),
    "smallint": ("int", "bigint", "float", "double"),
    "int": ("bigint", "double"),
    "float": ("double",),
}
"""Types that hold every value of another exactly."""
_TEXTS = re.compile(r"(?:var)?char\((\d+)\)|string")
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")


@dataclass(frozen=True)
class FittedColumn:
    """A column of the frame as the table wants it: `source` is its name in the frame, `name` and `type` the table's."""

    source: str
    name: str
    type: str

    @property
    def longest(self) -> int | None:
        """How many characters a text may have, None without a limit: Spark knows none in a frame."""
        found = _TEXTS.fullmatch(self.type.lower().replace(" ", ""))
        return int(found[1]) if found and found[1] else None


def fitted(frame: Sequence[tuple[str, str]], target: WriteTarget) -> tuple[FittedColumn, ...]:
    """Return the frame's columns in the table's order, keys last; `frame` is (name, Spark's simple type).

    Raises ActNow that names every column which does not fit.
    """
    wanted = {name.lower(): (name, kind) for name, kind in (*target.columns, *target.keys)}
    there = {name.lower(): (name, kind) for name, kind in frame}
    problems = [
        *(f"{name} is there {count} times" for name, count in _repeated(frame)),
        *(f"{name} ({kind}) is missing" for key, (name, kind) in wanted.items() if key not in there),
        *(f"{name} is no column of the table" for key, (name, _) in there.items() if key not in wanted),
        *(
            f"{name} is {there[key][1]}, the table wants {kind}"
            for key, (name, kind) in wanted.items()
            if key in there and not fits(there[key][1], kind)
        ),
    ]
    if problems:
        raise ActNow(
            f"the data frame does not fit {target.table.name}",
            found="; ".join(problems),
            expected="each column and each partition key of the table once, by name, in its type or a narrower one",
            next_step="rename, cast or drop these columns before writing",
        )
    return tuple(FittedColumn(there[key][0], name, kind) for key, (name, kind) in wanted.items())


def fits(have: str, want: str) -> bool:
    """Tell whether every value of a type is one of another, the same."""
    have, want = have.lower().replace(" ", ""), want.lower().replace(" ", "")
    if have == want or want in _WIDER.get(have, ()):
        return True
    if _TEXTS.fullmatch(have) and _TEXTS.fullmatch(want):
        return True  # too long a text is found when it is written
    one, other = _DECIMAL.fullmatch(have), _DECIMAL.fullmatch(want)
    if one is None or other is None:
        return False
    (precision, scale), (wanted_precision, wanted_scale) = map(int, one.groups()), map(int, other.groups())
    return scale <= wanted_scale and precision - scale <= wanted_precision - wanted_scale


def _repeated(frame: Sequence[tuple[str, str]]) -> list[tuple[str, int]]:
    counted = Counter(name.lower() for name, _ in frame)
    return [(name, count) for name, count in counted.items() if count > 1]
