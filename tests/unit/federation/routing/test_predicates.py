"""A partition is left out only when no row of it can be wanted: compared with what SQLite answers."""

import random
import sqlite3

import pytest

from tests.support.seeds import seeds
from twinhive.core.model.errors import ActNow
from twinhive.federation.routing.predicates import judge_of
from twinhive.federation.routing.statement_reading import read_statement

TYPES = {"p": "string", "n": "int"}
TEXTS = ["", "a", "A", "ab", "b", "10", "9", "é", "日本", "a b"]
NUMBERS = [-2, 0, 9, 10, 11]


def where_of(condition: str, source: str = "t") -> object:
    (read,) = read_statement(f"select * from {source} where {condition}", "d").inputs
    return read.where


def said(condition: str, source: str = "t", **values: str) -> bool | None:
    return judge_of(where_of(condition, source), {**TYPES, "d": "date"})(values)  # type: ignore[arg-type]


def a_condition(chance: random.Random, depth: int) -> str:
    if depth and chance.random() < 0.6:
        one, other = a_condition(chance, depth - 1), a_condition(chance, depth - 1)
        return chance.choice([f"({one} and {other})", f"({one} or {other})", f"not ({one})"])
    text = "'" + chance.choice(TEXTS) + "'"
    number = str(chance.choice(NUMBERS))
    how = chance.choice(["=", "<>", "<", "<=", ">", ">="])
    return chance.choice(
        [
            f"p {how} {text}",
            f"{text} {how} p",
            f"n {how} {number}",
            f"t.n {how} {number}",
            f"p in ({text}, 'b')",
            f"n between {number} and 10",
            f"n not between {number} and 10",
            f"p {how} n",
            f"length(p) {how} 1",
            f"x {how} {number}",
            "x is null",
        ]
    )


@pytest.mark.thorough
@pytest.mark.parametrize("seed", seeds(300, kind=42))
def test_what_is_left_out_has_no_row_that_sqlite_finds(seed: int) -> None:
    chance = random.Random(seed)
    condition = a_condition(chance, 3)
    with sqlite3.connect(":memory:") as database:
        database.execute("create table t (p text, n integer, x integer)")
        rows = [(text, number, x) for text in TEXTS for number in NUMBERS for x in (None, 0, 9)]
        database.executemany("insert into t values (?, ?, ?)", rows)
        found = database.execute(f"select p, n, count(*) from t where {condition} group by p, n").fetchall()
    counted = {(text, number): count for text, number, count in found}
    where = where_of(condition)
    for text in TEXTS[1:]:  # Hive writes an empty text as its default partition
        for number in NUMBERS:
            answer = judge_of(where, TYPES)({"p": text, "n": str(number)})  # type: ignore[arg-type]
            if answer is False:
                assert (text, number) not in counted, condition
            elif answer is True:
                assert counted.get((text, number)) == 3, condition


@pytest.mark.parametrize(
    ("condition", "answer"),
    [
        ("p = 'a'", False),
        ("p = 'b'", True),
        ("P = 'a' AND x = 1", False),
        ("p = 'a' OR x = 1", None),
        ("p = 1", None),  # engines make numbers of both
        ("n = '5'", None),
        ("n = 5", True),
        ("n = 05", True),
        ("n > 5.5", None),
        ("n in (1, 2)", False),
        ("n in (select n from u)", None),
        ("p between 'c' and 5", None),  # engines may make numbers of all three
        ("n between 6 and '9'", None),
        ("p like 'a%'", None),
        ("p = x", None),
        ("d = '2020-01-01'", False),
        ("d >= date '2020-01-02'", True),
        ("d = '2020-1-2'", None),
        ("d = '2020-13-45'", None),
        ("t.p = 'a'", False),
        ("d.t.p = 'a'", False),
        ("other.t.p = 'a'", None),
        ("u.p = 'a'", None),
        ("p <=> 'a'", None),
        ("p is null", None),
        ("upper(p) = 'A'", None),
        (r"p = '\x61'", None),  # a session may read backslashes as they are
        (r"p in ('c', '\141')", None),
        ("p = 'x' 'y'", None),  # put together by one engine, a quote by another
        ("p = 'it''s'", None),
        ("not p = 'b'", False),
    ],
)
def test_what_is_certain(condition: str, answer: bool | None) -> None:
    reads = read_statement(f"select * from d.t where {condition}", "d").inputs
    where = next(one.where for one in reads if one.name.table == "t")
    judge = judge_of(where, {**TYPES, "d": "date"})
    assert judge({"p": "b", "n": "5", "d": "2020-01-02"}) is answer


def test_a_text_that_is_longer_than_its_type_is_cut_off_when_it_is_read() -> None:
    judge = judge_of(where_of("p = 'ab'"), {"p": "varchar(2)"})  # type: ignore[arg-type]
    assert [judge({"p": text}) for text in ("ab", "ac", "abc")] == [True, False, None]


@pytest.mark.parametrize("kind", ["char(2)", "decimal(4,2)", "timestamp", "boolean", "double", "float", "binary", ""])
@pytest.mark.parametrize(
    "condition", ["p = 'ab'", "p <> 1", "p in (1, 'x')", "p >= date '2020-01-01'", "p < '2020-01-01'"]
)
def test_nothing_is_certain_where_engines_differ(kind: str, condition: str) -> None:
    judge = judge_of(where_of(condition), {"p": kind})  # type: ignore[arg-type]
    assert {judge({"p": text}) for text in ("ab", "ab ", "1", "1.00", "true", "2020-01-01")} == {None}


def test_nothing_is_certain_of_null() -> None:
    assert said("p = 'a'", p="__HIVE_DEFAULT_PARTITION__") is None
    assert said("not p = 'a'", p="__HIVE_DEFAULT_PARTITION__") is None


@pytest.mark.parametrize(
    ("source", "table", "answer"),
    [
        ("t join u on t.x = u.x", "t", False),
        ("t left join u on t.x = u.x", "t", False),
        ("u left join t on t.x = u.x", "t", None),
        ("t right join u on t.x = u.x", "t", None),
        ("t full join u on t.x = u.x", "t", None),
        ("t left semi join u on t.x = u.x", "t", False),
        ("t semi join u on t.x = u.x", "t", False),
        ("t anti join u on t.x = u.x", "t", False),
        ("u semi join t on t.x = u.x", "t", None),
        ("u anti join t on t.x = u.x", "t", None),
        ("u join v on v.x = u.x anti join t on t.x = u.x", "t", None),
        ("u natural semi join t", "t", None),
        ("t, u", "t", False),
        ("u as t join t as u on t.x = u.x", "u", False),
        ("u as t join t as u on t.x = u.x", "t", None),
        ("t as t (p, q)", "t", None),
        ("(select * from t) t", "t", None),
    ],
)
def test_conditions_reach_a_table_only_where_no_outer_join_puts_rows_in_its_place(
    source: str, table: str, answer: bool | None
) -> None:
    reads = read_statement(f"select * from {source} where t.p = 'a'", "d").inputs
    where = next(one.where for one in reads if one.name.table == table)
    found = judge_of(where, TYPES)({"p": "b"})
    assert found is answer or (answer is None and found is True)


def test_a_column_without_a_table_is_nobodys_where_there_are_several() -> None:
    for source in ("t join u on t.x = u.x", "t lateral view explode(a) e as p"):
        reads = read_statement(f"select * from {source} where p = 'a'", "d").inputs
        assert judge_of(reads[0].where, TYPES)({"p": "b"}) is None


def test_the_columns_of_a_pipe_may_be_made_on_the_way() -> None:
    for sql in ("from t |> set p = 'b' |> where p = 'b'", "from t |> where p = 'b'"):
        try:
            (read,) = read_statement(sql, "d").inputs
        except ActNow:
            continue
        assert judge_of(read.where, TYPES)({"p": "a"}) is not False
