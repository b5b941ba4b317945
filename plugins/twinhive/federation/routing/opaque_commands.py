"""Statements that sqlglot takes for opaque commands, or not at all: the few that name tables are read here."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

NameParts = tuple[str, ...]
"""The parts of a table's name as it is written: database and table, or the table alone."""

_NAME = r"(?P<{}>(?>(?:`(?:[^`]|``)+`|\w+)(?:\s*\.\s*(?:`(?:[^`]|``)+`|\w+))?))(?!\s*\.)"
_EXPLAIN = re.compile(
    r"explain\b(?:\s+(?:extended|formatted|cbo|ast|dependency|authorization|locks|vectorization(?:\s+(?:only|summary|operator|expression|detail))*|codegen|cost|debug"
    r"|reoptimization|ddl|analyze(?!\s+tables?\b)))*\s+(?P<inner>.+)",
    re.IGNORECASE | re.DOTALL,
)
_MSCK = re.compile(rf"(?:msck|repair|msck\s+repair)\s+table\s+{_NAME.format('table')}\b.*", re.IGNORECASE | re.DOTALL)
_EXCHANGE = re.compile(
    rf"alter\s+table\s+{_NAME.format('table')}\s+exchange\s+partition\s*\(.*\)\s*"
    rf"with\s+table\s+{_NAME.format('other')}\s*",
    re.IGNORECASE | re.DOTALL,
)
_EXPORT = re.compile(rf"export\s+table\s+{_NAME.format('table')}\b.*\bto\s+'.*", re.IGNORECASE | re.DOTALL)
_OF_METADATA = re.compile(
    r"(show|set|reset|reload|describe|desc|use|grant|revoke|commit|rollback|add\s+jar"
    r"|list\s+jars?)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_ALTER = re.compile(
    rf"alter\s+table\s+(?:if\s+exists\s+)?{_NAME.format('table')}\s+(?!.*\bexchange\s+(?:partitions?|with)\b).*",
    re.IGNORECASE | re.DOTALL,
)
_OF_A_QUERY = re.compile(r"set\s+(var|variable|catalog|collation)\b.*", re.IGNORECASE | re.DOTALL)
_OF_MEANING = re.compile(
    r"set\s+(?:hiveconf:|metaconf:)?`?(spark\.sql\.defaultCatalog|spark\.sql\.catalog\..*|hive\.metastore\.uris"
    r"|metastore\.thrift\.uris|metastore\.catalog\.default"
    r"|spark\.sql\.ansi\.doubleQuotedIdentifiers|hive\.support\.quoted\.identifiers"
    r"|spark\.sql\.legacy\.ctePrecedencePolicy|spark\.sql\.caseSensitive)`?\s*=.*",
    re.IGNORECASE | re.DOTALL,
)
"""Settings that say in which catalog names are, what stands in quotes, which names a WITH hides, or which are equal."""
_LOCATION = re.compile(r"\blocation\s*r?['\"]|\bskewed\s+location\b|['\"]path['\"]\s*=", re.IGNORECASE)
_PATH: Final = "path"
_TOKEN = re.compile(
    r"""r(?P<raw>'[^']*+'?|"[^"]*+"?)|(?P<text>'(?:[^'\\]|\\.?)*+'?|"(?:[^"\\]|\\.?)*+"?)|`(?P<name>[^`]*+)`?|\w+|\S""",
    re.IGNORECASE | re.DOTALL,
)
_ESCAPE = re.compile(
    r"\\(?:(?:u|U0000)(?P<hex>[0-9a-fA-F]{4})|(?P<octal>[01][0-7]{2})|(?P<one>[^0bnrtZ%_]))", re.DOTALL
)
"""Characters that are written with a backslash, but for those that are no letters."""
NAMES_A_LOCATION = "it names a location of its own"
_PART = re.compile(r"`((?:[^`]|``)+)`|(\w+)")


@dataclass(frozen=True)
class OwnCommand:
    """A statement that was read here: tables that it writes and reads, and what else it may touch."""

    outputs: tuple[NameParts, ...] = ()
    inputs: tuple[NameParts, ...] = ()
    unknown: tuple[str, ...] = ()


def explained(text: str) -> str | None:
    """Return the statement that an EXPLAIN is about, None for any other statement."""
    found = _EXPLAIN.fullmatch(text)
    return found["inner"] if found else None


def is_of_more(text: str) -> bool:
    """True for a SET that says more than a setting: its value may be a query, or it changes what names mean."""
    return bool(_OF_A_QUERY.fullmatch(text) or _OF_MEANING.fullmatch(text))


def read_command(text: str) -> OwnCommand | None:
    """Read a statement that sqlglot does not; None for one that nobody knows here."""
    if found := _EXCHANGE.fullmatch(text):
        return OwnCommand(outputs=(_names(found["table"]), _names(found["other"])))
    if found := _MSCK.fullmatch(text):
        return OwnCommand(outputs=(_names(found["table"]),))
    if found := _EXPORT.fullmatch(text):
        return OwnCommand(inputs=(_names(found["table"]),), unknown=("it writes to a directory",))
    if found := _ALTER.fullmatch(text):
        unknown = (NAMES_A_LOCATION,) if names_a_location(text) else ()
        return OwnCommand(outputs=(_names(found["table"]),), unknown=unknown)
    return OwnCommand() if _OF_METADATA.fullmatch(text) else None


def names_a_location(text: str) -> bool:
    """True for an ALTER that may say where files are: by LOCATION, or by the `path` that Spark keeps in its tables."""
    return bool(_LOCATION.search(text)) or any(map(_says_path, _properties(text)))


def _properties(text: str) -> Iterator[list[re.Match[str]]]:
    """Yield the tokens of each property, as Spark reads them: keys may be bare, and need no `=` after them."""
    found: list[re.Match[str]] | None = None
    before = ""
    for token in _TOKEN.finditer(text):
        said = token[0].lower()
        if found is None:
            found = [] if said == "(" and before.endswith("properties") else None
        elif said in (",", ")"):
            yield found
            found = [] if said == "," else None
        else:
            found.append(token)
        before = said


def _says_path(tokens: Sequence[re.Match[str]]) -> bool:
    """True for the key `path` and a value. Of texts after one another the first ones may together be the key."""
    key = ""
    for token, after in pairwise(tokens):
        key += _said(token)
        if key.lower() == _PATH:
            return after[0] != "."
        if len(key) > len(_PATH) or not (token["raw"] or token["text"]):
            return False
    return False


def _said(token: re.Match[str]) -> str:
    if token["text"]:
        return _ESCAPE.sub(_character, token["text"][1:-1])
    return token["raw"][1:-1] if token["raw"] else token["name"] or token[0]


def _character(escape: re.Match[str]) -> str:
    if escape["one"] is not None:
        return escape["one"]
    return chr(int(escape["hex"], 16) if escape["hex"] else int(escape["octal"], 8))


def _names(text: str) -> NameParts:
    return tuple((quoted or plain).replace("``", "`") for quoted, plain in _PART.findall(text))
