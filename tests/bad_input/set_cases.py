"""What may be wrong where sets are marked, listed and waited for."""

from tests.bad_input.case import TRY_AGAIN, USAGE, Case
from tests.bad_input.desk import Desk
from tests.support.builders import a_table
from twinhive.core.model.names import TableName

_ORDERS = ("east", "sales.orders")


def _foreign(desk: Desk) -> None:
    desk.world.source.create_table(a_table("sales.twinhive_sets", partition_keys=("p",)))


def _marked(desk: Desk) -> None:
    desk.terminal.type("sets", "mark", *_ORDERS, "*")


def _replica(desk: Desk) -> None:
    source = desk.world.source
    database = source.database("sales")
    assert database is not None
    source.set_database_parameters("sales", {**database.parameters, "twinhive.policy": "sales"})


def _keep(desk: Desk) -> None:
    source, name = desk.world.source, TableName("sales", "orders")
    desk.terminal.type("sets", "mark", *_ORDERS, "*")
    table = source.table(name)
    assert table is not None
    source.alter_table(name, table.with_parameters({**table.parameters, "twinhive.sets.keep": "a week"}))


def _typed_keys(desk: Desk) -> None:
    thrift = '{"8":{"lst":["rec",2,{"1":{"str":"n"},"2":{"str":"int"}},{"1":{"str":"d"},"2":{"str":"date"}}]}}'
    desk.world.source.create_table(a_table("sales.typed", partition_keys=("n", "d"), thrift=thrift))


def _mark(name: str, text: str, *says: str) -> Case:
    return Case(f"sets: {name}", ("sets", "mark", *_ORDERS, text), says)


SET_CASES: tuple[Case, ...] = (
    Case("sets: an action that there is not", ("sets", "finish", *_ORDERS), ("'finish' is not one of",), code=USAGE),
    Case("sets: a cluster that is not there", ("sets", "list", "north", "sales"), ("there is no cluster north",)),
    Case("sets: a table without its database", ("sets", "mark", "east", "orders", "*"), ("'orders' is no table",)),
    Case("sets: a database that is not there", ("sets", "list", "east", "stock"), ("there is no database stock",)),
    Case("sets: a table that is not there", ("sets", "mark", "east", "sales.no", "*"), ("there is no table sales.no",)),
    Case(
        "sets: waited for without a table", ("sets", "wait", "east", "sales.no", "*"), ("there is no table sales.no",)
    ),
    Case(
        "sets: unmarked without a table", ("sets", "unmark", "east", "sales.no", "*"), ("there is no table sales.no",)
    ),
    Case(
        "sets: of the table that keeps sets",
        ("sets", "mark", "east", "sales.twinhive_sets", "*"),
        ("sales.twinhive_sets keeps the sets of its database, and has none itself", "name the table whose data"),
        spoil=_marked,
    ),
    Case("sets: which one", ("sets", "mark", *_ORDERS), ("which set is meant was not said",)),
    _mark("an unknown key", "day=1", "'day' is no partition key", "expected: p"),
    _mark("a key without a value", "p=", "p has no value"),
    _mark("no pair", "p", "'p' is no set"),
    _mark("a key twice", "p=1/P=2", "p is given twice"),
    _mark("too long", "p=" + "x" * 300, "is too long", "at most 249 bytes"),
    Case(
        "sets: a table without partitions",
        ("sets", "mark", "east", "sales.plain", "p=1"),
        ("'p' is no partition key of the table", "its only set is *"),
    ),
    Case(
        "sets: a number in another form",
        ("sets", "mark", "east", "sales.typed", "n=01"),
        ("n is of type int", "expected: 1"),
        spoil=_typed_keys,
    ),
    Case(
        "sets: a text where a number is",
        ("sets", "mark", "east", "sales.typed", "n=first"),
        ("n is of type int", "found:    first"),
        spoil=_typed_keys,
    ),
    Case(
        "sets: a date that is none",
        ("sets", "wait", "east", "sales.typed", "d=2030-02-30"),
        ("d is of type date",),
        spoil=_typed_keys,
    ),
    Case(
        "sets: a token that is too long", ("sets", "mark", *_ORDERS, "*", "--token", "t" * 1_001), ("token of a set",)
    ),
    Case("sets: an empty token", ("sets", "mark", *_ORDERS, "*", "--token", ""), ("without a token", "an empty text")),
    Case(
        "sets: a table of somebody else", ("sets", "mark", *_ORDERS, "*"), ("is not a table of sets",), spoil=_foreign
    ),
    *(
        Case(
            f"sets: {action} in a table of somebody else",
            ("sets", action, "east", *words),
            ("is not a table of sets", "rename that table"),
            spoil=_foreign,
        )
        for action, words in (
            ("list", ("sales",)),
            ("wait", ("sales.orders", "p=1")),
            ("unmark", ("sales.orders", "p=1")),
            ("expire", ("sales",)),
        )
    ),
    Case("sets: a replica", ("sets", "mark", *_ORDERS, "*"), ("is the replica of policy sales",), spoil=_replica),
    Case("sets: kept for a week", ("sets", "wait", *_ORDERS, "*"), ("'a week'", "forever"), spoil=_keep),
    Case("sets: not done", ("sets", "wait", *_ORDERS, "p=9"), ("set p=9 of sales.orders is not done",), code=TRY_AGAIN),
)
