"""Hold the fake and the real lease to the same behaviour; fence real processes with the real one."""

import json
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.support.hdfs.fake_lease import InMemoryLease
from twinhive.core.model.errors import ActNow, LeaseHeld, LeaseLost, Refused, SourceMoved, Unreachable, together
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.ports import LeaseKeeper
from twinhive.hive.adapters.hdfs.hadoop_client import HadoopClient
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.hive.adapters.hdfs.hdfs_lease import HdfsLease

SETTLE = 7.25
EVENTS = LeaseKind.EVENTS


def _napping(naps: list[float]) -> Callable[[float], None]:
    """Remember the long naps only; polling is slept through for real."""
    return lambda seconds: naps.append(seconds) if seconds == SETTLE else time.sleep(seconds)


def _hdfs_keeper(sandbox: Any, sleep: Callable[[float], None] | None = None, patience: float = 0.0) -> HdfsLease:
    cluster = sandbox.clusters["west"]
    root, properties, user = cluster.hdfs_uri, cluster.hadoop_properties, cluster.user
    return HdfsLease(root, properties, user, SETTLE, patience_seconds=patience, sleep=sleep or _napping([]))


@pytest.fixture(params=["fake", pytest.param("hdfs", marks=pytest.mark.sandbox)])
def keeper(request: pytest.FixtureRequest) -> LeaseKeeper:
    return InMemoryLease() if request.param == "fake" else _hdfs_keeper(request.getfixturevalue("sandbox"))


@pytest.fixture(params=["fake", pytest.param("hdfs", marks=pytest.mark.sandbox)])
def patient(request: pytest.FixtureRequest) -> LeaseKeeper:
    """One that waits for longer than a test takes."""
    if request.param == "fake":
        return InMemoryLease(patience_seconds=60)
    return _hdfs_keeper(request.getfixturevalue("sandbox"), patience=60)


@pytest.fixture
def directory() -> str:
    return f"hdfs://west/tmp/lease-{uuid.uuid4().hex}"


def test_a_holder_confirms_as_often_as_it_likes(keeper: LeaseKeeper, directory: str) -> None:
    for _ in range(3):
        with keeper.hold(directory, {"run": "first"}, EVENTS) as lease:
            lease.confirm()
            lease.confirm()


def test_the_newest_wins_and_is_named(keeper: LeaseKeeper, directory: str) -> None:
    with pytest.raises(LeaseLost), keeper.hold(directory, {"run": "first"}, EVENTS) as first:
        first.confirm()
        with keeper.hold(directory, {"run": "second try"}, EVENTS) as second:
            second.confirm()
            with pytest.raises(LeaseLost, match="second try"):
                first.confirm()
            second.confirm()
        with pytest.raises(LeaseLost):
            first.confirm()


def test_who_never_confirmed_again_learns_it_at_the_end(keeper: LeaseKeeper, directory: str) -> None:
    first, second = keeper.hold(directory, {"run": "first"}, EVENTS), keeper.hold(directory, {"run": "second"}, EVENTS)
    with pytest.raises(LeaseLost, match="second"), first, second:
        pass


def test_an_error_of_the_holder_is_not_covered_up(keeper: LeaseKeeper, directory: str) -> None:
    with pytest.raises(SourceMoved), keeper.hold(directory, {"run": "first"}, EVENTS):
        raise SourceMoved("a file")


def test_who_holds_it_is_said_until_it_is_released(keeper: LeaseKeeper, directory: str) -> None:
    assert keeper.holder(directory) is None
    with keeper.hold(directory, {"run": "a long one"}, EVENTS):
        assert "a long one" in (keeper.holder(directory) or "")
    assert keeper.holder(directory) is None
    with pytest.raises(SourceMoved), keeper.hold(directory, {"run": "a killed one"}, EVENTS):
        raise SourceMoved("its end is not known")
    assert "a killed one" in (keeper.holder(directory) or "")


def test_a_refusal_beside_a_call_without_an_answer_does_not_release_it(keeper: LeaseKeeper, directory: str) -> None:
    with pytest.raises(ActNow), keeper.hold(directory, {"run": "first"}, EVENTS):
        raise together([Refused("one table"), Unreachable("another table: no answer")], "two tables")
    assert "first" in (keeper.holder(directory) or "")
    with pytest.raises(Refused), keeper.hold(directory, {"run": "second"}, EVENTS):
        raise Refused("one table")
    assert keeper.holder(directory) is None


@pytest.mark.parametrize("theirs", [EVENTS, LeaseKind.LOAD, LeaseKind.STATEMENT])
def test_housekeeping_leaves_it_to_work_that_may_live(keeper: LeaseKeeper, directory: str, theirs: LeaseKind) -> None:
    assert not keeper.is_held(directory)
    with keeper.hold(directory, {"run": "alive"}, theirs) as alive:
        assert keeper.is_held(directory)
        with (
            pytest.raises(LeaseHeld, match="alive"),
            keeper.hold(directory, {"run": "scan"}, LeaseKind.HOUSEKEEPING),
        ):
            pytest.fail("it was taken from somebody who lives")
        alive.confirm()
    assert not keeper.is_held(directory)
    with keeper.hold(directory, {"run": "scan"}, LeaseKind.HOUSEKEEPING) as scan:
        scan.confirm()
        assert keeper.is_held(directory)


def test_nobody_is_seen_to_hold_it_who_left_it_with_a_call_under_way(keeper: LeaseKeeper, directory: str) -> None:
    with pytest.raises(Unreachable), keeper.hold(directory, {"run": "unsure"}, LeaseKind.STATEMENT):
        raise Unreachable("no answer")
    assert keeper.holder(directory) and not keeper.is_held(directory)
    with keeper.hold(directory, {"run": "next"}, LeaseKind.HOUSEKEEPING) as lease:
        lease.confirm()


def test_other_work_leaves_it_to_work_that_may_live(keeper: LeaseKeeper, directory: str) -> None:
    with keeper.hold(directory, {"run": "applies"}, EVENTS) as apply:
        with pytest.raises(LeaseHeld, match="applies"), keeper.hold(directory, {"run": "loads"}, LeaseKind.LOAD):
            pytest.fail("it was taken from somebody who lives")
        apply.confirm()


def test_housekeeping_that_does_not_release_it_gives_way_to_work(keeper: LeaseKeeper, directory: str) -> None:
    with pytest.raises(LeaseLost), keeper.hold(directory, {"run": "sweep"}, LeaseKind.HOUSEKEEPING) as sweep:
        with keeper.hold(directory, {"run": "applies"}, EVENTS) as apply:
            apply.confirm()
        sweep.confirm()


def test_work_waits_for_housekeeping_to_release_it(patient: LeaseKeeper, directory: str) -> None:
    released, ends = [], threading.Event()

    def housekeep() -> None:
        with patient.hold(directory, {"run": "sweep"}, LeaseKind.HOUSEKEEPING) as sweep:
            holds.set()
            ends.wait(60)
            sweep.confirm()
            released.append(True)

    holds = threading.Event()
    thread = threading.Thread(target=housekeep)
    thread.start()
    assert holds.wait(60)
    threading.Timer(0.3, ends.set).start()
    with patient.hold(directory, {"run": "applies"}, EVENTS) as apply:
        apply.confirm()
        assert released
    thread.join()


def test_what_was_left_unreleased_goes_to_whoever_comes_when_its_holder_is_known_dead(
    keeper: LeaseKeeper, directory: str
) -> None:
    with pytest.raises(SourceMoved), keeper.hold(directory, {"run": "failed"}, EVENTS):
        raise SourceMoved("its end is not known")
    if isinstance(keeper, InMemoryLease):
        keeper.known_dead.add(directory)
    with keeper.hold(directory, {"run": "loads"}, LeaseKind.LOAD) as lease:
        lease.confirm()


def test_a_refusal_met_by_one_who_has_lost_it_is_the_loss(keeper: LeaseKeeper, directory: str) -> None:
    with pytest.raises(LeaseLost), keeper.hold(directory, {"run": "first"}, EVENTS):
        with keeper.hold(directory, {"run": "second"}, EVENTS):
            pass
        raise Refused("what the second one did is in the way")


def test_leases_of_other_policies_are_others(keeper: LeaseKeeper, directory: str) -> None:
    with keeper.hold(directory, {}, EVENTS) as first, keeper.hold(f"{directory}/other", {}, EVENTS) as second:
        first.confirm()
        second.confirm()


@pytest.mark.sandbox
class TestOnHdfs:
    """What waiting and fencing mean with files, servers and processes."""

    @pytest.fixture
    def naps(self) -> list[float]:
        return []

    @pytest.fixture
    def keeper(self, sandbox: Any, naps: list[float]) -> HdfsLease:
        return _hdfs_keeper(sandbox, _napping(naps))

    @pytest.fixture
    def files(self, sandbox: Any, directory: str) -> Iterator[HadoopFiles]:
        cluster = sandbox.clusters["west"]
        adapter = HadoopFiles(cluster.hdfs_uri, cluster.hadoop_properties, cluster.user)
        yield adapter
        adapter.delete(directory)
        adapter.close()

    def test_a_released_lease_is_taken_at_once(self, keeper: HdfsLease, directory: str, naps: list[float]) -> None:
        for _ in range(2):
            with keeper.hold(directory, {}, EVENTS):
                pass
        assert naps == []

    def test_after_an_error_the_next_holder_waits(self, keeper: HdfsLease, directory: str, naps: list[float]) -> None:
        with pytest.raises(SourceMoved), keeper.hold(directory, {}, EVENTS):
            raise SourceMoved("a metastore call may still be under way")
        with keeper.hold(directory, {}, EVENTS):
            pass
        assert naps == [SETTLE]

    def test_two_files_stay(self, keeper: HdfsLease, directory: str, files: HadoopFiles) -> None:
        for number in range(4):
            with keeper.hold(directory, {"run": f"run {number}"}, EVENTS):
                pass
        [(_, children)] = files.list_directories([directory])
        paths = [child.path for child in children or []]
        assert paths == [f"{directory}/lease-0000000003", f"{directory}/lease-0000000004"]
        holder = json.loads(files.read(paths[-1]).splitlines()[0])
        assert (holder["run"], holder["epoch"]) == ("run 3", 4) and holder["host"] and holder["pid"]

    def test_of_two_at_once_one_gets_it(self, sandbox: Any, keeper: HdfsLease, directory: str) -> None:
        def overtake(seconds: float) -> None:
            if seconds == SETTLE:
                winner.enter_context(keeper.hold(directory, {"run": "faster"}, EVENTS))
            else:
                time.sleep(seconds)

        slower = _hdfs_keeper(sandbox, overtake)
        with pytest.raises(SourceMoved), keeper.hold(directory, {"run": "before"}, EVENTS):
            raise SourceMoved("something")
        slow = slower.hold(directory, {"run": "slower"}, EVENTS)
        with ExitStack() as winner, pytest.raises(LeaseLost, match="faster"), slow:
            pass

    def test_one_that_slept_through_take_overs_does_not_get_a_deleted_number(
        self, sandbox: Any, keeper: HdfsLease, directory: str
    ) -> None:
        def sleep_long(seconds: float) -> None:
            if seconds == SETTLE:
                for number in range(3):
                    with keeper.hold(directory, {"run": f"later {number}"}, EVENTS):
                        pass
            else:
                time.sleep(seconds)

        with pytest.raises(SourceMoved), keeper.hold(directory, {"run": "before"}, EVENTS):
            raise SourceMoved("something")
        asleep = _hdfs_keeper(sandbox, sleep_long).hold(directory, {"run": "asleep"}, EVENTS)
        with pytest.raises(LeaseLost, match="later 2"), asleep:
            pass

    def test_a_living_process_is_fenced(self, sandbox: Any, keeper: HdfsLease, directory: str) -> None:
        with _other_process(sandbox, directory) as other:
            assert _ask(other) == "confirmed"
            with keeper.hold(directory, {"run": "new"}, EVENTS) as lease:
                assert _ask(other) == "lost"
                lease.confirm()

    def test_it_follows_its_directory_to_another_name(
        self, keeper: HdfsLease, directory: str, files: HadoopFiles
    ) -> None:
        with keeper.hold(f"{directory}/here/lease", {"run": "mover"}, EVENTS) as lease:
            files.rename(f"{directory}/here", f"{directory}/there")
            lease.confirm()
            assert keeper.is_held(f"{directory}/there/lease")
            assert not keeper.is_held(f"{directory}/here/lease")
        assert not keeper.is_held(f"{directory}/there/lease")

    def test_a_killed_process_holds_it_until_its_file_is_closed(
        self, sandbox: Any, keeper: HdfsLease, directory: str
    ) -> None:
        with _other_process(sandbox, directory) as other:
            assert _ask(other) == "confirmed"
            other.kill()
            other.wait()
        assert keeper.is_held(directory)
        cluster = sandbox.clusters["west"]
        client = HadoopClient(cluster.hdfs_uri, cluster.hadoop_properties, cluster.user)
        # As the NameNode does by itself when its hard limit has passed.
        while not client.java.recoverLease(client.to_java(f"{directory}/lease-0000000001")):
            time.sleep(0.1)
        client.close()
        assert not keeper.is_held(directory)
        with keeper.hold(directory, {"run": "patient"}, LeaseKind.HOUSEKEEPING) as lease:
            lease.confirm()

    def test_a_killed_process_is_followed(
        self, sandbox: Any, keeper: HdfsLease, directory: str, naps: list[float]
    ) -> None:
        with _other_process(sandbox, directory) as other:
            assert _ask(other) == "confirmed"
            other.kill()
            other.wait()
            with keeper.hold(directory, {"run": "new"}, EVENTS) as lease:
                lease.confirm()
        assert naps[-1] == SETTLE


_PROGRAM = """
import json, sys
from twinhive.hive.adapters.hdfs.hdfs_lease import HdfsLease
from twinhive.core.model.errors import LeaseLost
from twinhive.core.model.lease_kinds import LeaseKind
given = json.loads(sys.argv[1])
keeper = HdfsLease(given["root"], given["properties"], given["user"], 0)
with keeper.hold(given["directory"], {"run": "other process"}, LeaseKind.EVENTS) as lease:
    for line in sys.stdin:
        try:
            lease.confirm()
            print("confirmed", flush=True)
        except LeaseLost:
            print("lost", flush=True)
"""


def _other_process(sandbox: Any, directory: str) -> "subprocess.Popen[str]":
    cluster = sandbox.clusters["west"]
    given = {"root": cluster.hdfs_uri, "properties": cluster.hadoop_properties, "user": cluster.user}
    arguments = [sys.executable, "-c", _PROGRAM, json.dumps({**given, "directory": directory})]
    paths = {"PYTHONPATH": "plugins", "PATH": "/usr/bin:/bin"}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(arguments, text=True, env=paths, **pipes)


def _ask(process: "subprocess.Popen[str]") -> str:
    assert process.stdin and process.stdout
    process.stdin.write("confirm\n")
    process.stdin.flush()
    return process.stdout.readline().strip()
