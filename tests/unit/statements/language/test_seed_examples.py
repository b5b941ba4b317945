"""Every example of seed 002's command section is a statement, as it is written there."""

import pytest

from twinhive.statements.language import ReplDump, ReplLoad, ReplStatus, Scope, Statement, parse, to_text

SALES = Scope("sales")
LETTERS = Scope("sales", ("[a-z]+",))

EXAMPLES: tuple[tuple[str, str, Statement], ...] = (
    ("a", "REPL DUMP sales;", ReplDump(SALES)),
    ("a", "REPL DUMP sales.['.*?']", ReplDump(SALES)),
    ("b", "REPL DUMP sales.['T3', '[a-z]+'];", ReplDump(Scope("sales", ("T3", "[a-z]+")))),
    (
        "c",
        "REPL DUMP sales.['.*?'].['T[0-9]+', 'Q4'];",
        ReplDump(Scope("sales", (".*?",), ("T[0-9]+", "Q4"))),
    ),
    ("d", "REPL DUMP sales.[];", ReplDump(Scope("sales", ()))),
    ("e", "REPL DUMP sales FROM 200 TO 1400;", ReplDump(SALES, from_event=200, to_event=1400)),
    ("f", "REPL DUMP sales FROM 200;", ReplDump(SALES, from_event=200)),
    ("g", "REPL DUMP sales FROM 200 to 1400 LIMIT 100;", ReplDump(SALES, None, 200, 1400, 100)),
    ("g", "REPL DUMP sales FROM 200 LIMIT 100;", ReplDump(SALES, None, 200, None, 100)),
    (
        "h",
        "REPL DUMP sales.['[a-z]+'] REPLACE sales FROM 200;",
        ReplDump(LETTERS, replaced=SALES, from_event=200),
    ),
    (
        "h",
        "REPL DUMP sales.['[a-z]+', 'Q5'] REPLACE sales.['[a-z]+'] FROM 500;",
        ReplDump(Scope("sales", ("[a-z]+", "Q5")), replaced=LETTERS, from_event=500),
    ),
    (
        "i",
        "REPL DUMP sales WITH ('hive.repl.include.external.tables'='false', 'hive.repl.dump.metadata.only'='true');",
        ReplDump(
            SALES,
            settings=(("hive.repl.include.external.tables", "false"), ("hive.repl.dump.metadata.only", "true")),
        ),
    ),
    (
        "load",
        "REPL LOAD sales FROM hdfs://east/user/hive/repl/d1;",
        ReplLoad("sales", None, "hdfs://east/user/hive/repl/d1"),
    ),
    ("load", "REPL LOAD FROM hdfs://east/d1 WITH ('a'='b');", ReplLoad(None, None, "hdfs://east/d1", (("a", "b"),))),
    ("status", "REPL STATUS sales;", ReplStatus("sales")),
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
    assert isinstance(statement, ReplDump)
    selected, others = (one.split() for one in names)
    assert [name for name in (*selected, *others) if statement.scope.selects(name)] == selected
