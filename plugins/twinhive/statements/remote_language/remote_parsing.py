"""Read statements about remotes: text in, values out."""

import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from lark import Token, Tree

from twinhive.core.model.remotes.definitions import REMOTE
from twinhive.statements.language.nodes import parts_of, said_by, tokens_of, word_of
from twinhive.statements.language.syntax import Grammar, Node
from twinhive.statements.language.syntax_errors import Misplaced, pointed_at
from twinhive.statements.remote_language.remote_values import (
    CreateConnector,
    CreateRemoteDatabase,
    CreateRemoteTable,
    DescribeRemote,
    DropConnector,
    DropRemoteDatabase,
    DropRemoteTable,
    NameSaid,
    Property,
    RemoteStatement,
    ShowConnectors,
    ShowRemotes,
    UseDatabase,
)

CORRECT_IT = "correct the statement; docs/remotes.md has the grammar, with examples"
_ONE_WAY = (
    "say either USING, with the remote's name as 'connector.remoteDbName' in DBPROPERTIES, or CONNECTED TO and VIA; "
    "a remote table has no USING (docs/remotes.md)"
)
_DATABASE = re.compile(r"\w+", re.ASCII)
_FAMILY = re.compile(
    r"(?:\s|--[^\n]*\n)*(?:(?:create|drop|show)(?:\s|--[^\n]*\n)+(?:remote|connectors?)\b|desc(?:ribe)?|use)\b",
    re.IGNORECASE,
)

_SAID_ELSEWHERE: Mapping[str, str] = {REMOTE: "CONNECTED TO", f"{REMOTE}_via": "VIA"}
"""Keys by which a remote is kept: a property of this name would be passed over without a word."""
_NOTHING: Mapping[str, str] = {}

_NAMES: Mapping[str, str] = {
    **{f"_{word}": word for word in ("CREATE", "DROP", "SHOW", "DESCRIBE", "USE", "REMOTE", "TABLE", "DATABASE")},
    **{word: word for word in ("TABLE", "DATABASE", "TABLES", "DATABASES", "EXTENDED")},
    "NAME": "a name (`in backticks` if it is a word of the grammar)",
    "DOT": "'.'",
    **{f"_{word}": word for word in ("IF", "NOT", "EXISTS", "CONNECTED", "TO", "VIA", "IN", "FROM", "LIKE", "WITH")},
    **{f"_{word}": word for word in ("TBLPROPERTIES", "DBPROPERTIES", "DCPROPERTIES")},
    **{f"_{word}": word for word in ("CONNECTOR", "CONNECTORS", "USING", "TYPE", "URL", "COMMENT")},
    "LPAR": "'('",
    "STRING": "a text in quotes",
    "EQUAL": "'='",
    "COMMA": "','",
    "RPAR": "')'",
    "$END": "the end of the statement",
}


def _advice(found: str, allowed: Collection[str]) -> str:
    if found in ("USING", "VIA", "CONNECTED") and "_WITH" in allowed:
        return _ONE_WAY
    return CORRECT_IT


_GRAMMAR = Grammar(Path(__file__).with_name("grammar.lark"), ("statement",), _NAMES, _advice)


def is_about_remotes(text: str) -> bool:
    """True for a text that begins as these statements do."""
    return _FAMILY.match(text) is not None


def parse_remote(text: str) -> RemoteStatement:
    """Read one statement. Raises InvalidSettings that points at the first place that is wrong."""
    try:
        [child] = _GRAMMAR.tree_of(text, "statement").children
        assert isinstance(child, Tree)
        return _READERS[str(child.data)](child)
    except Misplaced as wrong:
        raise pointed_at(text, wrong) from None


def _create_table(tree: Node) -> CreateRemoteTable:
    parts = parts_of(tree)
    return CreateRemoteTable(
        _name(parts["name"]),
        _name(parts_of(parts["connected"])["name"]) if "connected" in parts else None,
        _via(parts),
        _properties(parts.get("table_properties"), _SAID_ELSEWHERE),
        "if_not_exists" in parts,
    )


def _create_database(tree: Node) -> CreateRemoteDatabase:
    parts = parts_of(tree)
    return CreateRemoteDatabase(
        _database(parts["name"]),
        _database(parts_of(parts["connected"])["name"]) if "connected" in parts else None,
        _via(parts),
        _properties(parts.get("database_properties"), {} if "using" in parts else _SAID_ELSEWHERE),
        "if_not_exists" in parts,
        _checked_name(tokens_of(parts["using"])[0], "connector") if "using" in parts else None,
    )


def _create_connector(tree: Node) -> CreateConnector:
    parts = parts_of(tree)
    name, kind, url = tokens_of(tree)
    return CreateConnector(
        _checked_name(name, "connector"),
        said_by(kind),
        said_by(url),
        said_by(tokens_of(parts["comment"])[0]) if "comment" in parts else None,
        _properties(parts.get("connector_properties")),
        "if_not_exists" in parts,
    )


def _drop_connector(tree: Node) -> DropConnector:
    return DropConnector(_checked_name(tokens_of(tree)[0], "connector"), "if_exists" in parts_of(tree))


def _show_connectors(tree: Node) -> ShowConnectors:
    parts = parts_of(tree)
    return ShowConnectors(said_by(tokens_of(parts["like"])[0]) if "like" in parts else None)


def _drop(tree: Node) -> DropRemoteTable | DropRemoteDatabase:
    parts = parts_of(tree)
    if tokens_of(tree)[0].type == "TABLE":
        return DropRemoteTable(_name(parts["name"]), "if_exists" in parts)
    return DropRemoteDatabase(_database(parts["name"]), "if_exists" in parts)


def _show(tree: Node) -> ShowRemotes:
    parts = parts_of(tree)
    database = _database(parts_of(parts["in_database"])["name"]) if "in_database" in parts else None
    like = said_by(tokens_of(parts["like"])[0]) if "like" in parts else None
    return ShowRemotes(tokens_of(tree)[0].type == "DATABASES", database, like)


def _describe(tree: Node) -> DescribeRemote:
    return DescribeRemote(_name(parts_of(tree)["name"]), bool(tokens_of(tree)))


def _use(tree: Node) -> UseDatabase:
    return UseDatabase(_database(parts_of(tree)["name"]))


_READERS: Mapping[str, Callable[[Node], RemoteStatement]] = {
    "create_table": _create_table,
    "create_database": _create_database,
    "create_connector": _create_connector,
    "drop_connector": _drop_connector,
    "show_connectors": _show_connectors,
    "drop": _drop,
    "show": _show,
    "describe": _describe,
    "use": _use,
}


def _name(tree: Node) -> NameSaid:
    first, *more = tokens_of(tree)
    for token in (first, *more):
        if not word_of(token).strip():
            raise Misplaced(token.start_pos or 0, found="blanks", expected="a name", next_step=CORRECT_IT)
    if not more:
        return NameSaid(None, word_of(first))
    return NameSaid(_checked_name(first), word_of(more[0]))


def _database(tree: Node) -> str:
    first, *more = tokens_of(tree)
    if more:
        raise Misplaced(
            more[0].start_pos or 0,
            found=f"{first}.{more[0]} as the name of a database",
            expected="one word",
            next_step=CORRECT_IT,
        )
    return _checked_name(first)


def _checked_name(token: Token, kind: str = "database") -> str:
    name = word_of(token)
    if not _DATABASE.fullmatch(name):
        raise Misplaced(
            token.start_pos or 0,
            found=f"{name} as the name of a {kind}",
            expected="letters a to z, digits and _, in any case",
            next_step=CORRECT_IT,
        )
    return name


def _via(parts: Mapping[str, Node]) -> str | None:
    return said_by(tokens_of(parts["via"])[0]) if "via" in parts else None


def _properties(tree: Node | None, said_elsewhere: Mapping[str, str] = _NOTHING) -> tuple[Property, ...]:
    tokens = [] if tree is None else tokens_of(tree)
    properties: dict[str, str] = {}
    for key_token, value_token in zip(tokens[::2], tokens[1::2], strict=True):
        key = said_by(key_token)
        if not key.strip() or key in properties:
            found = f"key {key} for the second time" if key.strip() else "a key without a name"
            raise Misplaced(
                key_token.start_pos or 0, found=found, expected="each key once, with a name", next_step=CORRECT_IT
            )
        if key in said_elsewhere:
            raise Misplaced(
                key_token.start_pos or 0,
                found=f"{key}, which the statement says by {said_elsewhere[key]}",
                expected="what the connector is told",
                next_step=CORRECT_IT,
            )
        properties[key] = said_by(value_token)
    return tuple(properties.items())
