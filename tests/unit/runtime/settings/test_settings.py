from pathlib import Path

import pytest

from twinhive.core.model.errors import InvalidSettings
from twinhive.runtime.settings import Configuration, load_configuration

CLUSTERS = """
clusters:
  east: &cluster
    metastore: {connection: east_metastore}
    file_system: {connection: east_hdfs}
    job_tracker: {connection: east_spark}
  west: *cluster
"""
SALES = "policy: sales\nsource: {cluster: east, database: Sales}\nreplica: {cluster: west, database: sales}\n"


def load(directory: Path, clusters: str = CLUSTERS, **policies: str) -> Configuration:
    (directory / "policies").mkdir()
    (directory / "clusters.yaml").write_text(clusters)
    for name, text in policies.items():
        (directory / "policies" / f"{name}.yaml").write_text(text)
    return load_configuration(directory)


def test_a_good_policy_is_usable_and_has_names_in_lower_case(tmp_path: Path) -> None:
    settings = load(tmp_path, sales=SALES).policy("sales").usable()
    assert settings.source.database == "sales"
    assert settings.tables.include == (".*",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SALES.replace("east", "esat"), "source.cluster: found 'esat', expected one of east, west"),
        (SALES + "tabels: {}\n", "tabels: unknown key, expected one of"),
        (SALES + "tables: {inclde: ['a']}\n", "tables.inclde: unknown key, expected one of exclude, include"),
        (SALES + "tables: {include: ['a(']}\n", "tables.include.0: found 'a(', expected regular expression (missing )"),
        (
            SALES + "tables: {include: []}\n",
            "tables.include: found [], expected list of: regular expression, at least one",
        ),
        (SALES + "options: {copy_threads: 0}\n", "options.copy_threads: found 0, expected 1 to 64"),
        (SALES + "options: {bandwidth_mb: 0}\n", "options.bandwidth_mb: found 0, expected megabytes a second, above 0"),
        (
            SALES + "options: {copy_treads: 1}\n",
            "options.copy_treads: unknown key, expected one of approx_max_load_tasks, bandwidth_mb, batch_bytes",
        ),
        (SALES + "staging_root: staging\n", "staging_root: found 'staging'"),
        (
            SALES.replace("source: {cluster: east, database: Sales}\n", ""),
            "source: missing, expected keys: cluster, database",
        ),
        (SALES.replace("cluster: west", "cluster: east"), "replica: found the source itself (east/sales)"),
        ("a: [", "not readable YAML"),
        ("just text", "(whole file)"),
        (SALES + "options: {copy_threads: 2013-99-99}\n", "not readable YAML"),
    ],
)
def test_what_is_wrong_names_file_key_and_value(tmp_path: Path, text: str, said: str) -> None:
    entry = next(iter(load(tmp_path, sales=text).policies.values()))
    assert entry.name == "sales"
    assert said in (entry.error or "")
    assert "sales.yaml cannot be used" in (entry.error or "")
    with pytest.raises(InvalidSettings, match=r"sales\.yaml"):
        entry.usable()


@pytest.mark.parametrize("stem", ["sales", "p" * 150])
def test_a_name_that_airflow_has_no_room_for_is_refused_and_the_policy_has_one_that_fits(
    tmp_path: Path, stem: str
) -> None:
    text = SALES.replace("policy: sales", "policy: " + "p" * 101)
    [entry] = load(tmp_path, **{stem: text}).policies.values()
    assert "policy: found 'ppp" in (entry.error or "") and "at most 100 letters" in (entry.error or "")
    assert len(entry.name) <= 100


def test_a_name_as_long_as_a_tag_may_be_is_fine(tmp_path: Path) -> None:
    name = "p" * 100
    assert load(tmp_path, sales=SALES.replace("policy: sales", f"policy: {name}")).policy(name).error is None


@pytest.mark.parametrize(
    "said",
    [
        'policy: "sales\\n"',
        'replica: {cluster: west, database: "sales\\n"}',
        'external_tables: {preserve: "rb\\n"}',
    ],
)
def test_a_line_break_behind_a_name_is_refused(tmp_path: Path, said: str) -> None:
    key = said.partition(":")[0]
    text = "".join(line for line in SALES.splitlines(keepends=True) if not line.startswith(f"{key}:"))
    with pytest.raises(InvalidSettings, match=key):
        load(tmp_path, sales=text + said + "\n").policy("sales").usable()


def test_a_broken_clusters_file_turns_every_policy_red(tmp_path: Path) -> None:
    entry = load(tmp_path, clusters="clusters: {east: {metastor: 1}}", sales=SALES).policy("sales")
    assert "clusters.east.metastor: unknown key, expected one of" in (entry.error or "")


def test_two_policies_of_one_name_are_both_red(tmp_path: Path) -> None:
    configuration = load(tmp_path, a=SALES, b=SALES.replace("west, database: sales", "west, database: other"))
    assert "several policies have the same name sales: a.yaml, b.yaml" in (configuration.policy("sales").error or "")


def test_two_policies_into_one_database_are_both_red(tmp_path: Path) -> None:
    configuration = load(tmp_path, a=SALES, b=SALES.replace("policy: sales", "policy: copy"))
    for name in ("sales", "copy"):
        assert "the same replica database west/sales: a.yaml, b.yaml" in (configuration.policy(name).error or "")


NOWHERE = SALES.replace("cluster: east", "cluster: nowhere")


@pytest.mark.parametrize("others", ["a", "b"])
def test_a_name_of_two_hides_nothing_else_that_is_wrong(tmp_path: Path, others: str) -> None:
    files = {"a": SALES + "colour: red\n", "b": SALES + "colour: red\n", others: NOWHERE}
    error = load(tmp_path, **files).policy("sales").error or ""
    assert "several policies have the same name sales: a.yaml, b.yaml" in error
    assert "colour: unknown key" in error and "source.cluster: found 'nowhere'" in error


def test_a_replica_of_two_hides_nothing_else_that_is_wrong(tmp_path: Path) -> None:
    error = load(tmp_path, a=NOWHERE, b=SALES.replace("policy: sales", "policy: copy")).policy("sales").error or ""
    assert "the same replica database west/sales" in error and "source.cluster: found 'nowhere'" in error


def test_what_is_wrong_with_the_clusters_is_said_once_beside_a_conflict(tmp_path: Path) -> None:
    error = load(tmp_path, clusters="clusters: {east: {metastor: 1}}", a=SALES, b=SALES).policy("sales").error or ""
    assert "several policies have the same name" in error and error.count("metastor: unknown key") == 1


def test_a_broken_file_does_not_hide_the_others(tmp_path: Path) -> None:
    configuration = load(tmp_path, good=SALES, bad="policy: [")
    assert configuration.policy("sales").usable()
    assert configuration.policy("bad").error


def test_an_unknown_policy_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match="one of sales"):
        load(tmp_path, sales=SALES).policy("slaes")


def test_tuning_does_not_change_the_fingerprint_but_scope_does(tmp_path: Path) -> None:
    one = load(tmp_path, sales=SALES).policy("sales").usable()
    tuned = type(one).model_validate({**one.model_dump(), "options": {"copy_threads": 3}})
    keyed = type(one).model_validate({**one.model_dump(), "hive_conf": {"hive.repl.rootdir": "/repl"}})
    narrowed = type(one).model_validate({**one.model_dump(), "tables": {"include": ["a"]}})
    assert one.fingerprint == tuned.fingerprint == keyed.fingerprint != narrowed.fingerprint


def test_a_misspelt_key_of_the_clusters_file_gets_its_own_keys_as_a_hint(tmp_path: Path) -> None:
    entry = load(tmp_path, clusters="cluster: {}", sales=SALES).policy("sales")
    assert "cluster: unknown key, expected one of clusters" in (entry.error or "")


def test_a_file_that_is_not_utf_8_is_red_and_hides_nothing(tmp_path: Path) -> None:
    load(tmp_path, sales=SALES)
    (tmp_path / "policies" / "latin.yaml").write_bytes("policy: Z\xfcrich".encode("latin-1"))
    configuration = load_configuration(tmp_path)
    assert configuration.policy("sales").usable()
    assert "latin.yaml cannot be used" in (configuration.policy("latin").error or "")


SHARED = (
    CLUSTERS
    + """  north:
    metastore: {of: east}
    file_system: {connection: north_hdfs}
    job_tracker: {connection: north_spark}
"""
)


def test_clusters_that_share_a_metastore_ask_the_same_one(tmp_path: Path) -> None:
    configuration = load(tmp_path, clusters=SHARED)
    assert configuration.clusters["north"].metastore.connection == "east_metastore"
    assert configuration.clusters["north"].file_system.connection == "north_hdfs"
    assert (
        configuration.clusters_of_metastore("north") == configuration.clusters_of_metastore("east") == ("east", "north")
    )
    assert configuration.clusters_of_metastore("west") == ("west",)


@pytest.mark.parametrize(
    ("said", "of_east", "of_west"), [("", "east", "west"), ("north", "north", "west"), ("west", "east", "west")]
)
def test_the_default_cluster_is_that_of_the_file_where_it_shares_the_metastore(
    said: str, of_east: str, of_west: str, tmp_path: Path
) -> None:
    configuration = load(tmp_path, clusters=SHARED + (f"default_cluster: {said}\n" if said else ""))
    assert configuration.default_cluster_of("east") == configuration.default_cluster_of("north") == of_east
    assert configuration.default_cluster_of("west") == of_west


def test_a_policy_of_a_metastore_that_others_share_is_as_before(tmp_path: Path) -> None:
    assert load(tmp_path, clusters=SHARED, sales=SALES).policy("sales").usable()
