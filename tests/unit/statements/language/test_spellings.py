"""One statement has many spellings: those of Hive 4, any case and layout, and Hive's escapes in texts."""

import pytest

from twinhive.core.model.scopes.scope_texts import quoted
from twinhive.statements.language import (
    DumpStatement,
    LoadStatement,
    Scope,
    StatusStatement,
    parse,
    parse_scope,
    scope_text,
)
from twinhive.statements.language.string_literals import unquoted


@pytest.mark.parametrize(
    ("hive", "seed"),
    [
        ("REPL DUMP sales.'t1|t2'", "REPL DUMP sales.['t1|t2']"),
        ("REPL DUMP sales.'t.*'.'t5'", "REPL DUMP sales.['t.*'].['t5']"),
        ('REPL DUMP sales."t.*".["t5"]', "REPL DUMP sales.['t.*'].['t5']"),
        ("REPL LOAD sales INTO twin", "repl load SALES into TWIN ;"),
        ("REPL LOAD sales FROM '/a b'", 'REPL LOAD sales FROM "/a b"'),
        ("REPL LOAD sales FROM /dumps/a", "REPL LOAD sales FROM '/dumps/a'"),
        (
            "REPL LOAD sales FROM S3A://lake/a--b(c),d WITH('k'='v')",
            "REPL LOAD sales FROM 'S3A://lake/a--b(c),d' WITH ('k'='v')",
        ),
        ("REPL STATUS sales WITH ('k'='v')", "Repl\n\tStatus -- of what?\r\n `Sales`\nwith ( 'k' = 'v' ) ; -- done"),
        ("REPL DUMP `sales`.[ 'a' , 'b' ] . [ 'c' ]", "REPL DUMP sales.['a','b'].['c']"),
        ("REPL DUMP dump FROM 007", "REPL DUMP dump FROM 7"),
        ("REPL DUMP 2024_sales", "REPL DUMP `2024_sales`"),
        ("REPL DUMP sales FROM 5 TO 5", "REPL DUMP sales FROM 5\nTO 5"),
    ],
)
def test_two_spellings_are_one_statement(hive: str, seed: str) -> None:
    assert parse(hive) == parse(seed)


@pytest.mark.parametrize("name", ["replace", "from", "to", "limit", "into", "with", "2024", "_hidden"])
def test_a_database_of_any_name_can_be_written_in_backticks(name: str) -> None:
    assert parse(f"REPL DUMP `{name}` FROM 1") == DumpStatement(Scope(name), from_event=1)
    assert parse(f"REPL LOAD `{name}` INTO `{name.upper()}`") == LoadStatement(name, name)
    assert parse(f"REPL STATUS `{name}`") == StatusStatement(name)
    assert parse_scope(scope_text(Scope(name))) == Scope(name)


@pytest.mark.parametrize(
    ("literal", "said"),
    [
        (r"'T\\d+'", r"T\d+"),
        (r"'it\'s'", "it's"),
        (r'"it\'s \"so\""', 'it\'s "so"'),
        (r"'\u00e9\101\u20ac'", "éA€"),
        (r"'\ud83d\ude00'", "😀"),
        (r"'a\tb\nc\rd\be\Zf\0'", "a\tb\nc\rd\be\x1af\0"),
        (r"'\%\_'", r"\%\_"),
        (r"'\d\.\8'", "d.8"),
        (r"'\\\\'", r"\\"),
        (r"'\\u00e9'", r"\u00e9"),
        ("'a\nb'", "a\nb"),
    ],
)
def test_escapes_are_read_as_hive_reads_them(literal: str, said: str) -> None:
    assert unquoted(literal, 0) == said
    assert unquoted(quoted(said), 0) == said
    assert parse(f"REPL STATUS sales WITH ('k'={literal})") == StatusStatement("sales", (("k", said),))


def test_a_pattern_writes_a_backslash_twice() -> None:
    scope = parse_scope(r"sales.['T\\d+', '\\w\'x']")
    assert scope.include == (r"T\d+", r"\w'x")
    assert scope.selects("t12") and not scope.selects("td")


def test_a_class_may_hold_anything_but_a_class() -> None:
    patterns = ("[a&b]+", "a&&b", r"\\[[a]", r"[\\[]", "[]a]", "[^]a]&&")
    text = ", ".join(f"'{pattern}'" for pattern in patterns)
    include = parse_scope(f"sales.[{text}]").include
    assert include is not None and len(include) == len(patterns)
