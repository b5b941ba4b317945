"""A statement that is printed and read again is the same statement; equal scopes print equally."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.seeds import of_the_day
from twinhive.core.model.scopes.scope_texts import quoted
from twinhive.statements import language
from twinhive.statements.language import (
    DumpStatement,
    LoadStatement,
    Scope,
    Statement,
    StatusStatement,
    parse,
    parse_scope,
    scope_text,
    to_text,
)
from twinhive.statements.language.patterns import pattern_of
from twinhive.statements.language.syntax_errors import Misplaced

EXAMPLES = settings(max_examples=150, database=None)


def is_a_pattern(text: str) -> bool:
    try:
        return pattern_of(quoted(text), 0) == text
    except Misplaced:
        return False


GRAMMAR = Path(language.__file__).with_name("grammar.lark").read_text(encoding="utf-8")
WORDS = re.findall(r"^_[A-Z]+: /(\w+)\\b/i$", GRAMMAR, re.MULTILINE)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
NAMES = st.from_regex(r"[a-z0-9_]{1,8}", fullmatch=True) | st.sampled_from([*WORDS, "7"])
PATTERNS = st.one_of(
    st.sampled_from([".*", ".*?", "[a-z]+", r"T\d+", "Q4", "q4", "a|b", "it's", 'so"', "a\nb", "é.*", "(?i)x"]),
    TEXTS.filter(bool).map(re.escape),
    TEXTS.filter(is_a_pattern),
)
LISTS = st.lists(PATTERNS, max_size=3).map(tuple)
SCOPES = st.builds(Scope, NAMES, st.none() | LISTS, LISTS)
SETTINGS = st.dictionaries(TEXTS, TEXTS, max_size=3).map(lambda said: tuple(said.items()))
IDS = st.integers(0, 2**63 - 1)


@st.composite
def dumps(draw: Callable[[Any], Any]) -> DumpStatement:
    scope, said = draw(SCOPES), draw(SETTINGS)
    if draw(st.booleans()):
        return DumpStatement(scope, settings=said)
    first, last = sorted((draw(IDS), draw(IDS)))
    before = draw(st.none() | st.builds(Scope, st.just(scope.database), st.none() | LISTS, LISTS))
    limit = draw(st.none() | st.integers(1, 2**63 - 1))
    return DumpStatement(scope, before, first, draw(st.sampled_from([None, last])), limit, said)


DIRECTORIES = st.builds("{}{}".format, st.sampled_from(["/", "hdfs://east/", "S3A://lake/"]), TEXTS)
LOADS = st.one_of(
    st.builds(LoadStatement, NAMES, st.none() | NAMES, st.none() | DIRECTORIES, SETTINGS),
    st.builds(LoadStatement, st.none(), st.none(), DIRECTORIES, SETTINGS),
)


@pytest.mark.parametrize("word", WORDS)
def test_a_database_may_have_the_name_of_any_word_of_the_grammar(word: str) -> None:
    for statement in (
        DumpStatement(Scope(word), Scope(word, ("a",)), 1, 2, 3, (("k", "v"),)),
        LoadStatement(word, word, "/d", (("k", "v"),)),
        StatusStatement(word, (("k", "v"),)),
    ):
        assert parse(to_text(statement)) == statement


def test_the_words_are_those_of_the_grammar() -> None:
    assert {"repl", "dump", "from", "with"} <= set(WORDS)
    assert len(WORDS) == len(re.findall(r"^_[A-Z]+:", GRAMMAR, re.MULTILINE))


@of_the_day
@EXAMPLES
@given(st.one_of(dumps(), LOADS, st.builds(StatusStatement, NAMES, SETTINGS)))
def test_what_is_printed_is_read_as_the_same_statement(statement: Statement) -> None:
    text = to_text(statement)
    assert parse(text) == statement
    assert to_text(parse(text)) == text
    assert text.isprintable()


@of_the_day
@EXAMPLES
@given(SCOPES)
def test_a_scope_is_read_by_itself_and_selects_the_same_tables(scope: Scope) -> None:
    assert parse_scope(scope_text(scope)) == scope
    for table in ("t3", "q4", "orders", "it's"):
        assert parse_scope(scope_text(scope)).selects(table) == scope.selects(table)


@pytest.mark.parametrize(
    ("one", "other", "text"),
    [
        ("Sales", "`sales`.['.*?']", "sales"),
        ("sales.['a', '.+']", "sales", "sales"),
        ("sales.['b', 'A', 'b']", "sales.'a|z'", None),
        ("sales.['b', 'A', 'b']", "sales.['a', 'B'].[]", "sales.['a', 'b']"),
        ("sales.['.*'].['Q4', 'T[0-9]+']", "sales.['.*?'].['T[0-9]+', 'q4']", "sales.['.*'].['T[0-9]+', 'q4']"),
        ("sales.[]", "sales.[].['x']", "sales.[]"),
        (r"sales.['\\D+']", r"sales.['\\d+']", None),
        ("sales.['[A-z]+']", "sales.['[a-z]+']", None),
    ],
)
def test_scopes_that_say_the_same_print_the_same_text(one: str, other: str, text: str | None) -> None:
    first, second = parse_scope(one), parse_scope(other)
    assert (first == second) == (scope_text(first) == scope_text(second)) == (text is not None)
    if text is not None:
        assert scope_text(first) == text


def test_a_scope_that_is_made_of_its_own_parts_is_the_same() -> None:
    scope = Scope("sales", (".*?", "a"), ("B",))
    assert Scope(scope.database, scope.patterns, scope.exclude) == scope
