"""What is wrong with a statement is pointed at, with what was found, what is expected and what to do."""

import pytest

from twinhive.core.model.errors import InvalidSettings
from twinhive.statements.language import parse, parse_scope

# The rule, a text in which the first ^ stands before the place, what was found, what is expected, what to do next.
CASES = (
    ("nothing", "^", "the end of the statement", "REPL", ""),
    ("only a comment", "^-- REPL DUMP sales", "the end of the statement", "REPL", ""),
    ("another statement", "^SELECT 1", "SELECT", "REPL", ""),
    ("an unknown command", "REPL ^DMUP sales", "DMUP", "DUMP, LOAD or STATUS", ""),
    ("no database", "REPL DUMP^", "the end of the statement", "the name of a database", ""),
    ("a word of the grammar as a name", "REPL DUMP ^from 200", "from", "`in backticks`", ""),
    ("a number as a name", "REPL STATUS ^2024", "2024", "the name of a database", ""),
    ("a name in quotes", "REPL DUMP ^'sales'", "'sales'", "the name of a database", ""),
    ("a name that Hive does not allow", "REPL DUMP ^`sal-es`", "sal-es as the name", "letters a to z", ""),
    ("an empty name", "REPL STATUS ^``", "nothing as the name", "letters a to z", ""),
    ("a letter that Hive does not allow", "REPL DUMP ^salesé", "salesé as the name", "letters a to z", ""),
    ("a database and a table", "REPL DUMP sales.^orders", "orders", "'[' and patterns or a text in quotes", ""),
    ("a misspelt word", "REPL DUMP sales ^FORM 200", "FORM", "REPLACE, FROM, WITH or the end", ""),
    ("a list that is not closed", "REPL DUMP sales.['a'^", "the end of the statement", "',' or ']'", ""),
    ("a comma too many", "REPL DUMP sales.['a', ^]", "]", "a text in quotes", ""),
    ("a pattern without quotes", "REPL DUMP sales.[^a]", "a", "a text in quotes or ']'", ""),
    ("a third list", "REPL DUMP sales.['a'].['b']^.['c']", ".", "REPLACE, FROM, WITH or the end", ""),
    ("a text that is not closed", "REPL DUMP sales.[^'a]", "a quote ' that is never closed", "another '", ""),
    ("a name that is not closed", "REPL DUMP ^`sales", "a quote ` that is never closed", "another `", ""),
    ("a doubled quote", "REPL DUMP sales.['it'^'s']", "'s'", "',' or ']'", ""),
    ("an empty pattern", "REPL DUMP sales.['a', ^'']", "an empty pattern", "a regular expression", "[] none"),
    ("an empty pattern of Hive 4", "REPL DUMP sales.^''", "an empty pattern", "a regular expression", "[] none"),
    ("a wrong pattern", "REPL DUMP sales.['a', ^'b(']", "b(: missing )", "a regular expression", ""),
    ("a wrong pattern to leave out", "REPL DUMP sales.['a'].[^'*']", "*: nothing to repeat", "a regular", ""),
    ("a pattern beyond all limits", "REPL DUMP sales.^'a{99999999999}'", "too large", "a regular expression", ""),
    ("a class in a class", "REPL DUMP sales.^'[a-z[0-9]]'", "[ inside a character class", "a regular", ""),
    ("an intersection", "REPL DUMP sales.^'[a-z&&[^b]]'", "&& inside a character class", "a regular expression", ""),
    ("a backslash that gets lost", r"REPL DUMP sales.'T^\d+'", r"\d in a pattern", r"\\d", "twice"),
    ("a backslash before a dot", r"REPL DUMP sales.['a', 'b^\.c']", r"\. in a pattern", r"\\.", "twice"),
    ("a backspace in a pattern", r"REPL DUMP sales.'^\bT'", r"\b in a pattern", r"\\b", "twice"),
    ("a wrong number of a character", r"REPL STATUS a WITH ('k'='x^\u12')", r"\u without a number", "four", ""),
    ("half a character", r"REPL STATUS a WITH ('k'=^'\ud83d')", "half of a character", "both halves", ""),
    ("TO without FROM", "REPL DUMP sales ^TO 5", "TO", "FROM", "write FROM and an event id before TO"),
    ("LIMIT without FROM", "REPL DUMP sales ^limit 5", "limit", "FROM", "write FROM and an event id before LIMIT"),
    ("REPLACE without FROM", "REPL DUMP a REPLACE a^", "the end of the statement", "FROM", "an event id after REPLACE"),
    ("REPLACE without FROM, but WITH", "REPL DUMP a REPLACE a ^WITH ('k'='v')", "WITH", "FROM", "after REPLACE"),
    ("REPLACE after FROM", "REPL DUMP a FROM 5 ^REPLACE a", "REPLACE", "TO, LIMIT, WITH or the end", ""),
    ("TO after LIMIT", "REPL DUMP a FROM 5 LIMIT 1 ^TO 6", "TO", "WITH or the end", ""),
    ("REPLACE of another database", "REPL DUMP a REPLACE ^b FROM 5", "a policy of database b", "database a", ""),
    ("FROM without a number", "REPL DUMP a FROM ^last", "last", "a whole number", ""),
    ("a number with letters", "REPL DUMP a FROM ^20x", "20x", "a whole number", ""),
    ("an id below 0", "REPL DUMP a FROM ^-5", "-", "a whole number", ""),
    ("TO before FROM", "REPL DUMP a FROM 10 TO ^9", "TO 9, which is before FROM 10", "10 or a later event id", ""),
    ("an id above 64 bits", "REPL DUMP a FROM ^9223372036854775808", "19 digits", "at most 9223372036854775807", ""),
    ("an id of many digits", f"REPL DUMP a FROM 1 TO ^{'9' * 9000}", "9000 digits", "64 bits", ""),
    ("LIMIT 0", "REPL DUMP a FROM 1 LIMIT ^0", "LIMIT 0", "1 or more events", "leave LIMIT out"),
    ("LIMIT above 64 bits", "REPL DUMP a FROM 1 LIMIT ^9223372036854775808", "19 digits", "64 bits", ""),
    ("LOAD of nothing", "REPL LOAD^", "the end of the statement", "the name of a database", ""),
    ("INTO nothing", "REPL LOAD a INTO^", "the end of the statement", "the name of a database", ""),
    ("LOAD of a policy", "REPL LOAD a^.['b']", ".", "INTO, FROM, WITH or the end of the statement", ""),
    ("a directory that is a name", "REPL LOAD a FROM ^dump1", "dump1", "a directory (absolute path or URI)", ""),
    (
        "a relative directory",
        "REPL LOAD a FROM ^'dumps/1'",
        "dumps/1 as a directory",
        "an absolute path",
        "has returned",
    ),
    (
        "an empty directory",
        "REPL LOAD a FROM ^''",
        "nothing as a directory",
        "an absolute path or a URI",
        "has returned",
    ),
    ("WITH nothing", "REPL DUMP a WITH (^)", ")", "a text in quotes", ""),
    ("a key without quotes", "REPL DUMP a WITH (^hive.x='1')", "hive", "a text in quotes", ""),
    ("a key without a value", "REPL DUMP a WITH ('k'^)", ")", "'='", ""),
    ("a value that is no text", "REPL DUMP a WITH ('k'=^1)", "1", "a text in quotes", ""),
    ("a key twice", "REPL DUMP a WITH ('k'='1', ^'k'='1')", "key k for the second time", "each key of WITH once", ""),
    ("FROM of a status", "REPL STATUS a ^FROM 5", "FROM", "WITH or the end of the statement", ""),
    ("two statements", "REPL DUMP a; ^REPL DUMP b", "REPL", "the end", "one statement at a time"),
    ("a long text", f"^'{'x' * 100}'", f"'{'x' * 59}...", "REPL", ""),
)


@pytest.mark.parametrize(
    ("marked", "found", "expected", "next_step"), [one[1:] for one in CASES], ids=[one[0] for one in CASES]
)
def test_an_error_points_at_the_place(marked: str, found: str, expected: str, next_step: str) -> None:
    before, _, after = marked.partition("^")
    with pytest.raises(InvalidSettings) as caught:
        parse(before + after)
    error = caught.value
    where, line, caret = error.what.split("\n")
    assert where == f"the statement is wrong in line 1, column {len(before) + 1}"
    assert line[caret.index("^") :].rstrip() == after[: len(line) - caret.index("^")].rstrip()
    assert found in str(error.found) and expected in str(error.expected)
    assert next_step in str(error.next_step)
    assert error.__cause__ is None and "Token" not in str(error) and "lark" not in str(error).lower()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("REPL DUMP sales\n  FROM 10\n  TO 9 -- why", "line 3, column 6\n    TO 9 -- why\n       ^"),
        ("REPL DUMP sales\r\n\tFROM x\r\n", "line 2, column 7\n   FROM x \n        ^"),
        (
            "REPL DUMP sales -- 日本é\n.['日本e\u0301', 'b(']",
            "line 2, column 11\n  .['日本e\u0301', 'b(']\n             ^",
        ),
        (
            f"REPL STATUS a WITH ('{'k' * 200}'=1, '{'v' * 200}'='2')",
            f"column 224\n  {'k' * 58}'=1, '{'v' * 36}\n  {' ' * 60}^",
        ),
    ],
)
def test_of_many_lines_only_the_wrong_one_is_shown_and_of_a_long_one_the_place(text: str, shown: str) -> None:
    with pytest.raises(InvalidSettings) as caught:
        parse(text)
    assert caught.value.what.endswith(shown)


def test_a_scope_by_itself_is_no_statement() -> None:
    with pytest.raises(InvalidSettings, match="column 7"):
        parse_scope("sales FROM 5")
