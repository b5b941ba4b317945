"""The tables that a query reads, wherever in it they stand: names of common table expressions are none."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from twinhive.core.model.names import TableName
from twinhive.core.model.table_formats import FILE_SOURCES
from twinhive.federation.routing.conditions import conditions_of
from twinhive.federation.routing.predicates import ALL, Predicate
from twinhive.federation.routing.statement_trees import LONGEST_SHOWN, not_understood
from twinhive.federation.routing.uses import ReadTable
from twinhive.hive.views.view_reading import is_word_before_a_table

_CATALOGS = ("", "hive", "spark_catalog")
_TABLE_FUNCTIONS = (
    *("range", "stack", "json_tuple", "parse_url_tuple", "explode_outer", "posexplode_outer", "inline_outer"),
    *("variant_explode", "variant_explode_outer", "sql_keywords", "collations"),
)
"""Functions in place of a table that read nothing but what they are given; of others nobody knows what they read."""


@dataclass
class TablesRead:
    """What has been found of one statement so far; names without a database are in `database`."""

    text: str
    database: str
    inputs: list[tuple[int, ReadTable]] = field(default_factory=list)
    """Each with its place in the text."""
    unknown: list[str] = field(default_factory=list)

    def name(self, table: exp.Table) -> TableName | None:
        """Return a table's name, None for what is no table: a function, files by their path."""
        if isinstance(table.this, exp.Func):
            if isinstance(table.this, exp.Anonymous) and table.this.name.lower() not in _TABLE_FUNCTIONS:
                raise not_understood(self.text, f"{table.this.name}(...) in place of a table, which may read anything")
            return None
        # `a.b` in quotes is one name to Spark, two to Hive.
        if not isinstance(table.this, exp.Identifier) or _is_word_before_a_name(table) or "." in table.name + table.db:
            raise not_understood(self.text, f"{table.sql(dialect='hive')}, which is no name of a table")
        if table.catalog.lower() not in _CATALOGS:
            raise not_understood(self.text, f"catalog {table.catalog}, which is another metastore's")
        if table.db.lower() in FILE_SOURCES and "/" in table.name:
            self.unknown.append(f"it reads files by their path: {table.name[:LONGEST_SHOWN]}")
            return None
        return TableName((table.db or self.database).lower(), table.name.lower())

    def read_ctes(self, tree: exp.Expr, outer: frozenset[str]) -> frozenset[str]:
        """Read the common table expressions of a node, each knowing those before it; return all names then known."""
        found = tree.args.get("with_")
        if found is None:
            return outer
        for cte in found.expressions:
            name = cte.alias.lower()
            self.read(cte.this, outer | {name} if found.args.get("recursive") else outer)
            outer = outer | {name}
        return outer

    def read(self, node: exp.Expr, ctes: frozenset[str], where: Predicate = ALL) -> None:
        """Read a node and all below it; `ctes` are the names that stand for no table there."""
        ctes = self.read_ctes(node, ctes)
        if isinstance(node, exp.Alias) and isinstance(node.this, exp.Column) and is_word_before_a_table(node.this):
            raise not_understood(self.text, f"TABLE {node.alias}, which may be a table, or a column of this name")
        if isinstance(node, exp.Into):
            raise not_understood(self.text, "INTO in a query, which Hive and Spark do not have")
        if isinstance(node, exp.Table):
            is_cte = not node.db and isinstance(node.this, exp.Identifier) and node.name.lower() in ctes
            if not is_cte and (name := self.name(node)) is not None:
                self.inputs.append((node.this.meta.get("start", 0), ReadTable(name, where)))
        conditions = conditions_of(node) if isinstance(node, exp.Select) else {}
        self.read_parts(node, ctes, conditions=conditions)

    def read_parts(
        self,
        node: exp.Expr,
        ctes: frozenset[str],
        besides: Sequence[object] = (),
        conditions: dict[int, Predicate] | None = None,
    ) -> None:
        """Read all below a node but some nodes right below it."""
        for part in _parts(node):
            if not any(part is one for one in besides):
                self._read_below(part, ctes, conditions or {})

    def _read_below(self, part: exp.Expr, ctes: frozenset[str], conditions: dict[int, Predicate]) -> None:
        if isinstance(part, exp.From | exp.Join):
            # The table of a FROM or of a JOIN is one of the query around it, whose conditions may speak of it.
            for one in _parts(part):
                self.read(one, ctes, conditions.get(id(one), ALL))
            return
        self.read(part, ctes)


def _is_word_before_a_name(table: exp.Table) -> bool:
    """True for Spark's `TABLE t` and `STREAM t`, which sqlglot reads as tables of this name with an alias."""
    is_word = table.name.lower() in ("table", "stream") and not table.db and not table.this.args.get("quoted")
    return is_word and (table.name.lower() == "table" or bool(table.alias))


def _parts(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the nodes right below one, in the order of the text as far as sqlglot keeps it; WITH is read before."""
    for name in sorted(node.args, key=lambda key: key not in ("from_", "this")):
        found = node.args[name]
        if name == "with_":
            continue
        for one in found if isinstance(found, list) else [found]:
            if isinstance(one, exp.Expr):
                yield one
