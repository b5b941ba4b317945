"""Read a statement of Hive or Spark SQL: which tables it writes and reads. What may be anything is refused.

sqlglot reads most of it. Its import takes 17 MB, so import this module late.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import exp, parse
from sqlglot.errors import SqlglotError

from twinhive.model.errors import ActNow
from twinhive.model.names import TableName
from twinhive.routing.conditions import conditions_of
from twinhive.routing.own_commands import NAMES_A_LOCATION, OwnCommand, explained, names_a_location, read_command
from twinhive.routing.predicates import ALL, Predicate
from twinhive.routing.uses import ReadTable, StatementUses
from twinhive.routing.words import Words, words_of

logging.getLogger("sqlglot").setLevel(logging.ERROR)  # what it cannot read is our business
_CATALOGS = ("", "hive", "spark_catalog")
_FILE_FORMATS = ("parquet", "orc", "csv", "json", "text", "avro", "binaryfile")
_DATABASES = ("DATABASE", "SCHEMA", "NAMESPACE")
_QUERIES = (exp.Query, exp.Values)
_LONGEST = 200
_TABLE_FUNCTIONS = (
    *("range", "stack", "json_tuple", "parse_url_tuple", "explode_outer", "posexplode_outer", "inline_outer"),
    *("variant_explode", "variant_explode_outer", "sql_keywords", "collations"),
)
"""Functions in place of a table that read nothing but what they are given; of others nobody knows what they read."""


def read_statement(sql: str, database: str) -> StatementUses:
    """Return what one statement touches; names without a database are in `database`. Raises ActNow."""
    try:
        return _read(sql.strip().rstrip(";").strip(), database)
    except RecursionError as error:
        raise _not_understood(sql, "more conditions or queries in one another than can be followed") from error


def _read(text: str, database: str) -> StatementUses:
    words = words_of(text)
    if words.unclear:
        raise _not_understood(text, words.unclear)
    text = words.text
    if (inner := explained(text)) is not None:
        return _read(inner.strip(), database)
    trees = _parsed(text)
    if trees is not None and len(trees) != 1:
        raise _not_understood(text, f"{len(trees)} statements")
    known = trees is not None and isinstance(trees[0], tuple(kind for kinds in _KINDS for kind in kinds))
    if not known and (command := read_command(text)) is not None:
        return _of_command(command, database)
    if trees is None:
        raise _not_understood(text, "no statement of SQL that is known here")
    return _Reader(text, database).uses(trees[0])


def view_reads(text: str, database: str) -> tuple[ReadTable, ...]:
    """Return what a view reads: its text is a query; names without a database are in `database`. Raises ActNow."""
    trees = _parsed(text)
    if trees is None or len(trees) != 1 or not isinstance(trees[0], _QUERIES):
        raise _not_understood(text, "no query")
    uses = _Reader(text, database).uses(trees[0])
    if uses.unknown:
        raise _not_understood(text, "; ".join(uses.unknown))
    return uses.inputs


def _parsed(text: str) -> list[exp.Expr] | None:
    try:
        trees = [tree for tree in parse(text, dialect="hive") if tree is not None]
    except (SqlglotError, RecursionError):
        return None
    if any(isinstance(tree, exp.Command) for tree in trees):
        return None
    words = words_of(text)
    for tree in trees:
        _forget_what_is_unclear(tree, words)
    return trees


def _forget_what_is_unclear(tree: exp.Expr, words: Words) -> None:
    """Take texts away that engines read differently, and conditions of pipes, whose columns may be made before."""
    for literal in list(tree.find_all(exp.Literal)) if words.escaped else []:
        if literal.is_string and literal.this in words.escaped:
            literal.replace(exp.Placeholder())
    for where in tree.find_all(exp.Where) if words.has_pipes else []:
        where.set("this", exp.Anonymous(this="piped", expressions=[where.this]))


def _not_understood(text: str, found: str) -> ActNow:
    shown = " ".join(text.split())
    return ActNow(
        "the statement cannot be routed: it may touch tables that nobody can name",
        found=f"{found}: {shown[:_LONGEST]}{'...' if len(shown) > _LONGEST else ''}",
        expected="one statement of Hive SQL whose tables can be read from its text",
        next_step="correct it, or run it by the Spark or Hive of the cluster that it belongs to",
    )


def _of_command(command: OwnCommand, database: str) -> StatementUses:
    def named(parts: Sequence[str]) -> TableName:
        return TableName((parts[0] if len(parts) > 1 else database).lower(), parts[-1].lower())

    return StatementUses(
        tuple(map(named, command.outputs)), tuple(ReadTable(named(one)) for one in command.inputs), command.unknown
    )


@dataclass
class _Reader:
    """Reads one statement; what it has found so far."""

    text: str
    database: str
    outputs: list[TableName] = field(default_factory=list)
    inputs: list[tuple[int, ReadTable]] = field(default_factory=list)
    """Each with its place in the text."""
    unknown: list[str] = field(default_factory=list)
    temporary: list[TableName] = field(default_factory=list)
    made: list[TableName] = field(default_factory=list)

    def uses(self, tree: exp.Expr) -> StatementUses:
        """Return what a statement touches. Raises ActNow for a kind that is not known."""
        for kinds, read in _KINDS.items():
            if isinstance(tree, kinds):
                read(self, tree)
                return self._found()
        raise _not_understood(self.text, f"a {type(tree).__name__}")

    def query(self, tree: exp.Expr) -> None:
        """Read a query by itself."""
        self._read(tree, frozenset())

    def insert(self, tree: exp.Expr) -> None:
        """Read INSERT."""
        self._insert(tree, frozenset())

    def inserts(self, tree: exp.Expr) -> None:
        """Read FROM ... INSERT ... INSERT ..."""
        ctes = self._read_ctes(tree, frozenset())
        self._read(tree.args["source"], ctes)
        for insert in tree.expressions:
            self._insert(insert, ctes)

    def change(self, tree: exp.Expr) -> None:
        """Read MERGE, UPDATE, DELETE."""
        self._write(tree.this)
        self._read_parts(tree, self._read_ctes(tree, frozenset()), besides=(tree.this,))

    def tables(self, tree: exp.Expr) -> None:
        """Read TRUNCATE, ANALYZE, LOAD."""
        for table in tree.args.get("expressions") or tree.args.get("tables") or [tree.this]:
            self._write(table)

    def parts(self, tree: exp.Expr) -> None:
        """Read REFRESH, CACHE."""
        self._read_parts(tree, frozenset())

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
        ctes = self._read_ctes(tree, outer)
        self._read_parts(tree, ctes, besides=(tree.this,))

    def create(self, tree: exp.Expr) -> None:
        """Read CREATE. The query of a view is not run."""
        kind = (tree.args.get("kind") or "").upper()
        if tree.args.get("clone"):
            raise _not_understood(self.text, "CLONE, which is not one of Hive's tables")
        if tree.find(exp.TemporaryProperty) and kind in ("TABLE", "VIEW"):
            self.temporary.append(self._table(tree.this))
        if kind == "TABLE" or (kind == "VIEW" and tree.find(exp.MaterializedProperty)):
            if tree.find(exp.LocationProperty):
                self.unknown.append(NAMES_A_LOCATION)
            if not tree.find(exp.TemporaryProperty):
                self._make(tree.this)
            if tree.expression is not None:
                besides = (tree.this, tree.args.get("properties"))
                self._read_parts(tree, self._read_ctes(tree, frozenset()), besides)
        elif kind not in ("VIEW", "FUNCTION", *_DATABASES):
            raise _not_understood(self.text, f"CREATE {kind}")

    def drop(self, tree: exp.Expr) -> None:
        """Read DROP."""
        kind = (tree.args.get("kind") or "").upper()
        tables = tree.args.get("tables") or ([tree.this] if tree.this else [])
        if kind == "TABLE" or tree.args.get("materialized"):
            for table in tables:
                self._write(table)
        elif kind in _DATABASES and tree.args.get("cascade"):
            raise _not_understood(self.text, "DROP DATABASE ... CASCADE, which drops tables that it does not name")
        elif kind not in ("VIEW", "FUNCTION", *_DATABASES):
            raise _not_understood(self.text, f"DROP {kind}")

    def alter(self, tree: exp.Expr) -> None:
        """Read ALTER."""
        if (tree.args.get("kind") or "").upper() != "VIEW":
            self._write(tree.this)
        if names_a_location(self.text):
            self.unknown.append(NAMES_A_LOCATION)

    def comment(self, tree: exp.Expr) -> None:
        """Read COMMENT ON TABLE."""
        if (tree.args.get("kind") or "").upper() != "TABLE":
            raise _not_understood(self.text, f"COMMENT ON {tree.args.get('kind')}")
        self._write(tree.this)

    def _write(self, node: exp.Expr) -> None:
        self.outputs.append(self._table(node))

    def _make(self, node: exp.Expr) -> None:
        self._write(node)
        self.made.append(self.outputs[-1])

    def _table(self, node: exp.Expr) -> TableName:
        table = node.this if isinstance(node, exp.Schema) else node
        name = self._name(table) if isinstance(table, exp.Table) else None
        if name is None:
            raise _not_understood(self.text, f"a {type(node).__name__} to write to")
        return name

    def _name(self, table: exp.Table) -> TableName | None:
        """Return a table's name, None for what is no table: a function, files by their path."""
        if isinstance(table.this, exp.Func):
            if isinstance(table.this, exp.Anonymous) and table.this.name.lower() not in _TABLE_FUNCTIONS:
                raise _not_understood(self.text, f"{table.this.name}(...) in place of a table, which may read anything")
            return None
        # `TABLE t` is read as a table of this name with an alias. `a.b` in quotes is one name to Spark, two to Hive.
        is_table_of_spark = table.name.lower() == "table" and not table.this.args.get("quoted")
        if not isinstance(table.this, exp.Identifier) or is_table_of_spark or "." in table.name + table.db:
            raise _not_understood(self.text, f"{table.sql(dialect='hive')}, which is no name of a table")
        if table.catalog.lower() not in _CATALOGS:
            raise _not_understood(self.text, f"catalog {table.catalog}, which is another metastore's")
        if table.db.lower() in _FILE_FORMATS and "/" in table.name:
            self.unknown.append(f"it reads files by their path: {table.name[:_LONGEST]}")
            return None
        return TableName((table.db or self.database).lower(), table.name.lower())

    # --- what is read

    def _read_ctes(self, tree: exp.Expr, outer: frozenset[str]) -> frozenset[str]:
        """Read the common table expressions of a node, each knowing those before it; return all names then known."""
        found = tree.args.get("with_")
        if found is None:
            return outer
        for cte in found.expressions:
            name = cte.alias.lower()
            self._read(cte.this, outer | {name} if found.args.get("recursive") else outer)
            outer = outer | {name}
        return outer

    def _read(self, node: exp.Expr, ctes: frozenset[str], where: Predicate = ALL) -> None:
        ctes = self._read_ctes(node, ctes)
        if isinstance(node, exp.Table):
            is_cte = not node.db and isinstance(node.this, exp.Identifier) and node.name.lower() in ctes
            if not is_cte and (name := self._name(node)) is not None:
                self.inputs.append((node.this.meta.get("start", 0), ReadTable(name, where)))
        conditions = conditions_of(node) if isinstance(node, exp.Select) else {}
        self._read_parts(node, ctes, conditions=conditions)

    def _read_parts(
        self,
        node: exp.Expr,
        ctes: frozenset[str],
        besides: Sequence[object] = (),
        conditions: dict[int, Predicate] | None = None,
    ) -> None:
        for part in _parts(node):
            if not any(part is one for one in besides):
                self._read_below(part, ctes, conditions or {})

    def _read_below(self, part: exp.Expr, ctes: frozenset[str], conditions: dict[int, Predicate]) -> None:
        if isinstance(part, exp.From | exp.Join):
            # The table of a FROM or of a JOIN is one of the query around it, whose conditions may speak of it.
            for one in _parts(part):
                self._read(one, ctes, conditions.get(id(one), ALL))
            return
        self._read(part, ctes)


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
    (exp.Refresh, exp.Cache): _Reader.parts,
    (exp.Describe, exp.Use, exp.Set, exp.Grant, exp.Revoke, exp.Uncache): _Reader.nothing,
    (exp.Commit, exp.Rollback): _Reader.nothing,
}
"""All kinds of statements that are known; any other one is refused."""


def _parts(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the nodes right below one, in the order of the text as far as sqlglot keeps it; WITH is read before."""
    for name in sorted(node.args, key=lambda key: key not in ("from_", "this")):
        found = node.args[name]
        if name == "with_":
            continue
        for one in found if isinstance(found, list) else [found]:
            if isinstance(one, exp.Expr):
                yield one
