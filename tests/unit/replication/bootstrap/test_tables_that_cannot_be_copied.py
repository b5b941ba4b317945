"""A first copy never stops because of one object: where the policy quarantines, its table is left out and frozen."""

import shlex
from collections.abc import Callable

import pytest

from tests.support.builders import a_table
from tests.support.hive.hidden_objects import hide, hide_partition
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World, a_world, tuned
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Policy
from twinhive.core.model.quarantine import frozen_tables
from twinhive.core.step.step_base import Work
from twinhive.operations.actions.resync import Resync
from twinhive.replication.bootstrap.preflight import Preflight
from twinhive.replication.scan.scan import Scan
from twinhive.replication.verify.verify import Verify
from twinhive.runtime.pipeline.phases import BOOTSTRAP
from twinhive.runtime.pipeline.runner import run_phase, run_rounds

ORDERS, PLAIN, VIEW = TableName("sales", "orders"), TableName("sales", "plain"), TableName("sales", "by_day")
HAR = "har://hdfs-east/warehouse/managed/sales.db/orders/p=a b/data.har"
GOES_ON = tuned(on_object_error="quarantine")
IN_PIECES = tuned(on_object_error="quarantine", batch_objects=1, partitions_per_call=1)


def users(world: World) -> SourceWriter:
    return SourceWriter(world.source, world.source_files, "sales")


Break = Callable[[World, pytest.MonkeyPatch], Callable[[], None]]
"""Make something unusable; what it returns makes it usable again."""


def unreadable_table(world: World, patch: pytest.MonkeyPatch) -> Callable[[], None]:
    hide(patch, world.source, "sales.orders")
    return patch.undo


def unreadable_partition(world: World, patch: pytest.MonkeyPatch) -> Callable[[], None]:
    hide_partition(patch, world.source, ORDERS, "p=no files")
    return patch.undo


def archived_partition(world: World, patch: pytest.MonkeyPatch) -> Callable[[], None]:
    before = users(world).location("orders", ("a b",))
    users(world).set_partition_location("orders", ("a b",), HAR)
    return lambda: users(world).set_partition_location("orders", ("a b",), before)


def table_elsewhere(world: World, patch: pytest.MonkeyPatch) -> Callable[[], None]:
    before = users(world).location("plain")
    users(world).set_location("plain", "s3a://lake/plain")
    return lambda: users(world).set_location("plain", before)


UNUSABLE = (unreadable_table, unreadable_partition, archived_partition)


@pytest.fixture
def patch() -> pytest.MonkeyPatch:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(params=UNUSABLE, ids=lambda one: one.__name__)
def make(request: pytest.FixtureRequest) -> Break:
    return request.param


def frozen(world: World) -> dict[str, str]:
    return frozen_tables(world.replica.database("sales").parameters)


def to_the_end(followed: Followed) -> None:
    for _ in range(10):
        if followed.follow()["window"].idle:
            return
    raise AssertionError("the windows come to no end")


@pytest.mark.parametrize("policy", [GOES_ON, IN_PIECES], ids=["one batch", "a batch for each partition"])
def test_it_is_left_out_and_frozen_with_what_ends_that(policy: Policy, make: Break, patch: pytest.MonkeyPatch) -> None:
    world = a_world()
    mend = make(world, patch)
    followed = Followed(policy, world)
    assert world.replica.table(ORDERS) is None
    assert world.replica.table(PLAIN) is not None
    assert frozen(world).keys() == {"orders"}
    assert any("left out: sales.orders" in line for line in followed.log)
    mend()
    followed.users.insert("plain", None, [b"more"])
    followed.users.insert("orders", ("50%=#:ü",), [b"more"])
    to_the_end(followed)
    assert world.replica.table(ORDERS) is None
    command = shlex.split(frozen(world)["orders"].partition("then: ")[2])
    assert command == ["twinhive", "resync", "sales", "orders"]
    Resync(policy, command[3], {"by": "test"}).run(world.ports())
    to_the_end(followed)
    followed.assert_twin()
    assert frozen(world) == {}


def test_with_stop_each_object_is_named_by_one_error(patch: pytest.MonkeyPatch) -> None:
    world = a_world()
    users(world).create_table("far", keys=("p",))
    users(world).add_partitions("far", {("1",): [], ("2",): [], ("3",): []})
    for value in ("2", "3"):
        users(world).set_partition_location("far", (value,), f"s3a://lake/far/{value}")
    archived_partition(world, patch)
    hide(patch, world.source, "sales.plain")
    with pytest.raises(ActNow) as caught:
        run_phase(BOOTSTRAP[1:], tuned(), world.ports(), {"run": "b"}, lambda line: None)
    said = str(caught.value)
    assert "3 tables of sales cannot be copied" in said
    assert "partition p=a b of table sales.orders" in said and HAR in said and "UNARCHIVE PARTITION" in said
    assert "partition p=2 of table sales.far and 1 more" in said and "s3a://lake/far/2" in said
    assert "table sales.plain" in said
    assert not [path for path in world.source_files.paths() if path.endswith("/dump.json")]


def test_with_stop_a_partition_that_cannot_be_read_is_named(patch: pytest.MonkeyPatch) -> None:
    world = a_world()
    unreadable_partition(world, patch)
    with pytest.raises(ActNow, match=r"partition p=no files of sales\.orders"):
        run_phase(BOOTSTRAP[1:], tuned(), world.ports(), {"run": "b"}, lambda line: None)


def test_a_preflight_names_all_tables_that_lie_elsewhere() -> None:
    world = a_world()
    for table in ("orders", "plain", "empty"):
        users(world).set_location(table, f"s3a://lake/{table}")
    problems = "\n".join(map(str, Preflight(Work(tuned())).problems(world.ports())))
    assert all(f"table sales.{table} lies on another file system" in problems for table in ("plain", "empty"))
    assert "table sales.orders lies" not in problems, "its partitions lie here"
    assert "file_system.also" in problems
    said: list[str] = []
    work = Work(GOES_ON, report=lambda line: said.append(str(line)))
    assert Preflight(work).problems(world.ports()) == []
    assert sum("s3a://lake/" in line for line in said) == 2
    Preflight(work).run(world.ports())


def test_a_table_that_lies_elsewhere_waits_too(patch: pytest.MonkeyPatch) -> None:
    world = a_world()
    mend = table_elsewhere(world, patch)
    followed = Followed(GOES_ON, world)
    assert frozen(world).keys() == {"plain"} and "s3a://lake/plain" in frozen(world)["plain"]
    mend()
    Resync(GOES_ON, "plain", {"by": "test"}).run(world.ports())
    to_the_end(followed)
    followed.assert_twin()


def test_a_view_of_which_a_partition_cannot_be_read(patch: pytest.MonkeyPatch) -> None:
    world = a_world()
    world.source.create_table(a_table("sales.by_day", table_type="VIRTUAL_VIEW", location=None, partition_keys=("p",)))
    users(world).add_partitions("by_day", {("1",): []})
    hide_partition(patch, world.source, VIEW, "p=1")
    followed = Followed(GOES_ON, world)
    assert world.replica.table(VIEW) is None
    assert frozen(world).keys() == {"by_day"}
    patch.undo()
    Resync(GOES_ON, "by_day", {"by": "test"}).run(world.ports())
    to_the_end(followed)
    followed.assert_twin()


def begun(policy: Policy, world: World) -> None:
    run_phase(BOOTSTRAP, policy, world.ports(), {"run": "b"}, lambda line: None)


def ended(policy: Policy, world: World) -> None:
    run_rounds(policy, world.ports(), {"run": "b"}, lambda line: None)


@pytest.mark.parametrize("make", [unreadable_partition, archived_partition])
@pytest.mark.parametrize("policy", [GOES_ON, IN_PIECES], ids=["one batch", "a batch for each partition"])
def test_what_becomes_unusable_while_it_is_copied_is_left_out(
    policy: Policy, make: Break, patch: pytest.MonkeyPatch
) -> None:
    world = a_world()
    begun(policy, world)
    # Of which the log does not say all: they are read again.
    users(world).set_columns("orders", (("id", "int"), ("more", "string")), cascade=True)
    users(world).insert("plain", None, [b"meanwhile"])
    make(world, patch)
    ended(policy, world)
    assert world.replica.table(ORDERS) is None
    assert world.replica.table(PLAIN) is not None
    assert frozen(world).keys() == {"orders"}


def test_a_partition_that_is_archived_while_its_table_of_many_batches_is_copied(patch: pytest.MonkeyPatch) -> None:
    world = a_world()
    begun(IN_PIECES, world)
    archived_partition(world, patch)
    users(world).insert("orders", ("50%=#:ü",), [b"meanwhile"])
    ended(IN_PIECES, world)
    assert world.replica.table(ORDERS) is None
    assert frozen(world).keys() == {"orders"}


def test_what_cannot_be_read_under_its_new_name_is_left_out(patch: pytest.MonkeyPatch) -> None:
    world = a_world()
    begun(GOES_ON, world)
    users(world).rename_table("orders", "sold")
    hide(patch, world.source, "sales.sold")
    ended(GOES_ON, world)
    assert world.replica.table(PLAIN) is not None
    assert world.replica.table(ORDERS) is world.replica.table(TableName("sales", "sold")) is None
    assert frozen(world).keys() == {"sold"}


@pytest.mark.parametrize("make", [unreadable_partition, archived_partition])
def test_with_stop_a_round_names_what_became_unusable(make: Break, patch: pytest.MonkeyPatch) -> None:
    world = a_world()
    begun(tuned(), world)
    users(world).set_columns("orders", (("id", "int"), ("more", "string")), cascade=True)
    make(world, patch)
    with pytest.raises(ActNow, match=r"sales\.orders"):
        ended(tuned(), world)


@pytest.mark.parametrize("then", ["drop", "rename", "make again"])
def test_what_happens_to_one_that_was_left_out(then: str, patch: pytest.MonkeyPatch) -> None:
    world = a_world()
    mend = archived_partition(world, patch)
    begun(GOES_ON, world)
    mend()
    if then == "rename":
        users(world).rename_table("orders", "sold")
    else:
        users(world).drop_table("orders")
        if then == "make again":
            users(world).create_table("orders", files=[b"new"])
    ended(GOES_ON, world)
    followed = Followed.__new__(Followed)
    followed.policy, followed.world, followed.log = GOES_ON, world, []
    followed.assert_twin()
    assert frozen(world) == {}


@pytest.mark.parametrize("make", UNUSABLE, ids=lambda one: one.__name__)
def test_a_resync_of_one_leaves_the_replicas_table_as_it_is(make: Break, patch: pytest.MonkeyPatch) -> None:
    followed = Followed(GOES_ON)
    world = followed.world
    before = world.replica.table(ORDERS)
    Resync(GOES_ON, "orders", {"by": "test"}).run(world.ports())
    mend = make(world, patch)
    followed.users.insert("plain", None, [b"more"])
    to_the_end(followed)
    assert world.replica.table(ORDERS) == before
    assert frozen(world).keys() == {"orders"}
    assert any(line.startswith("WAITS: orders: ") for line in followed.log)
    mend()
    followed.users.insert("orders", ("50%=#:ü",), [b"more"])
    Resync(GOES_ON, "orders", {"by": "test"}).run(world.ports())
    to_the_end(followed)
    followed.assert_twin()
    assert frozen(world) == {}


@pytest.mark.parametrize("make", [unreadable_table, unreadable_partition])
def test_with_stop_a_resync_names_it_and_harms_nothing(make: Break, patch: pytest.MonkeyPatch) -> None:
    followed = Followed()
    before = followed.world.replica.table(ORDERS)
    Resync(followed.policy, "orders", {"by": "test"}).run(followed.world.ports())
    make(followed.world, patch)
    with pytest.raises(ActNow, match=r"sales\.orders"):
        followed.follow()
    assert followed.world.replica.table(ORDERS) == before
    patch.undo()
    to_the_end(followed)
    followed.assert_twin()


@pytest.mark.parametrize("policy", [GOES_ON, tuned()], ids=["quarantine", "stop"])
def test_a_window_whose_event_makes_it_read_whole(policy: Policy, patch: pytest.MonkeyPatch) -> None:
    followed = Followed(policy)
    followed.users.set_location("plain", "hdfs://east/warehouse/managed/sales.db/elsewhere")
    followed.users.insert("orders", ("a b",), [b"more"])
    hide(patch, followed.world.source, "sales.plain")
    if policy is not GOES_ON:
        with pytest.raises(ActNow, match=r"sales\.plain"):
            followed.follow()
        return
    to_the_end(followed)
    assert frozen(followed.world).keys() == {"plain"}
    patch.undo()
    Resync(policy, "plain", {"by": "test"}).run(followed.world.ports())
    to_the_end(followed)
    followed.assert_twin()


def test_a_scan_and_a_verification_go_on_beside_one_that_was_left_out(patch: pytest.MonkeyPatch) -> None:
    world = a_world()
    archived_partition(world, patch)
    followed = Followed(GOES_ON, world)
    Scan(Work(GOES_ON, report=followed.say), wait=lambda seconds: None).run(world.ports())
    found = Verify(Work(GOES_ON, report=followed.say), deep=True).run(world.ports())
    assert list(found.not_judged) == ["orders"] and not found.findings
