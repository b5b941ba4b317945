"""The table of the server's methods, derived from the fields of its classes.

What comes in is what `sandbox.hive.metastore_api` reads from the server's jar; what goes out is committed beside this
module. Kept are the fields that name something, those that lead to them, and of answers whatever the method returns.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from twinhive.hive.wire.roles import UNDECIDED, Role, decided

FieldList = Sequence[tuple[int, str, str]]
"""Number, name and type (`list<Table>`) of each field of a struct."""

ARGUMENTS, RESULT = "_args", "_result"


def undecided(structs: Mapping[str, FieldList]) -> list[str]:
    """List the texts of which no rule says what they name."""
    return [
        f"{struct}.{name}"
        for struct, fields in structs.items()
        for _, name, kind in fields
        if "string" in words_of(kind) and decided(struct, name) == UNDECIDED
    ]


def derived(version: str, structs: Mapping[str, FieldList]) -> str:
    """Return the table as JSON: a method a line, then a struct a line."""
    naming = _naming(structs)
    methods = sorted(name.removesuffix(ARGUMENTS) for name in structs if name.endswith(ARGUMENTS))
    named = {name for name in structs if name in naming and not name.endswith((ARGUMENTS, RESULT))}
    rows: dict[str, dict[str, object]] = {
        "methods": {name: _method(name, structs, naming) for name in methods},
        "structs": {name: list(_kept(name, structs[name], naming)) for name in sorted(named)},
    }
    parts = [f'"hive": {json.dumps(version)}']
    for part, entries in rows.items():
        lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items())
        parts.append(f'"{part}": {{\n{lines}\n }}')
    return "{" + ",\n ".join(parts) + "}\n"


def words_of(kind: str) -> list[str]:
    """Return the names in a type: `map<string,Table>` has three."""
    return kind.replace("<", " ").replace(">", " ").replace(",", " ").split()


def _naming(structs: Mapping[str, FieldList]) -> set[str]:
    """Find the structs that name something, themselves or in what they hold."""
    found: set[str] = set()
    while True:
        more = {
            struct
            for struct, fields in structs.items()
            if struct not in found and any(_names(struct, name, kind, found) for _, name, kind in fields)
        }
        if not more:
            return found
        found |= more


def _names(struct: str, name: str, kind: str, naming: set[str]) -> bool:
    words = words_of(kind)
    return bool(naming.intersection(words)) or ("string" in words and isinstance(decided(struct, name), Role))


def _method(method: str, structs: Mapping[str, FieldList], naming: set[str]) -> dict[str, object]:
    if f"{method}{RESULT}" not in structs:  # nothing comes back, not even an empty answer
        request = list(_kept(f"{method}{ARGUMENTS}", structs[f"{method}{ARGUMENTS}"], naming))
        return {"request": request, "answer": [], "exceptions": [], "oneway": True}
    result = structs[f"{method}{RESULT}"]
    return {
        "request": list(_kept(f"{method}{ARGUMENTS}", structs[f"{method}{ARGUMENTS}"], naming)),
        "answer": [_entry(f"{method}{RESULT}", field, naming) for field in result if field[0] == 0],
        "exceptions": [[number, kind] for number, _, kind in result if number != 0],
    }


def _kept(struct: str, fields: FieldList, naming: set[str]) -> Iterator[list[object]]:
    return (_entry(struct, field, naming) for field in fields if _names(struct, field[1], field[2], naming))


def _entry(struct: str, field: tuple[int, str, str], naming: set[str]) -> list[object]:
    """Return number, name, type, and the role of its texts if they have one."""
    number, name, kind = field
    role = decided(struct, name) if "string" in words_of(kind) else None
    return [number, name, kind, role.value] if isinstance(role, Role) else [number, name, kind]
