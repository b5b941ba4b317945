"""Type what on-call types, against two clusters in memory."""

from tests.support.builders import a_table
from tests.support.policy_terminal import Terminal
from tests.support.worlds.fake_world import REPLICA_ADDRESS
from tests.support.worlds.memory_comparison import assert_twin
from tests.unit.operations.failover.test_readiness import READY
from twinhive.core.model.exit_codes import ExitCode


def test_a_bootstrap_goes_on_until_the_replica_is_published(published: Terminal) -> None:
    assert_twin(published.world)


def test_incremental_applies_a_window_and_consolidate_finds_nothing_to_do(published: Terminal) -> None:
    published.users.insert("plain", None, [b"more"])
    assert "already applied" in published.type("run", "sales", "consolidate")
    published.type("run", "sales", "incremental")
    assert_twin(published.world)


def test_a_bootstrap_brings_the_data_of_external_tables_before_it_publishes(terminal: Terminal) -> None:
    terminal.world.source_files.put("hdfs://east/outside/part-0", b"rows")
    said = terminal.type("run", "sales", "bootstrap")
    assert said.index("sync sales.outside") < said.index("step 1/4: round")
    table = terminal.world.replica.table(terminal.users.name("outside"))
    assert terminal.world.replica_files.read(f"{table.location}/part-0") == b"rows"


def test_external_brings_the_data_that_a_new_table_waits_for(published: Terminal) -> None:
    name = published.users.name("clicks")
    location = "hdfs://east/clicks"
    published.world.source.create_table(a_table(str(name), table_type="EXTERNAL_TABLE", location=location))
    published.world.source_files.put(f"{location}/part-0", b"rows")
    assert "wait for their data: clicks" in published.type("run", "sales", "incremental")
    assert published.world.replica.table(name) is None
    assert "sales.clicks  copied 1 files" in published.type("run", "sales", "external")
    assert "published: 1 external tables" in published.type("run", "sales", "incremental")
    assert published.world.replica.table(name).location == "hdfs://west/external/clicks"
    assert "sales.clicks  unchanged" in published.type("run", "sales", "external")


def test_who_runs_a_phase_is_told_to_run_it_again_not_to_clear_a_task(terminal: Terminal) -> None:
    terminal.policies.add("sales")
    said = " ".join(terminal.type("run", "sales", "bootstrap", code=ExitCode.ACT_NOW).split())
    assert "external_tables.base_directory" in said
    assert "then run the command again" in said and "clear" not in said


def test_who_fails_over_in_a_terminal_is_told_what_can_be_done_there(published: Terminal) -> None:
    published.policies.add("sales")
    published.world.replica.configurations[REPLICA_ADDRESS] |= READY
    said = " ".join(published.type("failover", "sales", code=ExitCode.ACT_NOW).split())
    assert "put the old one back in the policy file, or twinhive run sales bootstrap --again" in said


def test_a_published_replica_is_built_anew_only_when_asked_for(published: Terminal) -> None:
    before = published.world.replica.table(published.users.name("plain")).location
    published.users.insert("plain", None, [b"more"])
    assert "already applied" in published.type("run", "sales", "bootstrap")
    assert published.world.replica.table(published.users.name("plain")).location == before
    assert "built again" in published.type("run", "sales", "bootstrap", "--again")
    assert published.world.replica.table(published.users.name("plain")).location != before
    assert_twin(published.world)


def test_again_is_for_a_bootstrap_alone(terminal: Terminal) -> None:
    assert "--again is for the phase bootstrap" in terminal.type("run", "sales", "incremental", "--again", code=2)
    assert "is not a phase" in terminal.type("run", "sales", "validate", code=2)


def test_the_status_is_shown(terminal: Terminal) -> None:
    assert "absent" in terminal.type("status", "sales")
    terminal.type("run", "sales", "bootstrap")
    shown = terminal.type("status", "sales")
    for said in ("following", "nobody holds it", "events behind"):
        assert said in shown


def test_a_dry_run_changes_nothing_and_a_run_does(published: Terminal) -> None:
    assert "dry run: nothing was changed" in published.type("resync", "sales", "plain", "--dry-run")
    assert "waits for resync" not in published.type("status", "sales")
    assert "asked for" in published.type("resync", "sales", "plain")
    assert "waits for resync: plain" in published.type("status", "sales")
    published.type("run", "sales", "incremental")
    assert "waits for resync" not in published.type("status", "sales")
    assert_twin(published.world)


def test_pausing_and_going_on(published: Terminal) -> None:
    published.type("pause", "sales", "--reason", "upgrade of west")
    assert "upgrade of west" in published.type("status", "sales")
    assert "twinhive pause sales --off" in published.type("run", "sales", "incremental")
    assert "upgrade of west" in published.type("pause", "sales", "--off")
    assert "upgrade of west" not in published.type("status", "sales")


def test_pause_wants_either_a_reason_or_off(published: Terminal) -> None:
    for words in ((), ("--off", "--reason", "why")):
        assert "either --reason" in published.type("pause", "sales", *words, code=2)


def test_a_skipped_event_is_shown(published: Terminal) -> None:
    event_id = published.world.source.emit("REFRESH", "sales", "plain", {}).event_id
    assert f"skip-event sales {event_id}" in published.type("run", "sales", "incremental", code=4)
    published.type("skip-event", "sales", str(event_id), "--reason", "a refresh of caches")
    assert f"skipped event {event_id}" in published.type("status", "sales")
    published.type("run", "sales", "incremental")


def test_a_reason_is_not_optional(published: Terminal) -> None:
    published.type("skip-event", "sales", "99", code=2)


def test_unlock_and_forget(published: Terminal) -> None:
    assert "nobody holds the lease" in published.type("unlock", "sales")
    assert "would be removed" in published.type("forget", "sales", "--dry-run")
    assert "twinhive.phase" in published.world.replica.database("sales").parameters
    published.type("forget", "sales")
    assert "twinhive.phase" not in published.world.replica.database("sales").parameters
    assert "does not belong to policy sales" in published.type("status", "sales", code=4)


def test_what_cannot_be_is_told_without_a_traceback(published: Terminal) -> None:
    said = published.type("resync", "sales", "nowhere", code=4)
    assert "no table nowhere on either side" in said
    assert "Traceback" not in said
    published.world.source.down = True
    assert "try again later" in published.type("resync", "sales", "plain", code=3)
