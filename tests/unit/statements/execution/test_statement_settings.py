"""What a statement's WITH says wins over the policy file's hive_conf, which wins over what else the file says."""

from tests.unit.statements.execution.speaker import Speaker
from twinhive.statements.execution.dumping import dumping_of
from twinhive.statements.execution.statement_settings import keys_of
from twinhive.statements.language import parse

ROOT = "hive.repl.rootdir"


def dumped_to(speaker: Speaker, text: str, policy: str | None = None) -> str:
    return dumping_of(speaker.place(None if policy else "east", policy), parse(text)).order.policy.dump_root


def test_with_wins_over_hive_conf_and_hive_conf_over_the_default(speaker: Speaker) -> None:
    speaker.policies.add("sales", hive_conf={ROOT: "/of/policy"})
    assert dumped_to(speaker, "REPL DUMP sales") == "hdfs://east/user/hive/repl"
    assert dumped_to(speaker, "REPL DUMP sales", "sales") == "hdfs://east/of/policy"
    assert dumped_to(speaker, f"REPL DUMP sales WITH ('{ROOT}'='/of/statement')", "sales") == (
        "hdfs://east/of/statement"
    )
    assert dumped_to(speaker, f"REPL DUMP sales WITH ('{ROOT}'='hdfs://west/there')") == "hdfs://west/there"


def test_what_the_policy_file_says_elsewhere_is_the_default(speaker: Speaker) -> None:
    speaker.policies.add("sales", options={"copy_threads": 3}, external_tables={"include": False}, staging_root="/s")
    settings = keys_of(speaker.place(policy="sales"), (), "load")
    assert (settings.options.copy_threads, settings.external.included, settings.staging_root) == (3, False, "/s")
    said = (("hive.repl.parallel.copy.tasks", "5"), ("twinhive.staging.root", "/t"))
    settings = keys_of(speaker.place(policy="sales"), said, "load")
    assert (settings.options.copy_threads, settings.staging_root) == (5, "/t")


def test_a_key_of_hive_conf_counts_for_the_statements_that_use_it(speaker: Speaker) -> None:
    speaker.policies.add("sales", hive_conf={"hive.repl.dumpdir.ttl": "2d", "hive.repl.parallel.copy.tasks": "6"})
    place = speaker.place(policy="sales")
    assert keys_of(place, (), "dump").dump_ttl_seconds == 2 * 86_400
    assert keys_of(place, (), "load").options.copy_threads == 6
    assert keys_of(place, (), "status")
