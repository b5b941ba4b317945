"""`twinhive plan` and `check`: they say what would be, and change nothing."""

from tests.support.policy_terminal import Terminal
from tests.support.worlds.fake_world import SOURCE_ADDRESS


def state(terminal: Terminal) -> tuple[object, ...]:
    world = terminal.world
    return (
        world.source_files.paths(),
        world.replica_files.paths(),
        world.source.current_event_id(),
        world.replica.current_event_id(),
    )


def test_a_plan_says_what_a_run_would_do_and_changes_nothing(terminal: Terminal) -> None:
    before = state(terminal)
    assert "a real run would copy" in terminal.type("plan", "sales", "bootstrap")
    found = terminal.document("plan", "sales", "bootstrap")
    assert (found["phase"], found["refused"]) == ("bootstrap", False) and found["files"] > 0
    assert state(terminal) == before


def test_a_plan_that_is_refused_ends_as_the_run_would(terminal: Terminal) -> None:
    terminal.world.source.configurations[SOURCE_ADDRESS]["metastore.repl.cm.enabled"] = "false"
    assert "keeps no dropped files" in terminal.type("plan", "sales", "bootstrap", code=4)
    assert terminal.document("plan", "sales", "bootstrap", code=4)["refusals"][0]["act_now"]


def test_options_of_a_plan_are_for_their_phases(terminal: Terminal) -> None:
    assert "--again is for the phase bootstrap" in terminal.type("plan", "sales", "scan", "--again", code=2)
    assert "--deep is for the phase scan" in terminal.type("run", "sales", "bootstrap", "--deep", code=2)


def test_a_deep_scan_is_run_and_rehearsed(published: Terminal) -> None:
    published.type("plan", "sales", "scan", "--deep")
    assert published.document("run", "sales", "scan", "--deep")["results"]["scan"]["leaves"] > 0


def test_check_reads_files_only_and_servers_asks_both_clusters(terminal: Terminal) -> None:
    before = state(terminal)
    terminal.world.source.down = True
    assert "1 policies can be used" in terminal.type("check")
    assert "no metastore answered" in terminal.type("check", "--servers", code=3)
    terminal.world.source.down = False
    assert "both clusters are as a bootstrap needs them" in terminal.type("check", "--servers")
    terminal.world.source.configurations[SOURCE_ADDRESS]["metastore.repl.cm.enabled"] = "false"
    assert "error in policy sales" in terminal.type("check", "--servers", code=4)
    (checked,) = terminal.document("check", "--servers", code=4)["policies"]
    assert "keeps no dropped files" in checked["problems"][0]["what"]
    assert state(terminal) == before


def test_check_of_servers_says_who_we_are_and_whether_the_logs_can_be_read(terminal: Terminal) -> None:
    source, replica = terminal.world.source, terminal.world.replica
    source.user, replica.user, replica.guards_log = "ann", None, True
    (checked,) = terminal.document("check", "--servers")["policies"]
    east, west = checked["servers"]
    newest = source.current_event_id()
    assert f"cluster east: user to the metastore: ann; notification log: readable, newest event {newest}" in east
    assert "cluster west does not let us read" in west and "no user name was sent" in west
    assert "user to the metastore: ann" in " ".join(terminal.type("check", "--servers").split())
    source.guards_log = True
    assert "hadoop.proxyuser.ann.hosts" in terminal.type("check", "--servers", code=4)


def test_every_policy_is_checked_whatever_is_wrong_with_others(terminal: Terminal) -> None:
    terminal.policies.write("policies/a.yaml", "policy: a\n")
    terminal.policies.write("policies/b.yaml", "policy: b\n")
    said = terminal.type("check", code=4)
    assert "a.yaml cannot be used" in said and "b.yaml cannot be used" in said
    found = terminal.document("check", code=4)
    assert [(one["policy"], len(one["problems"])) for one in found["policies"]] == [("a", 1), ("b", 1), ("sales", 0)]
    listed = terminal.document("policies")["policies"]
    assert [(one["policy"], one["usable"]) for one in listed] == [("a", False), ("b", False), ("sales", True)]
