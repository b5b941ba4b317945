"""What statements read and write: a table of statements, and texts that are refused."""

import pytest

from twinhive.core.model.errors import ActNow
from twinhive.federation.routing.predicates import ALL
from twinhive.federation.routing.statement_reading import read_statement, view_reads

DIRECTORY, LOCATION = "it writes to a directory", "it names a location of its own"
STATEMENTS: list[tuple[str, str, str, str]] = [
    # statement, written, read, unknown
    ("select * from T11 a join db.T21 b on a.x = b.x", "", "d.t11 db.t21", ""),
    ("select * from T11, T12", "", "d.t11 d.t12", ""),
    (
        "select * from (select * from T11 union select * from T12) u lateral view explode(a) e as v",
        "",
        "d.t11 d.t12",
        "",
    ),
    ("select (select max(x) from T12) from T11 where y in (select y from T21)", "", "d.t12 d.t11 d.t21", ""),
    ("select a from T11 group by a having count(*) > (select max(x) from T21)", "", "d.t11 d.t21", ""),
    ("select transform(a) using 'x' as (b) from T11", "", "d.t11", ""),
    ("select `a` from `db`.`t``x`", "", "db.t`x", ""),
    ("select a from hive.db.T11", "", "db.t11", ""),
    ("select * from range(10)", "", "", ""),
    ("values (1)", "", "", ""),
    ("with x as (select * from T11), y as (select * from x) select * from y join T12", "", "d.t11 d.t12", ""),
    ("with T11 as (select * from T11) select * from T11", "", "d.t11", ""),
    ("select * from (with x as (select 1) select * from x) a join x on a.b = x.b", "", "d.x", ""),
    ("insert into T13 select * from T11", "d.t13", "d.t11", ""),
    ("insert into T13 (a, b) select * from T11", "d.t13", "d.t11", ""),
    ("insert overwrite table db.T21 partition (ds = '1') select a from T11", "db.t21", "d.t11", ""),
    ("insert into T21 table T11", "d.t21", "d.t11", ""),
    ("insert into T21 values (1)", "d.t21", "", ""),
    ("with x as (select * from T11) insert into T21 select * from x", "d.t21", "d.t11", ""),
    ("from T11 insert into T21 select a insert overwrite table T31 select b", "d.t21 d.t31", "d.t11", ""),
    ("from T11 a join T12 b on a.x = b.x insert into T21 select a.x", "d.t21", "d.t11 d.t12", ""),
    ("from (select * from T11) x insert into T21 select x.a", "d.t21", "d.t11", ""),
    ("insert overwrite directory '/tmp/x' select * from T11", "", "d.t11", DIRECTORY),
    ("create table T13 as select * from T11", "d.t13", "d.t11", ""),
    ("create table if not exists T13 stored as orc as select a, count(*) from T11 group by a", "d.t13", "d.t11", ""),
    ("create table T13 (a int)", "d.t13", "", ""),
    ("create table T13 like T11", "d.t13", "", ""),
    ("create external table T13 (a int) location '/x'", "d.t13", "", LOCATION),
    ("create temporary table t as select * from T11", "", "d.t11", ""),
    ("create view v as select * from T11", "", "", ""),
    ("create database x", "", "", ""),
    ("create database x location 'hdfs://x/y'", "", "", LOCATION),
    ("create function f as 'a.B' using jar 'hdfs://x/y.jar'", "", "", ""),
    ("select * from `stream` s join db.stream t on s.a = t.a join stream", "", "d.stream db.stream d.stream", ""),
    ("drop table if exists db.T11", "db.t11", "", ""),
    ("drop view v", "", "", ""),
    ("drop database x", "", "", ""),
    ("truncate table T11", "d.t11", "", ""),
    ("load data inpath '/x' into table T11", "d.t11", "", ""),
    ("analyze table T11 compute statistics", "d.t11", "", ""),
    ("alter table T11 add partition (ds = '1')", "d.t11", "", ""),
    ("alter table T11 add partition (ds = '1') location 'hdfs://x/y'", "d.t11", "", LOCATION),
    ("alter table T11 drop partition (ds = '1')", "d.t11", "", ""),
    ("alter table T11 rename to T12", "d.t11", "", ""),
    ("alter table T11 exchange partition (ds = '1') with table db.T12", "d.t11 db.t12", "", ""),
    ("alter view v as select * from T11", "", "", ""),
    ("merge into T11 t using T21 s on t.a = s.a when matched then update set a = s.b", "d.t11", "d.t21", ""),
    ("update T11 set a = 1 where b in (select b from T12)", "d.t11", "d.t12", ""),
    ("delete from T11 where a = 1", "d.t11", "", ""),
    ("msck repair table db.T11", "db.t11", "", ""),
    ("export table T11 to '/x'", "", "d.t11", DIRECTORY),
    ("explain extended insert into T21 select * from T11", "d.t21", "d.t11", ""),
    ("-- a comment\nexplain select * from T11", "", "d.t11", ""),
    ("/* why */ -- and how\nexplain select * from T11", "", "d.t11", ""),
    ("explain analyze select * from T11", "", "d.t11", ""),
    ("explain analyze table T11 compute statistics", "d.t11", "", ""),
    ("create materialized view T13 as select * from T11", "d.t13", "d.t11", ""),
    ("drop materialized view T13", "d.t13", "", ""),
    ("comment on table db.T11 is 'x'", "db.t11", "", ""),
    ("alter table T11 partition (ds = '1') rename to partition (ds = '2')", "d.t11", "", ""),
    ("alter table if exists db.T11 touch", "db.t11", "", ""),
    ("alter table T11 concatenate", "d.t11", "", ""),
    ("alter table T11 set location'hdfs://x/y'", "d.t11", "", LOCATION),
    ("alter table T11 set serdeproperties ('path' = 'hdfs://x/y')", "d.t11", "", LOCATION),
    ("alter table T11 set serdeproperties (path = 'hdfs://x/y')", "d.t11", "", LOCATION),
    ("alter table T11 partition (a = '(') set serdeproperties ('a' = '1', PATH 'hdfs://x/y')", "d.t11", "", LOCATION),
    ("alter table T11 set tblproperties (`path` r'hdfs://x/y')", "d.t11", "", LOCATION),
    ("alter table T11 set tblproperties (\n'path' 'hdfs://x/y')", "d.t11", "", LOCATION),
    ("alter table T11 set tblproperties (a.path = 'x', paths = 'y')", "d.t11", "", ""),
    ("alter table T11 set tblproperties (path.a = 'x', 'a' = 'path', 'pat' 'h')", "d.t11", "", ""),
    ("alter table T11 set tblproperties ('comment' = 'see, path = b')", "d.t11", "", ""),
    ("alter table T11 set tblproperties ('a(' = ')', 'comment' = 'properties (a, path = 1)')", "d.t11", "", ""),
    ("alter table T11 set serdeproperties (r'path' 'hdfs://x/y')", "d.t11", "", LOCATION),
    ("alter table T11 set serdeproperties ('a' = ')', R\"path\" = 'hdfs://x/y')", "d.t11", "", LOCATION),
    ("alter table T11 set serdeproperties ('p\\u0061th' = 'hdfs://x/y')", "d.t11", "", LOCATION),
    ("alter table T11 set serdeproperties ('p\\U00000061\\164\\h' 'hdfs://x/y')", "d.t11", "", LOCATION),
    ("alter table T11 set serdeproperties ('pa' 'th' = 'hdfs://x/y')", "d.t11", "", LOCATION),
    ("alter table T11 set serdeproperties (path 5)", "d.t11", "", LOCATION),
    ("alter table T11 set location r'hdfs://x/y'", "d.t11", "", LOCATION),
    ("alter table T11 add partition (path = '1')", "d.t11", "", ""),
    ("repair table db.T11", "db.t11", "", ""),
    ("insert overwrite table T21 partition (ds, h = 1) select a, ds from T11", "d.t21", "d.t11", ""),
    ("from T11 t lateral view explode(t.x) e as v insert into T21 select v", "d.t21", "d.t11", ""),
    ("select * from T11 lateral view explode((select x from T12)) e as v", "", "d.t11 d.t12", ""),
    ("select * from explode(array(1)) union all select * from values (1) as x(a)", "", "", ""),
    ("insert overwrite table T21 partition (ds='1') if not exists select a from T11", "d.t21", "d.t11", ""),
    ("from T11 insert into T21 partition (ds = f(1)) IF /* x */ NOT EXISTS select a", "d.t21", "d.t11", ""),
    ("explain vectorization only detail select * from T11", "", "d.t11", ""),
    # Names that common table expressions hide, each only where it is known.
    ("with x as (with x as (select * from T11) select * from x) select * from x join d.x", "", "d.t11 d.x", ""),
    ("with a as (with b as (select * from T11) select * from b) select * from a join b", "", "d.t11 d.b", ""),
    ("(with q as (select * from T11) select * from q) union all select * from q", "", "d.t11 d.q", ""),
    ("select * from T11 where a in (with T11 as (select * from T12) select a from T11)", "", "d.t11 d.t12", ""),
    ("insert into T21 with b as (select * from T11) select * from b, c", "d.t21", "d.t11 d.c", ""),
    ("with q as (select * from T11) merge into q using q s on 1 = 1 when matched then delete", "d.q", "d.t11", ""),
    (
        "with recursive r as (select * from T11 union all select * from r join T12) select * from r",
        "",
        "d.t11 d.t12",
        "",
    ),
    # Texts, comments and hints in which names are none.
    ("select '-- x; from y', a /* ' from T12; */ from T11 -- ; from T12", "", "d.t11", ""),
    ("select /*+ MAPJOIN(s), BROADCAST(T12) */ * from T11 s where a = 'it\\'s; drop table x; --'", "", "d.t11", ""),
    ("explain /* x */ formatted /* y */ insert into T21 select * from T11", "d.t21", "d.t11", ""),
    ("alter table T11 /* c */ exchange /* d */ partition (ds = '1') with table T12", "d.t11 d.t12", "", ""),
    ("msck/**/repair table -- all\nT11", "d.t11", "", ""),
    # Subqueries wherever one may stand.
    (
        "merge into T21 t using (select * from T11 where a not in (select a from T12)) s on t.a = s.a "
        "when matched and exists (select 1 from f where f.a = s.a) then update set b = (select max(b) from g)",
        "d.t21",
        "d.t11 d.t12 d.f d.g",
        "",
    ),
    ("update T21 set a = (select max(a) from T11) where b in (select b from T12)", "d.t21", "d.t11 d.t12", ""),
    ("delete from T21 as x where x.a in (select a from T11)", "d.t21", "d.t11", ""),
    (
        "from T11 insert into T21 select a insert into T31 select b where b in (select b from f)",
        "d.t21 d.t31",
        "d.t11 d.f",
        "",
    ),
    (
        "select sum(a) over (partition by (select 1 from T12)) from T11 order by (select 1 from f)",
        "",
        "d.t12 d.t11 d.f",
        "",
    ),
    (
        "select a from T11 union all select a from T12 intersect select a from f minus select a from g",
        "",
        "d.t11 d.t12 d.f d.g",
        "",
    ),
    ("select * from T11, lateral (select * from T12) x, ((f)), (g join h on 1 = 1)", "", "d.t11 d.t12 d.f d.g d.h", ""),
    # Places that are said in other ways.
    ("create table T13 (a int) tblproperties ('path' = '/x')", "d.t13", "", LOCATION),
    ("create table T13 like T11 location '/x'", "d.t13", "", LOCATION),
    ("alter table T11 set skewed location (1 = 'hdfs://x/y')", "d.t11", "", LOCATION),
    ("cache table c as select * from T11", "", "d.t11", ""),
    ("cache table T11", "", "d.t11", ""),
    ("reload functions", "", "", ""),
    ("list jars", "", "", ""),
    ("show partitions T11", "", "", ""),
    ("describe formatted db.T11", "", "", ""),
    ("use db", "", "", ""),
    ("set a = b", "", "", ""),
    ("refresh table T11", "", "d.t11", ""),
    ("select * from T11;", "", "d.t11", ""),
    ("select table, `table` a, x.table b from T11 x", "", "d.t11", ""),
    ("select * from parquet.`hdfs://x/y`", "", "", "it reads files by their path: hdfs://x/y"),
]


@pytest.mark.parametrize(("sql", "written", "read", "unknown"), STATEMENTS, ids=[one[0][:60] for one in STATEMENTS])
def test_what_a_statement_touches(sql: str, written: str, read: str, unknown: str) -> None:
    uses = read_statement(sql, "d")
    assert " ".join(map(str, uses.outputs)) == written
    assert " ".join(str(one.name) for one in uses.inputs) == read
    assert "; ".join(uses.unknown) == unknown


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("", "0 statements"),
        ("hello", "a Column"),
        ("select * from `db.t`", "no name of a table"),
        ("insert into `db.t` select 1", "no name of a table"),
        ("select * from (table t)", "no name of a table"),
        ("select * from t where day = '${hiveconf:day}'", "${hiveconf:day} stands for something"),
        ("select 1 /* /* */ union all select a from t -- */", "a comment in a comment"),
        ("select * from t -- all \\\nwhere ds = '1'", "a comment that ends elsewhere"),
        ("select 1 -- one\r union all select a from t", "a comment that ends elsewhere"),
        ("select * from identifier('d.t')", "identifier(...) in place of a table"),
        ("select * from f(table(t))", "f(...) in place of a table"),
        ("select * from read_files('/x')", "read_files(...) in place of a table"),
        ("set var x = (select max(a) from t)", "SET of more than a setting"),
        ("SET VARIABLE (x, y) = (select a, b from t)", "SET of more than a setting"),
        ("set /* one */ var x = (select max(a) from t)", "SET of more than a setting"),
        ("set catalog x", "SET of more than a setting"),
        ("set spark.sql.defaultCatalog=x", "SET of more than a setting"),
        ("SET spark.sql.catalog.spark_catalog = x.Y", "SET of more than a setting"),
        ("set `spark.sql.ansi.doubleQuotedIdentifiers`=true", "SET of more than a setting"),
        ("set hiveconf:hive.support.quoted.identifiers=standard", "SET of more than a setting"),
        ("set spark.sql.legacy.ctePrecedencePolicy=LEGACY", "SET of more than a setting"),
        ("set hive.metastore.uris=thrift://x:9083", "SET of more than a setting"),
        ("set metastore.catalog.default=other", "SET of more than a setting"),
        ("set hiveconf:metastore.catalog.default = other", "SET of more than a setting"),
        ("set spark.sql.caseSensitive=true", "SET of more than a setting"),
        ("set collation unicode_ci", "SET of more than a setting"),
        ("select (table u)", "TABLE u, which may be a table"),
        ("with x as (table u) select * from x", "TABLE u, which may be a table"),
        ("table u union all select * from t", "TABLE u, which may be a table"),
        ("select * from t where a = (table u) order by (table w)", "TABLE u, which may be a table"),
        ("select a into x from t", "INTO in a query"),
        ("insert into t partition (p = (select max(p) from u)) select 1", "a query in what is written"),
        ("insert into t partition (p = (table u)) select 1", "a query in what is written"),
        ("select * from stream t", "no name of a table"),
        ("select * from stream as t", "no name of a table"),
        ("create function f() returns int return (select max(a) from t)", "a function of a query"),
        ("create or replace temporary function f() returns table(a int) return select a from t", "a function of a"),
        ("alter table t partition (ds = '1') exchange with table u", "no statement of SQL that is known here"),
        ("show tables; drop table x", "several statements"),
        ("delete jar x", "nothing with a name to write to"),
        ("delete archive x", "nothing with a name to write to"),
        ("delete t where a = 1", "nothing with a name to write to"),
        ("analyze", "nothing with a name to write to"),
        ("explain select 1; drop table x", "several statements"),
        ("msck repair table t /* never ends", "no statement of SQL that is known here"),
        ("create table t clone u", "CLONE"),
        ("comment on database d is 'x'", "COMMENT ON"),
        ("msck repair table a.b.c", "no statement of SQL that is known here"),
        ("alter table a.b.c touch", "no statement of SQL that is known here"),
        ("alter table t exchange partitions (p = '1') with table u", "no statement of SQL that is known here"),
        ("select 1; drop table x", "several statements"),
        ("drop database x cascade", "which drops tables that it does not name"),
        ("select * from other.db.t", "catalog other"),
        ("select * from a.b.c.d", "no name of a table"),
        ("repl dump x", "no statement of SQL that is known here"),
        ("import table x from '/y'", "no statement of SQL that is known here"),
        ("select * from", "no statement of SQL that is known here"),
        ("select " + "(" * 5_000 + "1" + ")" * 5_000, ""),
    ],
    ids=lambda text: str(text)[:40],
)
def test_what_may_touch_anything_is_refused(sql: str, found: str) -> None:
    with pytest.raises(ActNow, match="the statement cannot be routed") as refused:
        read_statement(sql, "d")
    assert found in (refused.value.words.found or "")


def test_a_view_is_read_with_its_own_database_and_must_be_a_query() -> None:
    assert [str(one.name) for one in view_reads("select * from t join `other`.`u`", "views")] == ["views.t", "other.u"]
    for text in (
        *("", "insert into x select 1", "select * from parquet.`hdfs://x/y`", "select * from t /* /* */, u -- */"),
        *("select * from t where a = '${x}'", "table t union all select * from u"),
    ):
        with pytest.raises(ActNow):
            view_reads(text, "views")


@pytest.mark.parametrize(
    ("sql", "made"),
    [
        ("create table T13 as select * from T11", "d.t13"),
        ("create table if not exists T13 (a int)", "d.t13"),
        ("insert into T13 select * from T11", "d.t13"),
        ("from T11 insert into T13 select a insert into T21 select b", "d.t13 d.t21"),
        ("drop table if exists T13", ""),
        ("truncate table T13", ""),
        ("create temporary table T13 (a int)", ""),
    ],
)
def test_what_a_statement_makes(sql: str, made: str) -> None:
    assert " ".join(map(str, read_statement(sql, "d").made)) == made


def test_what_a_session_makes_for_itself_is_said() -> None:
    for sql in (
        "create temporary table V (a int)",
        "create or replace temp view v as select * from T11",
        "cache lazy table V options ('storageLevel' = 'DISK_ONLY') select * from T11",
    ):
        uses = read_statement(sql, "d")
        assert (uses.outputs, [str(one) for one in uses.temporary]) == ((), ["d.v"])


@pytest.mark.parametrize(
    "sql",
    [
        "select * from T11 y lateral view explode(x) y as ds where y.ds = '1'",
        "select * from a.T11 join b.T11 on 1 = 1 where T11.ds = '1'",
        "with q as (select 1 as ds) select * from T11 x join q x on 1 = 1 where x.ds = '1'",
    ],
)
def test_a_condition_on_a_name_that_several_have_is_one_on_none(sql: str) -> None:
    assert {one.where for one in read_statement(sql, "d").inputs} == {ALL}
