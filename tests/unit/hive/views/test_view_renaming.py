"""Names in a view's text become others by their positions; everything else in the text stays as it was."""

import re
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinhive.hive.views.view_reading import named_in_text
from twinhive.hive.views.view_renaming import ViewNames, WrongTableError, quoted, renamed_text

TAKEN = frozenset({"default", "shop", "taken"})


def known(database: str, table: str | None) -> tuple[str, str | None] | None:
    """`sales` is here `far`; of `hr` only a table is, under another name, and of `ops` one under its own."""
    tables = {("hr", "people"): ("shop", "staff"), ("ops", "runs"): ("shop", "runs")}
    return ("far", table) if database == "sales" else tables.get((database, table or ""))


def new(text: str, own: str | None = "sales", *, is_said: bool = False) -> str:
    return renamed_text(text, ViewNames(known, own, TAKEN, is_said)).text


def left(text: str, own: str | None = "sales") -> tuple[str, ...] | None:
    return renamed_text(text, ViewNames(known, own, TAKEN)).left


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("SELECT * FROM sales.orders", "SELECT * FROM far.orders"),
        ("select `orders`.`id` from `Sales`.`orders`", "select `orders`.`id` from `far`.`orders`"),
        ("SELECT sales.orders.id FROM sales.orders", "SELECT far.orders.id FROM far.orders"),
        ("SELECT sales.orders.* FROM SALES.orders", "SELECT far.orders.* FROM far.orders"),
        ("SELECT sales.orders.a.b.c.d FROM sales.orders", "SELECT far.orders.a.b.c.d FROM far.orders"),
        ("SELECT hive.sales.orders.a FROM hive.sales.orders", "SELECT hive.far.orders.a FROM hive.far.orders"),
        ("SELECT sales.city.zip FROM far.x JOIN sales.orders o", "SELECT sales.city.zip FROM far.x JOIN far.orders o"),
        ("SELECT 'sales.o' -- sales.o\nFROM sales.o", "SELECT 'sales.o' -- sales.o\nFROM far.o"),
        ("SELECT /* sales.t */ sales FROM sales /**/ . orders", "SELECT /* sales.t */ sales FROM far /**/ . orders"),
        ("SELECT sales AS sales FROM sales.sales sales", "SELECT sales AS sales FROM far.sales sales"),
        ("SELECT sales.rate(x) FROM sales.orders", "SELECT far.rate(x) FROM far.orders"),
        ("WITH sales AS (SELECT 1 a) SELECT * FROM sales", "WITH sales AS (SELECT 1 a) SELECT * FROM sales"),
        ("WITH o AS (SELECT * FROM o) SELECT * FROM o", "WITH o AS (SELECT * FROM far.o) SELECT * FROM o"),
        ("(SELECT 1 FROM sales.a UNION ALL SELECT 2 FROM b)", "(SELECT 1 FROM far.a UNION ALL SELECT 2 FROM far.b)"),
        ("SELECT * FROM hr.people", "SELECT * FROM shop.staff AS `people`"),
        ("SELECT people.a FROM `hr`.`people`", "SELECT people.a FROM `shop`.`staff` AS `people`"),
        ("SELECT hr.people.a FROM hr.people", "SELECT people.a FROM shop.staff AS `people`"),
        ("SELECT p.a FROM hr.people p WHERE hr.people.a > 1", "SELECT p.a FROM shop.staff p WHERE hr.people.a > 1"),
        ("SELECT ops.runs.a FROM ops.runs", "SELECT shop.runs.a FROM shop.runs"),
        ("SELECT * FROM orders", "SELECT * FROM far.orders"),
        ("SELECT * FROM sales.`straße` LATERAL VIEW explode(sales.`straße`.a) sales AS b", None),
        (
            "SELECT '😀', é.a FROM sales.`été` é WHERE sales.`été` = 1",
            "SELECT '😀', é.a FROM far.`été` é WHERE sales.`été` = 1",
        ),
        ("SELECT '😀' FROM sales.orders", "SELECT '😀' FROM far.orders"),
        (
            "SELECT 1 FROM sales.`o``` WHERE a IN (SELECT a FROM sales.x)",
            "SELECT 1 FROM far.`o``` WHERE a IN (SELECT a FROM far.x)",
        ),
    ],
)
def test_names_become_others_and_nothing_else_does(text: str, becomes: str | None) -> None:
    if becomes is None:
        with pytest.raises(WrongTableError):
            new(text)
    else:
        assert new(text) == becomes


def test_names_without_a_database_stay_where_a_setting_says_it() -> None:
    assert new("SELECT * FROM orders, x", is_said=True) == "SELECT * FROM orders, x"
    assert new("SELECT * FROM people", "hr", is_said=True) == "SELECT * FROM shop.staff AS `people`"
    assert new("SELECT * FROM orders", None) == "SELECT * FROM orders"


def test_what_is_not_known_is_left_and_said() -> None:
    assert left("SELECT * FROM sales.a JOIN other.b JOIN ice.other.c") == ("ice.other.c", "other.b")
    assert new("SELECT * FROM other.b, Other.`c d`") == "SELECT * FROM other.b, Other.`c d`"
    assert left("SELECT * FROM sales.a") == ()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM shop.orders",
        "SELECT * FROM sales.a WHERE x IN (SELECT y FROM `TAKEN`.`b`)",
        "SELECT taken.rate(a) FROM sales.a",
        "SELECT * FROM hive.shop.orders",
        "MERGE whatever taken.b",
        "SELECT (( FROM default.x",
        "SELECT * FROM IDENTIFIER('taken.b')",
        "SELECT * FROM stream(taken.b)",
        "SELECT * FROM taken.table_function(1)",
        "SELECT hive.taken.f(1) FROM sales.a",
        "SELECT * FROM (TABLE taken.b)",
        "TABLE taken.b UNION ALL SELECT * FROM sales.a",
        "SELECT a FROM sales.x /* /* */ UNION ALL SELECT a FROM taken.b -- */",
        "SELECT a FROM sales.x -- here \\\nUNION ALL SELECT a FROM taken.b",
        "INSERT INTO taken.b SELECT 1",
        *("SELECT * FROM parquet.`/data/x`", "SELECT * FROM Delta.`data/x@v1`", "SELECT * FROM json.`x.json`"),
        *("SELECT * FROM orc.`hdfs:///x`", "SELECT * FROM csv.`file:/x`", "SELECT * FROM `parquet` . `/x` p"),
        "SELECT * FROM `org.apache.spark.sql.parquet`.`x`",
        "SELECT (( FROM parquet.`/data/x`",
        "SELECT (( FROM `com.databricks.spark.csv`.`x`",
        "SELECT * FROM other.`a/b`",
        *("SELECT * FROM taken.pt.snapshots", "SELECT * FROM sales.pt.snapshots", "SELECT * FROM hr.people.files f"),
        "SELECT * FROM `Taken`.pt.branch_x VERSION AS OF 3",
        *("SELECT * FROM hive.taken.pt.files", "SELECT * FROM taken.pt.files.a"),
        *("SELECT * FROM IDENTIFIER('ta' || 'ken.b')", "SELECT * FROM identifier('sales.b')"),
        "SELECT (( FROM IDENTIFIER ('ta' || 'ken.b')",
        *("SELECT * FROM hudi_table_changes('x.y', 'latest')", "SELECT * FROM table_changes('y', 1)"),
        *("SELECT * FROM read_files('/data')", "SELECT * FROM f(g('x'))"),
        "/* Presto View: " + b64encode(b'{"originalSql":"SELECT * FROM taken.b"}').decode() + " */",
    ],
)
def test_a_name_that_is_something_else_here_is_refused(text: str) -> None:
    with pytest.raises(WrongTableError):
        new(text)
    with pytest.raises(WrongTableError):
        renamed_text("SELECT * FROM orders", ViewNames(known, "taken", TAKEN, True))


@pytest.mark.parametrize(
    "text",
    [
        *("SELECT * FROM parquet.`s3a://bucket/x`", "SELECT * FROM `ORC`.`hdfs://east/x/y` o"),
        *("SELECT * FROM ice.other.c", "SELECT * FROM other.pt.snapshots"),
        *("SELECT * FROM range(10)", "SELECT * FROM explode(array('a'))", "SELECT * FROM json_tuple('{}', 'a')"),
        *("SELECT * FROM VALUES ('a')", "SELECT rate(other.a, 'taken.b') FROM other.x VERSION AS OF 5"),
        "SELECT `a/b`, parquet.a FROM other.x parquet",
    ],
)
def test_what_means_the_same_here_stays(text: str) -> None:
    assert new(text) == text
    assert left(text) is not None


def test_a_database_that_is_called_like_a_format_is_renamed() -> None:
    def of_json(database: str, table: str | None) -> tuple[str, str | None] | None:
        return ("far", table) if database == "json" else None

    names = ViewNames(of_json, None, frozenset())
    assert renamed_text("SELECT * FROM json.`a/b`, json.c", names).text == "SELECT * FROM far.`a/b`, far.c"


def test_a_function_without_a_database_is_refused_where_the_views_own_is_another_one_here() -> None:
    """Spark looks for it in the database that it noted of the view, which is called so here too."""
    text = "SELECT rate(a) FROM hr.people"
    taken = ViewNames(known, "hr", frozenset({"hr", "shop"}), True)
    with pytest.raises(WrongTableError, match=r"rate\(\.\.\.\)"):
        renamed_text(text, taken)
    assert renamed_text("SELECT upper(a) FROM hr.people", taken).text == "SELECT upper(a) FROM shop.staff AS `people`"
    for other in (
        ViewNames(known, "hr", frozenset({"shop"}), True),
        ViewNames(known, "hr", frozenset({"hr", "shop"})),
    ):
        assert renamed_text(text, other).text == "SELECT rate(a) FROM shop.staff AS `people`"
    assert new("SELECT rate(a) FROM orders", is_said=True) == "SELECT rate(a) FROM orders"


@pytest.mark.parametrize(
    "text",
    [
        *("", "SELECT ((", "no SQL at all sales.orders", "/* Presto View: abc */", "SELECT 1; SELECT 2", "(" * 5000),
        *("WITH x AS (TABLE b) SELECT * FROM x", "SELECT (TABLE b) FROM sales.a", "TABLE b EXCEPT SELECT 1"),
        "SELECT a FROM sales.x -- \r JOIN sales.y",
    ],
)
def test_a_text_that_cannot_be_read_stays_and_is_marked(text: str) -> None:
    assert (new(text), left(text)) == (text, None)


_NAMES = st.one_of(
    st.sampled_from(["sales", "Sales", "sale", "sales_2", "far", "other", "select", "a`b", "a.b", "été", "x y", "'"]),
    st.text(st.characters(blacklist_characters="\0/", blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=8),
)
_REFERENCES = st.tuples(_NAMES, _NAMES)
_AROUND = st.sampled_from(["", " /* sales.orders */ ", " -- `sales`.`orders`\n", "\n\t"])


@given(st.lists(_REFERENCES, min_size=1, max_size=5), _NAMES, _AROUND)
def test_any_names_in_quotes_are_renamed_and_the_rest_stays(
    tables: list[tuple[str, str]], column: str, around: str
) -> None:
    def text(named: list[tuple[str, str]]) -> str:
        joined = " JOIN ".join(
            f"{quoted(database)}.{quoted(table)} t{at}" for at, (database, table) in enumerate(named)
        )
        return f"SELECT {quoted(column)}, 'sales.orders'{around} FROM{around} {joined}"

    def local(database: str, table: str | None) -> tuple[str, str | None] | None:
        return (f"l`{database}", table) if database.startswith(("s", "x")) else None

    def renamed(database: str) -> str:
        found = local(database.strip().lower(), None)
        return database if found is None else found[0]

    before = text(tables)
    found = named_in_text(before)
    assert found is not None
    assert [(one.database.name, one.table.name) for one in found.tables] == tables
    after = renamed_text(before, ViewNames(local, None, frozenset())).text
    assert after == text([(renamed(database), table) for database, table in tables])


@given(st.text(max_size=60), st.sampled_from(["SELECT {} FROM sales.orders", "SELECT 1 FROM {}", "{}"]))
def test_any_text_is_renamed_left_or_refused(fragment: str, around: str) -> None:
    text = around.replace("{}", fragment)
    try:
        changed = renamed_text(text, ViewNames(known, None, TAKEN))
    except WrongTableError:
        return
    assert re.sub(r"(?i)\bfar\b|\bsales\b", "", changed.text) == re.sub(r"(?i)\bfar\b|\bsales\b", "", text)
