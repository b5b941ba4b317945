"""Every example of seed 002's command section is a statement, as it is written there."""

import pytest

from twinhive.statements.language import DumpStatement, LoadStatement, Scope, Statement, StatusStatement, parse, to_text

SALES = Scope("sales")
LETTERS = Scope("sales", ("[a-z]+",))

EXAMPLES: tuple[tuple[str, str, Statement], ...] = (
    ("a", "REPL DUMP sales;", DumpStatement(SALES)),
    ("a", "REPL DUMP sales.['.*?']", DumpStatement(SALES)),
    ("b", "REPL DUMP sales.['T3', '[a-z]+'];", DumpStatement(Scope("sales", ("T3", "[a-z]+")))),
    (
        "c",
        "REPL DUMP sales.['.*?'].['T[0-9]+', 'Q4'];",
        DumpStatement(Scope("sales", (".*?",), ("T[0-9]+", "Q4"))),
    ),
    ("d", "REPL DUMP sales.[];", DumpStatement(Scope("sales", ()))),
    ("e", "REPL DUMP sales FROM 200 TO 1400;", DumpStatement(SALES, from_event=200, to_event=1400)),
    ("f", "REPL DUMP sales FROM 200;", DumpStatement(SALES, from_event=200)),
    ("g", "REPL DUMP sales FROM 200 to 1400 LIMIT 100;", DumpStatement(SALES, None, 200, 1400, 100)),
    ("g", "REPL DUMP sales FROM 200 LIMIT 100;", DumpStatement(SALES, None, 200, None, 100)),
    (
        "h",
        "REPL DUMP sales.['[a-z]+'] REPLACE sales FROM 200;",
        DumpStatement(LETTERS, replaced=SALES, from_event=200),
    ),
    (
        "h",
        "REPL DUMP sales.['[a-z]+', 'Q5'] REPLACE sales.['[a-z]+'] FROM 500;",
        DumpStatement(Scope("sales", ("[a-z]+", "Q5")), replaced=LETTERS, from_event=500),
    ),
    (
        "i",
        "REPL DUMP sales WITH ('hive.repl.include.external.tables'='false', 'hive.repl.dump.metadata.only'='true');",
        DumpStatement(
            SALES,
            settings=(("hive.repl.include.external.tables", "false"), ("hive.repl.dump.metadata.only", "true")),
        ),
    ),
    (
        "load",
        "REPL LOAD sales FROM hdfs://east/user/hive/repl/d1;",
        LoadStatement("sales", None, "hdfs://east/user/hive/repl/d1"),
    ),
    (
        "load",
        "REPL LOAD FROM hdfs://east/d1 WITH ('a'='b');",
        LoadStatement(None, None, "hdfs://east/d1", (("a", "b"),)),
    ),
    ("status", "REPL STATUS sales;", StatusStatement("sales")),
)
SELECTED = {
    "REPL DUMP sales.['T3', '[a-z]+'];": ("t3 T3 orders stores", "t33 orders1"),
    "REPL DUMP sales.['.*?'].['T[0-9]+', 'Q4'];": ("orders t tx q44", "T3 T400 t255 q4"),
    "REPL DUMP sales.[];": ("", "orders t3"),
    "REPL DUMP sales.['[a-z]+'] REPLACE sales FROM 200;": ("stores products", "t5 T5"),
    "REPL DUMP sales;": ("stores t5", ""),
}


@pytest.mark.parametrize(("text", "statement"), [example[1:] for example in EXAMPLES], ids=[one[1] for one in EXAMPLES])
def test_an_example_says_what_the_seed_says(text: str, statement: Statement) -> None:
    assert parse(text) == statement
    assert parse(to_text(statement)) == statement


def test_no_example_is_left_out() -> None:
    assert {example[0] for example in EXAMPLES} == {*"abcdefghi", "load", "status"}


@pytest.mark.parametrize(("text", "names"), SELECTED.items(), ids=SELECTED)
def test_an_example_selects_the_tables_that_the_seed_names(text: str, names: tuple[str, str]) -> None:
    statement = parse(text)
    assert isinstance(statement, DumpStatement)
    selected, others = (one.split() for one in names)
    assert [name for name in (*selected, *others) if statement.scope.selects(name)] == selected
