"""A condition as sqlglot has read it, as what is known of partitions."""

from collections import Counter
from collections.abc import Callable

from sqlglot import exp

from twinhive.federation.routing.predicates import (
    Conjunction,
    Disjunction,
    KeyComparison,
    KeyOperator,
    LiteralKind,
    Negation,
    NotKnown,
    Predicate,
    Value,
)

_HOW: dict[type[exp.Expr], KeyOperator] = {
    exp.EQ: KeyOperator.EQUAL,
    exp.NEQ: KeyOperator.NOT_EQUAL,
    exp.LT: KeyOperator.LESS,
    exp.LTE: KeyOperator.LESS_OR_EQUAL,
    exp.GT: KeyOperator.GREATER,
    exp.GTE: KeyOperator.GREATER_OR_EQUAL,
}
_TURNED = {
    KeyOperator.LESS: KeyOperator.GREATER,
    KeyOperator.LESS_OR_EQUAL: KeyOperator.GREATER_OR_EQUAL,
    KeyOperator.GREATER: KeyOperator.LESS,
    KeyOperator.GREATER_OR_EQUAL: KeyOperator.LESS_OR_EQUAL,
}
_UNKNOWN = NotKnown()
KeyOf = Callable[[exp.Column], str | None]
"""The name of a column of the table in question, None for any other column."""


def predicate_of(condition: exp.Expr | None, key_of: KeyOf) -> Predicate:
    """Return what a condition says of one table's partitions."""
    match condition:
        case exp.Paren():
            return predicate_of(condition.this, key_of)
        case exp.And():
            return Conjunction((predicate_of(condition.left, key_of), predicate_of(condition.right, key_of)))
        case exp.Or():
            return Disjunction((predicate_of(condition.left, key_of), predicate_of(condition.right, key_of)))
        case exp.Not():
            return Negation(predicate_of(condition.this, key_of))
        case exp.Between():
            return _between(condition, key_of)
        case exp.In():
            return _one_of(condition, key_of)
    how = _HOW.get(type(condition)) if condition is not None else None
    return _comparison(condition.this, how, condition.expression, key_of) if condition is not None and how else _UNKNOWN


def _comparison(left: exp.Expr, how: KeyOperator, right: exp.Expr, key_of: KeyOf) -> Predicate:
    if isinstance(right, exp.Column) and not isinstance(left, exp.Column):
        left, right, how = right, left, _TURNED.get(how, how)
    key, value = _key(left, key_of), _value(right)
    return _UNKNOWN if key is None or value is None else KeyComparison(key, how, value)


def _between(condition: exp.Between, key_of: KeyOf) -> Predicate:
    if condition.args.get("symmetric"):
        return _UNKNOWN
    ends = [_value(condition.args[name]) for name in ("low", "high")]
    if len({end.kind for end in ends if end}) > 1:
        return _UNKNOWN  # engines may compare all three as one type
    low = _comparison(condition.this, KeyOperator.GREATER_OR_EQUAL, condition.args["low"], key_of)
    high = _comparison(condition.this, KeyOperator.LESS_OR_EQUAL, condition.args["high"], key_of)
    return Conjunction((low, high))


def _one_of(condition: exp.In, key_of: KeyOf) -> Predicate:
    others = [name for name, found in condition.args.items() if found and name not in ("this", "expressions")]
    if others or not condition.expressions:
        return _UNKNOWN  # a subquery, say
    return Disjunction(
        tuple(_comparison(condition.this, KeyOperator.EQUAL, one, key_of) for one in condition.expressions)
    )


def _key(side: exp.Expr, key_of: KeyOf) -> str | None:
    return key_of(side) if isinstance(side, exp.Column) else None


def _value(side: exp.Expr) -> Value | None:
    match side:
        case exp.Literal(is_string=True):
            return Value(LiteralKind.TEXT, side.this)
        case exp.Literal():
            return Value(LiteralKind.NUMBER, side.this)
        case exp.Neg(this=exp.Literal(is_string=False)):
            return Value(LiteralKind.NUMBER, f"-{side.this.this}")
        case exp.Cast(this=exp.Literal(is_string=True)) if side.to.this == exp.DataType.Type.DATE:
            return Value(LiteralKind.DAY, side.this.this)
    return None


def conditions_of(select: exp.Select) -> dict[int, Predicate]:
    """Return what the WHERE of a query says of the tables of its FROM and JOINs, by the identity of their nodes.

    A condition takes rows of a table away for certain only where no outer join puts rows in their place.
    """
    where, source = select.args.get("where"), select.args.get("from_")
    joins = select.args.get("joins") or []
    if where is None or source is None:
        return {}
    sides = {(join.side or "").upper() for join in joins}
    tables = [source.this] if sides <= {"", "LEFT"} else []
    # Of a table that only filters another one's rows WHERE sees no column: what is called so there is something else.
    joined = [join.this for join in joins if (join.kind or "").upper() not in ("SEMI", "ANTI")]
    tables += joined if sides <= {""} else []
    laterals = select.args.get("laterals") or []
    alone = not joins and not laterals
    names = Counter(_said_as(one) for one in (source.this, *(join.this for join in joins), *laterals))
    return {
        id(table): predicate_of(where.this, _keys_of(table, alone=alone))
        for table in tables
        if isinstance(table, exp.Table) and _is_plain(table) and names[_said_as(table)] == 1
    }


def _said_as(source: exp.Expr) -> str:
    """Return by which name the columns of a source are told apart, in lower case."""
    return str(source.alias_or_name).lower()


def _is_plain(table: exp.Table) -> bool:
    """True for a table whose columns are those of the table: none is renamed, joined or turned in the same place."""
    alias = table.args.get("alias")
    others = {name for name, found in table.args.items() if found} - {"this", "db", "catalog", "alias", "sample"}
    return not others and not (alias and alias.columns)


def _keys_of(table: exp.Table, *, alone: bool) -> KeyOf:
    """Return what tells whether a column is one of a table: by its qualifier, or because there is no other table."""
    qualifier, database = table.alias_or_name.lower(), "" if table.alias else table.db.lower()

    def key_of(column: exp.Column) -> str | None:
        if column.table:
            fits = column.table.lower() == qualifier and (not column.db or column.db.lower() == database)
            return column.name.lower() if fits else None
        return column.name.lower() if alone else None

    return key_of
