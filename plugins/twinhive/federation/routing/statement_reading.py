"""Read a statement of Hive or Spark SQL: which tables it writes and reads. What may be anything is refused.

sqlglot reads most of it. Its import takes 17 MB, so import this module late.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from twinhive.core.model.names import TableName
from twinhive.federation.routing.opaque_commands import (
    NAMES_A_LOCATION,
    OwnCommand,
    explained,
    is_of_more,
    names_a_location,
    read_command,
)
from twinhive.federation.routing.statement_trees import not_understood, parsed
from twinhive.federation.routing.statement_words import words_of
from twinhive.federation.routing.tables_read import TablesRead
from twinhive.federation.routing.uses import ReadTable, StatementUses

_DATABASES = ("DATABASE", "SCHEMA", "NAMESPACE")
_QUERIES = (exp.Query, exp.Values)


def read_statement(sql: str, database: str) -> StatementUses:
    """Return what one statement touches; names without a database are in `database`. Raises ActNow."""
    try:
        return _read(sql.strip().rstrip(";").strip(), database)
    except RecursionError as error:
        raise not_understood(sql, "more conditions or queries in one another than can be followed") from error


def _read(text: str, database: str) -> StatementUses:
    words = words_of(text)
    if words.unclear:
        raise not_understood(text, words.unclear)
    text = words.text
    if (inner := explained(text)) is not None:
        return _read(inner.strip(), database)
    if is_of_more(text):
        raise not_understood(text, "SET of more than a setting")
    trees = parsed(text)
    if trees is not None and len(trees) != 1:
        raise not_understood(text, f"{len(trees)} statements")
    known = trees is not None and isinstance(trees[0], tuple(kind for kinds in _KINDS for kind in kinds))
    if not known and (command := read_command(text)) is not None:
        return _of_command(command, database)
    if trees is None:
        raise not_understood(text, "no statement of SQL that is known here")
    return _Reader(text, database).uses(trees[0])


def view_reads(text: str, database: str) -> tuple[ReadTable, ...]:
    """Return what a view reads: its text is a query; names without a database are in `database`. Raises ActNow."""
    if why := words_of(text).unclear:
        raise not_understood(text, why)
    trees = parsed(text)
    if trees is None or len(trees) != 1 or not isinstance(trees[0], _QUERIES):
        raise not_understood(text, "no query")
    uses = _Reader(text, database).uses(trees[0])
    if uses.unknown:
        raise not_understood(text, "; ".join(uses.unknown))
    return uses.inputs


def _of_command(command: OwnCommand, database: str) -> StatementUses:
    def named(parts: Sequence[str]) -> TableName:
        return TableName((parts[0] if len(parts) > 1 else database).lower(), parts[-1].lower())

    return StatementUses(
        tuple(map(named, command.outputs)), tuple(ReadTable(named(one)) for one in command.inputs), command.unknown
    )


@dataclass
class _Reader(TablesRead):
    """Reads one statement; what it has found so far."""

    outputs: list[TableName] = field(default_factory=list)
    temporary: list[TableName] = field(default_factory=list)
    made: list[TableName] = field(default_factory=list)

    def uses(self, tree: exp.Expr) -> StatementUses:
        """Return what a statement touches. Raises ActNow for a kind that is not known."""
        for kinds, read in _KINDS.items():
            if isinstance(tree, kinds):
                read(self, tree)
                return self._found()
        raise not_understood(self.text, f"a {type(tree).__name__}")

    def query(self, tree: exp.Expr) -> None:
        """Read a query by itself."""
        self.read(tree, frozenset())

    def insert(self, tree: exp.Expr) -> None:
        """Read INSERT."""
        self._insert(tree, frozenset())

    def inserts(self, tree: exp.Expr) -> None:
        """Read FROM ... INSERT ... INSERT ..."""
        ctes = self.read_ctes(tree, frozenset())
        self.read(tree.args["source"], ctes)
        for insert in tree.expressions:
            self._insert(insert, ctes)

    def change(self, tree: exp.Expr) -> None:
        """Read MERGE, UPDATE, DELETE."""
        self._write(tree.this)
        self.read_parts(tree, self.read_ctes(tree, frozenset()), besides=(tree.this,))

    def tables(self, tree: exp.Expr) -> None:
        """Read TRUNCATE, ANALYZE, LOAD."""
        for table in tree.args.get("expressions") or tree.args.get("tables") or [tree.this]:
            self._write(table)

    def refresh(self, tree: exp.Expr) -> None:
        """Read REFRESH."""
        self.read_parts(tree, frozenset())

    def cache(self, tree: exp.Expr) -> None:
        """Read CACHE: of a table, or of a query under a name that the session alone knows."""
        is_query = tree.args.get("expression") is not None
        if is_query:
            self.temporary.append(self._table(tree.this))
        self.read_parts(tree, self.read_ctes(tree, frozenset()), besides=(tree.this,) if is_query else ())

    def nothing(self, tree: exp.Expr) -> None:
        """Read a statement about metadata, or the session."""

    def _found(self) -> StatementUses:
        inputs = tuple(read for _, read in sorted(self.inputs, key=lambda one: one[0]))
        outputs, unknown = tuple(dict.fromkeys(self.outputs)), tuple(dict.fromkeys(self.unknown))
        return StatementUses(outputs, inputs, unknown, tuple(self.temporary), tuple(dict.fromkeys(self.made)))

    def _insert(self, tree: exp.Expr, outer: frozenset[str]) -> None:
        if isinstance(tree.this, exp.Directory):
            self.unknown.append("it writes to a directory")
        else:
            self._make(tree.this)
        ctes = self.read_ctes(tree, outer)
        self.read_parts(tree, ctes, besides=(tree.this,))

    def create(self, tree: exp.Expr) -> None:
        """Read CREATE. The query of a view is not run."""
        kind = (tree.args.get("kind") or "").upper()
        if tree.args.get("clone"):
            raise not_understood(self.text, "CLONE, which is not one of Hive's tables")
        if tree.find(exp.TemporaryProperty) and kind in ("TABLE", "VIEW"):
            self.temporary.append(self._table(tree.this))
        if kind == "TABLE" or (kind == "VIEW" and tree.find(exp.MaterializedProperty)):
            self._created(tree)
        elif kind in _DATABASES and tree.find(exp.LocationProperty):
            self.unknown.append(NAMES_A_LOCATION)
        elif kind == "FUNCTION" and _has_query(tree):
            raise not_understood(self.text, "a function of a query: who calls it reads tables that nobody sees")
        elif kind not in ("VIEW", "FUNCTION", *_DATABASES):
            raise not_understood(self.text, f"CREATE {kind}")

    def _created(self, tree: exp.Expr) -> None:
        if tree.find(exp.LocationProperty) or any(map(_is_path, tree.find_all(exp.Property))):
            self.unknown.append(NAMES_A_LOCATION)
        if not tree.find(exp.TemporaryProperty):
            self._make(tree.this)
        if tree.expression is not None:
            besides = (tree.this, tree.args.get("properties"))
            self.read_parts(tree, self.read_ctes(tree, frozenset()), besides)

    def drop(self, tree: exp.Expr) -> None:
        """Read DROP."""
        kind = (tree.args.get("kind") or "").upper()
        tables = tree.args.get("tables") or ([tree.this] if tree.this else [])
        if kind == "TABLE" or tree.args.get("materialized"):
            for table in tables:
                self._write(table)
        elif kind in _DATABASES and tree.args.get("cascade"):
            raise not_understood(self.text, "DROP DATABASE ... CASCADE, which drops tables that it does not name")
        elif kind not in ("VIEW", "FUNCTION", *_DATABASES):
            raise not_understood(self.text, f"DROP {kind}")

    def alter(self, tree: exp.Expr) -> None:
        """Read ALTER."""
        if (tree.args.get("kind") or "").upper() != "VIEW":
            self._write(tree.this)
        if names_a_location(self.text):
            self.unknown.append(NAMES_A_LOCATION)

    def comment(self, tree: exp.Expr) -> None:
        """Read COMMENT ON TABLE."""
        if (tree.args.get("kind") or "").upper() != "TABLE":
            raise not_understood(self.text, f"COMMENT ON {tree.args.get('kind')}")
        self._write(tree.this)

    def _write(self, node: object) -> None:
        self.outputs.append(self._table(node))

    def _make(self, node: exp.Expr) -> None:
        self._write(node)
        self.made.append(self.outputs[-1])

    def _table(self, node: object) -> TableName:
        if not isinstance(node, exp.Expr):  # what the parser leaves where it has found no name
            raise not_understood(self.text, "nothing with a name to write to")
        table = node.this if isinstance(node, exp.Schema) else node
        if node.find(exp.Query, exp.Alias) is not None:
            raise not_understood(self.text, "a query in what is written, of which nobody knows when it is read")
        name = self.name(table) if isinstance(table, exp.Table) else None
        if name is None:
            raise not_understood(self.text, f"a {type(node).__name__} to write to")
        return name


def _has_query(function: exp.Expr) -> bool:
    """True for a function that is made of SQL, and reads tables."""
    return function.expression is not None and function.expression.find(exp.Table, exp.Query) is not None


def _is_path(said: exp.Property) -> bool:
    """True for the property by which Spark keeps where a table's files are."""
    return bool(said.name.lower() == "path")


_KINDS: dict[tuple[type[exp.Expr], ...], Callable[[_Reader, exp.Expr], None]] = {
    _QUERIES: _Reader.query,
    (exp.Insert,): _Reader.insert,
    (exp.MultitableInserts,): _Reader.inserts,
    (exp.Create,): _Reader.create,
    (exp.Drop,): _Reader.drop,
    (exp.Merge, exp.Update, exp.Delete): _Reader.change,
    (exp.Alter,): _Reader.alter,
    (exp.Comment,): _Reader.comment,
    (exp.TruncateTable, exp.Analyze, exp.LoadData): _Reader.tables,
    (exp.Refresh,): _Reader.refresh,
    (exp.Cache,): _Reader.cache,
    (exp.Describe, exp.Use, exp.Set, exp.Grant, exp.Revoke, exp.Uncache): _Reader.nothing,
    (exp.Commit, exp.Rollback): _Reader.nothing,
}
"""All kinds of statements that are known; any other one is refused."""
