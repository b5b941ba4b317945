"""Keys under their Hive names: from the statement, else the policy file, else what is said elsewhere or nowhere."""

import pytest

from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.external.modes import External
from twinhive.core.model.policy import Options
from twinhive.runtime.settings.hive_key_table import KEYS, HiveKey, StatementKind
from twinhive.runtime.settings.hive_keys import resolve, wrong_setting
from twinhive.runtime.settings.hive_keys_refused import REFUSED, refused
from twinhive.runtime.settings.repl_settings import ReplSettings

# Every key of Hive 4.1's HiveConf whose name begins with hive.repl.
HIVE_4 = """
rootdir cm.enabled cmrootdir cm.retain cm.encryptionzone.rootdir cm.nonencryptionzone.rootdir cm.interval
ha.datapath.replace.remote.nameservice ha.datapath.replace.remote.nameservice.name replica.functions.root.dir
approx.max.load.tasks batch.incremental.events partitions.dump.parallelism table.dump.parallelism
run.data.copy.tasks.on.target dump.metadata.only retain.prev.dump.dir retain.prev.dump.dir.count
retain.custom.db.locations.on.target include.materialized.views dump.skip.immutable.data.copy
dump.metadata.only.for.external.table bootstrap.acid.tables bootstrap.dump.open.txn.timeout
bootstrap.dump.abort.write.txn.after.timeout add.raw.reserved.namespace include.external.tables
bootstrap.external.tables replica.external.table.base.dir external.warehouse.single.copy.task
external.warehouse.single.copy.task.paths include.authorization.metadata authorization.provider.service
handle.ranger.deny.policy failover.start ranger.target.deny.policy ranger.client.read.timeout include.atlas.metadata
atlas.endpoint atlas.replicatedto atlas.client.read.timeout external.client.connect.timeout source.cluster.name
target.cluster.name retry.initial.delay retry.backoff.coefficient retry.jitter retry.max.delay.between.retries
retry.total.duration copy.file.list.iterator.retry load.partitions.batch.size
load.partitions.with.data.copy.batch.size parallel.copy.tasks externaltable.snapshotdiff.copy
externaltable.snapshot.overwrite.target stats.events.count task.factory filter.transactions
"""
THREADS = "hive.repl.parallel.copy.tasks"


def test_nothing_said_is_the_default() -> None:
    settings = resolve((), {}, "dump")
    assert settings == ReplSettings()
    assert settings.root_directory == "/user/hive/repl" and settings.dump_ttl_seconds == 7 * 86_400
    assert settings.staging_root == "/twinhive/staging" and settings.layout == "twinhive"


def test_the_statement_wins_over_the_policy_file_which_wins_over_what_it_says_elsewhere() -> None:
    elsewhere = ReplSettings(options=Options(copy_threads=3, spark_tasks=7), staging_root="/s")
    statement, file = [(THREADS, "1")], {THREADS: "2"}

    assert resolve(statement, file, "load", elsewhere).options.copy_threads == 1
    assert resolve((), file, "load", elsewhere).options.copy_threads == 2
    assert resolve((), {}, "load", elsewhere).options.copy_threads == 3
    assert resolve((), {}, "load").options.copy_threads == Options().copy_threads
    assert resolve(statement, file, "load", elsewhere).options.spark_tasks == 7
    assert resolve(statement, file, "load", elsewhere).staging_root == "/s"


def test_a_key_of_the_policy_file_counts_for_the_statements_that_use_it() -> None:
    file = {THREADS: "2", "hive.repl.dump.metadata.only": "true", "hive.repl.rootdir": "/r"}

    assert resolve((), file, "dump") == ReplSettings(metadata_only=True, root_directory="/r")
    assert resolve((), file, "load") == ReplSettings(Options(copy_threads=2), root_directory="/r")
    assert resolve((), file, "status") == ReplSettings()


def test_the_seeds_example_i_leaves_external_tables_and_data_out() -> None:
    said = (("hive.repl.include.external.tables", "false"), ("hive.repl.dump.metadata.only", "true"))
    assert resolve(said, {}, "dump") == ReplSettings(external=External(included=False), metadata_only=True)


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("hive.repl.rootdir", "hdfs://east/repl/", "hdfs://east/repl"),
        ("hive.repl.rootdir", "/", "/"),
        ("hive.repl.replica.external.table.base.dir", "hdfs://west/", "hdfs://west/"),
        ("hive.repl.replica.external.table.base.dir", " hdfs://west/ext// ", "hdfs://west/ext"),
        ("hive.repl.include.external.tables", "FALSE", False),
        ("hive.repl.dump.metadata.only.for.external.table", "true", "metadata_only"),
        ("hive.repl.dump.metadata.only.for.external.table", "False", "copy"),
        ("hive.repl.dumpdir.ttl", "2", 2 * 86_400),
        ("hive.repl.dumpdir.ttl", "0s", 0),
        ("hive.repl.dumpdir.ttl", "36 Hours", 36 * 3600),
        ("hive.repl.dumpdir.ttl", "90min", 90 * 60),
        ("twinhive.bandwidth.mb", "0.5", 0.5),
        ("twinhive.consistency", "window_end", "window_end"),
    ],
)
def test_a_value_is_read_by_the_kind_of_its_key(key: str, text: str, value: object) -> None:
    settings: object = resolve([(key, text)], {}, KEYS[key].statements[0])
    for name in KEYS[key].field.split("."):
        settings = getattr(settings, name)
    assert settings == value


@pytest.mark.parametrize(
    ("kind", "key", "value", "found", "expected", "next_step"),
    [
        ("dump", "hive.repl.rotdir", "/r", "an unknown key", "hive.repl.rootdir, or another key", "correct the key"),
        ("dump", "HIVE.REPL.ROOTDIR", "/r", "an unknown key", "hive.repl.rootdir", "correct the key"),
        ("dump", "colour", "red", "an unknown key", "a key of docs/hive-keys.md", "leave it out"),
        ("dump", "", "", "an unknown key", "a key of docs/hive-keys.md", "leave it out"),
        ("load", "hive.repl.dump.metadata.only", "true", "a key of REPL DUMP", "that REPL LOAD uses", "in REPL DUMP"),
        ("dump", THREADS, "4", "a key of REPL LOAD", "a key that REPL DUMP uses", "say it in REPL LOAD"),
        ("status", "hive.repl.rootdir", "/r", "a key of REPL DUMP and REPL LOAD", "that REPL STATUS uses", "say it in"),
        ("dump", "hive.repl.cmrootdir", "/c", "the change manager is the source's", "a key of", "set it there"),
        ("load", "distcp.options.bandwidth", "5", "an engine of our own", "a key of", "use twinhive.bandwidth.mb"),
        ("load", "hive.repl.ha.x", "5", "told to its own client", "a key of", "in clusters.yaml"),
        ("load", "hive.repl.run.data.copy.tasks.on.target", "true", "copied by the load", "a key of", "leave it out"),
        ("dump", "hive.repl.include.external.tables", "yes", "'yes'", "true, false", "correct the value"),
        ("load", THREADS, "many", "'many'", "1 to 64", "correct the value"),
        ("load", THREADS, "65", "'65'", "1 to 64", "correct the value"),
        ("load", "hive.repl.approx.max.load.tasks", "1", "'1'", "2 or more", "correct the value"),
        ("dump", "hive.repl.rootdir", "repl", "'repl'", "path: absolute, or a URI", "correct the value"),
        ("dump", "hive.repl.rootdir", "", "''", "path: absolute, or a URI", "correct the value"),
        ("dump", "hive.repl.dumpdir.ttl", "-1d", "'-1d'", "duration: a number with d, h", "correct the value"),
        ("dump", "hive.repl.dumpdir.ttl", "3 weeks", "'3 weeks'", "without one, days", "correct the value"),
        ("load", "twinhive.bandwidth.mb", "0", "'0'", "megabytes a second, above 0", "correct the value"),
        ("load", "twinhive.consistency", "some", "'some'", "every_event, window_end", "correct the value"),
        ("dump", "twinhive.dump.layout", "Hive", "'Hive'", "twinhive, hive", "correct the value"),
    ],
)
def test_what_cannot_be_used_says_why(
    kind: StatementKind, key: str, value: str, found: str, expected: str, next_step: str
) -> None:
    with pytest.raises(InvalidSettings) as caught:
        resolve([(key, value)], {}, kind)
    error = caught.value
    assert error.what == f"{key} in WITH cannot be used"
    assert found in str(error.found) and expected in str(error.expected) and next_step in str(error.next_step)
    assert "\n" not in f"{error.what}{error.found}{error.expected}{error.next_step}"


def test_a_wrong_key_of_the_policy_file_names_the_file() -> None:
    with pytest.raises(InvalidSettings, match=r"^hive\.repl\.rotdir in hive_conf of the policy file cannot be used"):
        resolve((), {"hive.repl.rotdir": "/r"}, "status")


@pytest.mark.parametrize("name", HIVE_4.split())
def test_every_key_of_hives_replication_is_understood_or_refused_with_a_reason(name: str) -> None:
    key = f"hive.repl.{name}"
    assert (key in KEYS) != (refused(key) is not None)


@pytest.mark.parametrize("key", KEYS.values(), ids=lambda key: key.name)
def test_a_key_is_explained_and_its_default_is_a_value_of_its_kind(key: HiveKey) -> None:
    assert refused(key.name) is None
    assert key.statements and key.meaning and key.differs
    if key.default is not None:
        text = key.kind.written(key.default)
        assert key.kind.read(text) == key.default
        assert wrong_setting(key.name, text) is None


def test_no_two_keys_say_the_same() -> None:
    assert len({key.field for key in KEYS.values()}) == len(KEYS)
    assert len({one.name for one in REFUSED}) == len(REFUSED)
    assert all(refused(one.name.removesuffix("*")) == one for one in REFUSED)
