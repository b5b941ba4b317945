"""Scripts with USE CLUSTER, and what is said of statements that run nowhere."""

import pytest

from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName
from twinhive.federation.routing.cluster_choice import Lacks, Nowhere
from twinhive.federation.routing.refusing import PlacedCopy, refusal
from twinhive.federation.routing.residence import ObjectResidence
from twinhive.federation.routing.script import statements_of
from twinhive.federation.routing.statement_reading import read_statement
from twinhive.federation.routing.temporary_tables import ScriptReader


def test_the_session_is_that_of_the_statement() -> None:
    script = """
    select 1;
    -- choose; one
    USE CLUSTER north;
    select 'a;b' /* not; here */ from t;
    use sales;
    select `x;y` from t;;
    /* back */ use cluster ;
    select 3
    """
    found = [(one.sql.split()[0], one.database, one.cluster) for one in statements_of(script, "default", "east")]
    assert found == [
        ("select", "default", "east"),
        ("select", "default", "north"),
        ("select", "sales", "north"),
        ("select", "sales", None),
    ]


@pytest.mark.parametrize("name", ["`a b`", "a-b", "a_1"])
def test_names_of_clusters_may_be_odd(name: str) -> None:
    [one] = statements_of(f"use cluster {name}; select 1", "d")
    assert one.cluster == name.strip("`")


def test_a_database_called_cluster_is_used_by_its_quoted_name() -> None:
    [one] = statements_of("use `cluster`; select 1", "d", "east")
    assert (one.database, one.cluster) == ("cluster", "east")


@pytest.mark.parametrize(
    "use",
    [
        *("use database Sales", "USE SCHEMA sales", "use namespace sales", "use `sales`", "use spark_catalog.sales"),
        *("use hive.`sales`", "use/* of */sales", "use`sales`", "use `spark_catalog`.`sales`"),
    ],
)
def test_a_database_is_used_by_any_of_its_names(use: str) -> None:
    [one] = statements_of(f"{use}; select 1", "d", "east")
    assert (one.database, one.cluster) == ("sales", "east")


@pytest.mark.parametrize(
    "line",
    [
        *("set hive.use.default.cluster=true", "SET hive.use.default.cluster = false", "set hive.use.default.cluster"),
        *(
            "set metaconf:hive.use.default.cluster=true",
            "reset hive.use.default.cluster",
            "set `hive.use.default.cluster`=1",
        ),
    ],
)
def test_the_switch_of_the_seed_is_refused_with_the_words_that_do_it(line: str) -> None:
    with pytest.raises(ActNow, match=r"(?s)is no setting here.*leave the line out.*USE CLUSTER"):
        list(statements_of(f"{line}; select 1", "d"))
    assert list(statements_of("set hive.use.default.clusters=1", "d"))


@pytest.mark.parametrize(
    "use", ["use catalog other", "set catalog other", "use other.sales", "use identifier('sales')", "use a b", "use"]
)
def test_where_names_are_looked_for_is_known_or_the_script_is_refused(use: str) -> None:
    with pytest.raises(ActNow, match="where the next statements would look for their tables cannot be told"):
        list(statements_of(f"{use}; select * from t", "d"))


@pytest.mark.parametrize("made", ["create temporary table T as select 1", "create temp view t as select * from u"])
@pytest.mark.parametrize(
    "later", ["select * from t", "use other; select * from T", "drop table t", "insert into t table u"]
)
def test_a_table_of_the_session_alone_hides_those_of_its_name(made: str, later: str) -> None:
    reader = ScriptReader(read_statement)
    *first, last = statements_of(f"select * from t; {made}; select * from u; {later}", "d")
    for one in first:
        reader.uses(one)
    with pytest.raises(ActNow, match="where t is cannot be told"):
        reader.uses(last)


def test_a_script_that_cannot_be_cut_is_one_error() -> None:
    with pytest.raises(ActNow, match="cannot be cut into statements"):
        list(statements_of("select 'open", "d"))


T, U = TableName("sales", "t"), TableName("sales", "u")
NONE = PlacedCopy()


def test_a_refusal_names_each_cluster_what_is_missing_and_the_command_that_copies_it() -> None:
    missing = ObjectResidence("day=1", (), {"north": "event 7 has changed the object since"})
    nowhere = Nowhere((Lacks("east", U, "north", ObjectResidence("sales.u", ())), Lacks("north", T, "east", missing)))
    words = refusal(
        nowhere, lambda lacks: PlacedCopy("near") if (lacks.table, lacks.cluster) == (T, "north") else NONE
    ).words
    assert words.what == "the statement can run on no cluster"
    assert words.found == (
        "east: sales.u, which belongs to north, is not there (there is no copy of it); north: day=1 of sales.t, which "
        "belongs to east, is not there (its copy is stale: event 7 has changed the object since)"
    )
    assert words.next_step == (
        "write placements/<name>.yaml with database sales, tables u, cluster east (docs/copies.md), then trigger its "
        "DAG; or have it copied to north: trigger the DAG near.copies, or twinhive run near copies"
    )
    words = refusal(nowhere, lambda lacks: NONE).words
    assert "placements/<name>.yaml" in (words.next_step or "")
    words = refusal(Nowhere((Lacks("east", T, "north", None),)), lambda lacks: NONE).words
    assert words.what == "the statement cannot run on cluster east"
    assert words.found == "east: sales.t is written, and belongs to north"
