"""Scripts: USE CLUSTER says where the next statements go, and what cannot be run is refused before anything is."""

import pytest
import yaml

from tests.unit.statements.execution.speaker import Speaker
from twinhive.core.model.errors import ActNow, InvalidSettings
from twinhive.statements.execution.statement_script import said_in


def _said(speaker: Speaker, script: str, cluster: str | None = None) -> list[tuple[str | None, str]]:
    """Return the clusters and the statements of a script, blanks as one."""
    return [(one.place.cluster, " ".join(one.text.split())) for one in said_in(script, speaker.place(cluster))]


def test_use_cluster_is_where_the_next_statements_go_and_without_a_name_nowhere(speaker: Speaker) -> None:
    script = """
        REPL STATUS a;
        USE CLUSTER east; -- the source; of a dump
        REPL DUMP `a` WITH ('k' = 'USE CLUSTER west; x');
        use cluster `west`;
        EXPORT TABLE a.b TO '/x';
        USE CLUSTER;
        REPL STATUS b
    """
    assert _said(speaker, script, "west") == [
        ("west", "REPL STATUS a;"),
        ("east", "-- the source; of a dump REPL DUMP `a` WITH ('k' = 'USE CLUSTER west; x');"),
        ("west", "EXPORT TABLE a.b TO '/x';"),
        (None, "REPL STATUS b"),
    ]


def test_a_script_dumps_on_one_cluster_and_asks_the_other(speaker: Speaker) -> None:
    directory, event_id = speaker.dump()
    rows = speaker.say(f"""
        USE CLUSTER east;
        REPL DUMP sales {speaker.without_external};
        USE CLUSTER west;
        REPL LOAD sales FROM '{directory}';
        REPL STATUS sales;
    """)
    assert rows == [(event_id,)]


def test_a_dry_run_of_a_script_plans_each_statement_where_it_goes(speaker: Speaker) -> None:
    lines = speaker.plan(
        f"USE CLUSTER east; REPL DUMP sales {speaker.without_external}; USE CLUSTER west; REPL STATUS x"
    )
    assert [line for line in lines if "REPL" in line] == [
        "REPL DUMP sales WITH ('hive.repl.include.external.tables'='false')",
        "REPL STATUS x",
    ]
    assert lines[-1] == "no replication knows this database"


def test_use_goes_with_statements_about_remotes_and_use_cluster_does_not_end_it(speaker: Speaker) -> None:
    script = "USE a; SHOW REMOTE TABLES; REPL STATUS b; USE CLUSTER east; SHOW REMOTE TABLES; SHOW CONNECTORS"
    assert _said(speaker, script) == [
        (None, "USE a; SHOW REMOTE TABLES;"),
        (None, "REPL STATUS b;"),
        ("east", "USE a; SHOW REMOTE TABLES; SHOW CONNECTORS"),
    ]


def test_a_script_of_use_cluster_alone_does_nothing(speaker: Speaker) -> None:
    assert speaker.say("USE CLUSTER east;") == []


def test_use_cluster_of_none_that_is_there_is_refused_and_nothing_is_run(speaker: Speaker) -> None:
    with pytest.raises(InvalidSettings, match="USE CLUSTER: there is no cluster south") as refused:
        speaker.say(f"USE CLUSTER east; REPL DUMP sales {speaker.without_external}; USE CLUSTER south")
    assert "east" in str(refused.value.text)
    assert not [path for path in speaker.world.source_files.paths() if "/repl/" in path]


def test_a_cluster_that_shares_a_metastore_is_refused_before_anything_is_run(speaker: Speaker) -> None:
    clusters = speaker.policies.directory / "clusters.yaml"
    said = yaml.safe_load(clusters.read_text())
    said["clusters"]["north"] = {**said["clusters"]["east"], "metastore": {"of": "east"}}
    speaker.policies.write("clusters.yaml", said)
    with pytest.raises(InvalidSettings, match="USE CLUSTER names a cluster that has no metastore") as refused:
        speaker.say(f"USE CLUSTER east; REPL DUMP sales {speaker.without_external}; USE CLUSTER north; REPL STATUS x")
    assert "name east instead" in str(refused.value.text)
    assert not [path for path in speaker.world.source_files.paths() if "/repl/" in path]
    # SQL there is no statement of ours, and is told how it is run on that cluster.
    with pytest.raises(ActNow, match="the Spark of a cluster runs it"):
        speaker.say("USE CLUSTER north; SELECT 1")


@pytest.mark.parametrize(
    "sql", ["SELECT 1", "with a as (select 1) select * from a", "-- all\nINSERT INTO t SELECT * FROM u", "DROP TABLE t"]
)
def test_a_query_is_refused_with_the_ways_to_run_it_and_nothing_is_run(speaker: Speaker, sql: str) -> None:
    with pytest.raises(ActNow, match="the Spark of a cluster runs it") as refused:
        speaker.say(f"USE CLUSTER east; REPL DUMP sales {speaker.without_external}; {sql}")
    said = str(refused.value.text)
    assert "twinhive route --cluster east" in said and "ClusterSqlOperator" in said
    assert not [path for path in speaker.world.source_files.paths() if "/repl/" in path]


def test_an_error_points_at_the_line_of_the_script(speaker: Speaker) -> None:
    with pytest.raises(InvalidSettings, match="wrong in line 3, column 29"):
        speaker.say("USE CLUSTER east;\nREPL STATUS a;\nREPL STATUS b; REPL DUMP  a TO 5")
    with pytest.raises(InvalidSettings, match="wrong in line 2"):
        speaker.say("REPL STATUS a;\nDROP REMOTE x")


def test_an_export_after_use_does_not_follow_it_and_is_refused(speaker: Speaker) -> None:
    with pytest.raises(InvalidSettings, match="EXPORT and IMPORT do not follow USE"):
        speaker.say("USE sales; EXPORT TABLE plain TO '/x'", "east")


def test_comments_of_sql_hold_no_statements(speaker: Speaker) -> None:
    script = "/* first; second */; REPL STATUS a; -- it's; done\n/* all; 'of */"
    assert _said(speaker, script) == [(None, "REPL STATUS a;")]


def test_a_script_with_an_open_text_is_refused_and_nothing_is_run(speaker: Speaker) -> None:
    with pytest.raises(ActNow, match=r"(?s)cannot be cut into statements.*Missing ' from 1:\d+"):
        speaker.say(f"USE CLUSTER east; REPL DUMP sales {speaker.without_external}; REPL STATUS 'a")
    assert not [path for path in speaker.world.source_files.paths() if "/repl/" in path]
