"""Move a primary: the rows stay the same at each moment, and killed anywhere it is done by running it again."""

import time
from dataclasses import replace

import pytest

from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.copies_world import COPIES_ROOT, CopiesWorld, a_placement, contents
from tests.support.worlds.fake_world import killable
from tests.support.worlds.kept_marks import is_moving, mark_on, put_move
from twinhive.core.model.errors import ActNow, LeaseLost, TableMoving, TryAgain
from twinhive.core.model.files import Attributes, is_below
from twinhive.core.model.marks import STAMP
from twinhive.core.model.names import TableName
from twinhive.core.model.placement.kept_copies import KeptCopies
from twinhive.federation.placement.move_primary import MovePrimary
from twinhive.federation.placement.primary_switch import Switching
from twinhive.federation.placement.retire import RetirePlacement
from twinhive.federation.routing.cluster_choice import Nowhere, Routed
from twinhive.federation.routing.freshness import Freshness
from twinhive.federation.routing.move_mark import PrimaryMove
from twinhive.federation.routing.statement_reading import read_statement, view_reads
from twinhive.federation.routing.table_resolution import Clusters, Resolver

HOME = "hdfs://north/home/sales.db"
PLAIN = {"f": b"plain", "sub dir/g": b"below"}
ORDERS = {"day=1": {"a": b"one"}, "day=3": {}, "day=a b%2Fc%3Aü": {"b": b"two", "c": b"three"}}


def a_world() -> CopiesWorld:
    world = CopiesWorld(of_table("plain"))
    world.users.create_table("plain", files=PLAIN)
    world.users.create_table("orders", ("day",), parameters={"x": "y"})
    world.users.add_partitions(
        "orders", {("1",): ORDERS["day=1"], ("3",): {}, ("a b/c:ü",): {"b": b"two", "c": b"three"}}
    )
    world.users.create_view("recent")
    return world


def of_table(table: str, target: str = "north"):
    """Return the placement that a move makes for itself."""
    root = HOME.replace("north", target)
    policy = a_placement(name=f"move-{table}", include=(table,))
    return replace(policy, copies=KeptCopies(root, default_cluster="east", takes_over=True))


def moving(table: str) -> MovePrimary:
    return MovePrimary(of_table(table), TableName("sales", table), {"run": "move"})


def move(world: CopiesWorld, table: str, switch=None) -> list[str]:
    return moving(table).run(killable(world.ports(), switch) if switch else world.ports())


def both_files(world: CopiesWorld, location: str):
    return world.north if location.startswith("hdfs://north") else world.files


def rows(world: CopiesWorld, table: str) -> dict:
    """Return what a reader finds who goes by the locations alone, as every client does."""
    found = world.users.table(table)
    if not found.partition_keys:
        return contents(both_files(world, found.location), found.location)
    some = world.metastore.partitions(found.name, world.metastore.partition_names(found.name))
    return {one.name(("day",)): contents(both_files(world, one.location), one.location) for one in some}


def rows_on(world: CopiesWorld, table: str, cluster: str) -> dict:
    """Return what a reader finds on a cluster: at home what the locations say, elsewhere what the marks say."""
    found = world.users.table(table)
    if found.parameters.get("twinhive.cluster", "east") == cluster:
        return rows(world, table)
    if not found.partition_keys:
        place = mark_on(world.metastore, found, cluster).location
        return contents(both_files(world, place), place)
    some = world.metastore.partitions(found.name, world.metastore.partition_names(found.name))
    places = {one.name(("day",)): mark_on(world.metastore, one, cluster).location for one in some}
    return {name: contents(both_files(world, place), place) for name, place in places.items()}


def routed(world: CopiesWorld, sql: str, chosen: str | None = None) -> Routed | Nowhere:
    clusters = Clusters(("east", "north"), "east")
    resolver = Resolver(world.metastore, clusters, Freshness(world.metastore, world.look), view_reads)
    return resolver.route(read_statement(sql, "sales"), chosen)


def assert_moved(world: CopiesWorld, table: str, expected: dict) -> None:
    found = world.users.table(table)
    assert found.parameters["twinhive.cluster"] == "north"
    assert not is_moving(world.metastore, found) and STAMP not in found.parameters
    objects = [found]
    if found.partition_keys:
        objects += world.metastore.partitions(found.name, world.metastore.partition_names(found.name))
    for one in objects:
        assert is_below(one.location, HOME)
        assert mark_on(world.metastore, one, "north") is None
    assert rows(world, table) == expected
    # The old place is a copy that readers on east may use; writes go to north.
    assert routed(world, f"select * from {table}", "east").cluster == "east"
    assert routed(world, f"insert into {table} select 1").cluster == "north"
    assert isinstance(routed(world, f"insert into {table} select 1", "east"), Nowhere)


@pytest.mark.parametrize(("table", "expected"), [("plain", PLAIN), ("orders", ORDERS)])
def test_a_table_is_at_home_elsewhere_and_the_old_place_is_a_copy(table: str, expected: dict) -> None:
    world = a_world()
    before = world.users.table(table)
    move(world, table)
    assert_moved(world, table, expected)
    assert world.users.table(table).thrift != "" and world.users.table(table).columns == before.columns
    assert move(world, table) == [f"sales.{table} belongs to north"]
    assert_moved(world, table, expected)


def test_a_plan_says_what_a_run_does_and_changes_nothing() -> None:
    world = a_world()
    events, paths = world.metastore.current_event_id(), (world.files.paths(), world.north.paths())
    planned = moving("orders").plan(world.ports())
    assert planned == [
        "sales.orders: marked as being moved from east to north: nobody is to write it",
        f"sales.orders: 3 partitions are switched to {HOME}/move-orders",
        "sales.orders: belongs to north, by one call; the old place hdfs://east/warehouse/managed/sales.db/orders "
        "becomes a copy",
        "sales.orders: the mark of the move is taken away, after a last look at the old place",
    ]
    assert (world.metastore.current_event_id(), (world.files.paths(), world.north.paths())) == (events, paths)
    assert move(world, "orders") == planned


@pytest.mark.parametrize(("table", "expected"), [("plain", PLAIN), ("orders", ORDERS)])
def test_killed_at_any_change_the_rows_are_there_and_the_next_run_ends_it(table: str, expected: dict) -> None:
    for world in left_by_kills(a_world, lambda world, switch: move(world, table, switch), least=30):
        assert rows(world, table) == expected
        for cluster in ("east", "north"):
            if isinstance(routed(world, f"select * from {table}", cluster), Routed):
                assert rows_on(world, table, cluster) == expected
        move(world, table)
        assert_moved(world, table, expected)


@pytest.mark.parametrize("table", ["plain", "orders"])
def test_killed_and_then_written_the_new_rows_move_as_well(table: str) -> None:
    for world in left_by_kills(a_world, lambda world, switch: move(world, table, switch), step=2):
        found = world.users.table(table)
        one = world.users.partition("orders", ("1",)) if table == "orders" else found
        both_files(world, one.location).put(f"{one.location}/late", b"late")
        expected = (
            {**ORDERS, "day=1": {**ORDERS["day=1"], "late": b"late"}}
            if table == "orders"
            else {**PLAIN, "late": b"late"}
        )
        move(world, table)
        assert rows(world, table) == expected
        assert world.users.table(table).parameters["twinhive.cluster"] == "north"


def test_while_it_moves_nothing_that_writes_it_runs() -> None:
    for world in left_by_kills(a_world, lambda world, switch: move(world, "orders", switch), step=3):
        is_fenced = is_moving(world.metastore, world.users.table("orders"))
        if is_fenced:
            with pytest.raises(TableMoving, match=r"sales\.orders is being moved from east to north"):
                routed(world, "insert into orders select 1")
        assert isinstance(routed(world, "insert into plain select * from plain"), Routed)


def at_the_switch(world: CopiesWorld, change, *, of_table: bool) -> None:
    """Let somebody else act in the moment between our reading of an object and our switching it."""
    name = "alter_table" if of_table else "alter_partitions"
    original = getattr(world.metastore, name)

    def altered(*arguments, **options):
        one = arguments[-1] if of_table else arguments[0][0]
        if str(one.location).startswith(HOME):
            delattr(world.metastore, name)
            change()
        return original(*arguments, **options)

    setattr(world.metastore, name, altered)


@pytest.mark.parametrize("table", ["plain", "orders"])
def test_a_definition_that_changes_in_the_moment_of_the_switch_is_kept(table: str) -> None:
    world = a_world()
    of_table = table == "plain"

    def change() -> None:
        if of_table:
            world.users.set_parameters("plain", {"new": "one"})
        else:
            world.users.alter_partitions("orders", [("1",)], {"new": "one"})

    at_the_switch(world, change, of_table=of_table)
    move(world, table)
    one = world.users.table("plain") if of_table else world.users.partition("orders", ("1",))
    assert one.parameters["new"] == "one"
    assert_moved(world, table, PLAIN if of_table else ORDERS)


@pytest.mark.parametrize("table", ["plain", "orders"])
def test_files_that_come_to_the_old_place_too_late_are_told_and_nobody_reads_the_old_place(table: str) -> None:
    world = a_world()
    old = world.users.location(table, ("1",) if table == "orders" else None)
    at_the_switch(world, lambda: world.files.put(f"{old}/late", b"late"), of_table=table == "plain")
    for _ in range(2):
        with pytest.raises(ActNow, match="1 files came to the old place too late") as raised:
            move(world, table)
        assert raised.value.words.found == f"{old}/late"
        assert isinstance(routed(world, f"select * from {table}", "east"), Nowhere)
        assert isinstance(routed(world, f"select * from {table}", "north"), Routed)
    new = world.users.location(table, ("1",) if table == "orders" else None)
    world.north.put(f"{new}/late", b"late")
    move(world, table)
    assert not is_moving(world.metastore, world.users.table(table))
    assert rows(world, table) == (
        {**PLAIN, "late": b"late"} if table == "plain" else {**ORDERS, "day=1": {"a": b"one", "late": b"late"}}
    )
    assert isinstance(routed(world, f"select * from {table}", "east"), Nowhere), "a copy that nobody has compared"


def test_a_directory_of_a_time_to_come_is_waited_for_and_named() -> None:
    world = a_world()
    later = int((time.time() + 600) * 1_000)
    world.files.set_attributes(world.users.location("plain"), Attributes(modified_ms=later))
    with pytest.raises(TryAgain, match="plain: its directory is of a time to come"):
        move(world, "plain")


def test_a_table_that_is_written_all_the_time_is_not_switched_and_can_be_later() -> None:
    world = a_world()
    number = iter(range(1_000))
    original = world.north.rename

    def renamed(source: str, target: str) -> bool:
        if target.startswith(HOME):
            world.users.insert("orders", ("1",), {f"more {next(number)}": b"more"})
        return original(source, target)

    world.north.rename = renamed
    with pytest.raises(TryAgain, match="it is written all the time"):
        move(world, "orders")
    assert "twinhive.cluster" not in world.users.table("orders").parameters
    world.north.rename = original
    expected = rows(world, "orders")
    move(world, "orders")
    assert rows(world, "orders") == expected


def test_two_at_once_end_as_one() -> None:
    world = a_world()
    original = world.north.rename

    def renamed(source: str, target: str) -> bool:
        if target.startswith(f"{HOME}/move-orders/"):
            del world.north.rename
            move(world, "orders")
        return original(source, target)

    world.north.rename = renamed
    with pytest.raises(LeaseLost):
        move(world, "orders")
    assert_moved(world, "orders", ORDERS)
    move(world, "orders")
    assert_moved(world, "orders", ORDERS)


def test_a_move_to_another_cluster_waits_for_this_one() -> None:
    world = a_world()
    fence = Switching.fence

    def fenced_by_both(switching, ports, table):
        # Another one marks it in the moment between our look and our mark: one of both is first.
        put_move(world.metastore, table, PrimaryMove("east", "south"))
        return fence(switching, ports, table)

    with pytest.MonkeyPatch.context() as patched, pytest.raises(ActNow, match="is being moved from east to south"):
        patched.setattr(Switching, "fence", fenced_by_both)
        move(world, "plain")
    assert "twinhive.cluster" not in world.users.table("plain").parameters
    with pytest.raises(ActNow, match=r"sales\.plain is being moved from east to south"):
        move(world, "plain")
    assert rows(world, "plain") == PLAIN


def test_a_move_whose_mark_is_another_ones_by_now_switches_nothing() -> None:
    world = a_world()
    whole = Switching._whole

    def marked_by_another(switching, ports, table, *more):
        put_move(world.metastore, table, PrimaryMove("east", "south"))
        return whole(switching, ports, table, *more)

    with pytest.MonkeyPatch.context() as patched, pytest.raises(ActNow, match="is being moved from east to south"):
        patched.setattr(Switching, "_whole", marked_by_another)
        move(world, "plain")
    assert "twinhive.cluster" not in world.users.table("plain").parameters and rows(world, "plain") == PLAIN


def test_the_mark_of_a_move_of_an_earlier_table_keeps_nobody_from_anything() -> None:
    world = a_world()
    put_move(world.metastore, world.users.table("plain"), PrimaryMove("east", "south"))
    world.users.drop_table("plain")
    world.users.create_table("plain", files=PLAIN)
    assert isinstance(routed(world, "insert into plain select 1"), Routed)
    move(world, "plain")
    assert_moved(world, "plain", PLAIN)


def test_copies_that_a_placement_had_there_are_made_anew_and_the_move_back_ends_at_home() -> None:
    world = a_world()
    world.change(
        name="near", include=(".*",), copies=KeptCopies("hdfs://north/twinhive/copies", default_cluster="east")
    )
    world.settle()
    move(world, "orders")
    assert_moved(world, "orders", ORDERS)
    world.users.files = world.north
    world.users.insert("orders", ("1",), {"more": b"more"})
    back = of_table("orders", "east")
    back = replace(back, name="move-back", source=back.replica, replica=back.source, staging_root="hdfs://east/staging")
    ports = world.ports()
    ports = replace(ports, source_files=ports.replica_files, replica_files=ports.source_files)
    MovePrimary(back, TableName("sales", "orders"), {"run": "back"}).run(ports)
    assert rows(world, "orders") == {**ORDERS, "day=1": {"a": b"one", "more": b"more"}}
    assert rows_on(world, "orders", "north") == rows(world, "orders")
    assert routed(world, "insert into orders select * from orders").cluster == "east"


def a_placed_world() -> CopiesWorld:
    """A world with a placement that has copies of all on north already."""
    world = a_world()
    world.placement = a_placement()
    world.settle()
    assert len(world.fresh()) == 4
    return world


def adopting(table: str) -> MovePrimary:
    made = moving(table)
    copies = replace(made.policy.copies, adopts=(f"{COPIES_ROOT}/near",))
    return replace(made, policy=replace(made.policy, copies=copies))


def adopt(world: CopiesWorld, table: str, switch=None) -> list[str]:
    return adopting(table).run(killable(world.ports(), switch) if switch else world.ports())


def refuse_to_read(world: CopiesWorld) -> None:
    def opened(path: str, **_: object) -> object:
        raise AssertionError(f"{path} is copied again")

    world.files.open = opened


def assert_adopted(world: CopiesWorld, table: str, expected: dict) -> None:
    found = world.users.table(table)
    assert found.parameters["twinhive.cluster"] == "north" and not is_moving(world.metastore, found)
    objects = world.metastore.partitions(found.name, world.metastore.partition_names(found.name))
    for one in objects if found.partition_keys else [found]:
        assert is_below(one.location, f"{COPIES_ROOT}/near")
        assert mark_on(world.metastore, one, "north") is None
    assert rows(world, table) == expected
    assert routed(world, f"select * from {table}", "east").cluster == "east"
    assert routed(world, f"insert into {table} select 1").cluster == "north"


@pytest.mark.parametrize(("table", "expected"), [("plain", PLAIN), ("orders", ORDERS)])
def test_a_copy_that_a_placement_has_there_becomes_the_home_and_is_not_made_again(table: str, expected: dict) -> None:
    world = a_placed_world()
    refuse_to_read(world)
    adopt(world, table)
    assert_adopted(world, table, expected)
    assert adopt(world, table) == [f"sales.{table} belongs to north"]


def test_what_of_it_has_no_fresh_copy_is_copied() -> None:
    world = a_placed_world()
    world.users.insert("orders", ("1",), {"more": b"more"})
    adopt(world, "orders")
    assert rows(world, "orders") == {**ORDERS, "day=1": {"a": b"one", "more": b"more"}}
    assert is_below(world.users.location("orders", ("1",)), HOME)
    assert is_below(world.users.location("orders", ("3",)), f"{COPIES_ROOT}/near")


@pytest.mark.parametrize(("table", "expected"), [("plain", PLAIN), ("orders", ORDERS)])
def test_killed_while_a_copy_becomes_the_home_the_next_run_ends_it(table: str, expected: dict) -> None:
    for world in left_by_kills(a_placed_world, lambda world, switch: adopt(world, table, switch)):
        assert rows(world, table) == expected
        # The placement goes on as ever, whatever it meets.
        world.run()
        assert rows(world, table) == expected
        adopt(world, table)
        assert rows(world, table) == expected
        world.run()
        assert rows(world, table) == expected


@pytest.mark.parametrize("table", ["plain", "orders"])
def test_a_home_among_copies_outlives_its_name_its_placement_and_its_namesake(table: str) -> None:
    world = a_placed_world()
    adopt(world, table)
    before = rows(world, table)
    world.users.rename_table(table, "other")
    for _ in range(3):
        world.run()
    assert rows(world, "other") == before
    world.users.create_table(table, files={"f": b"a namesake"}, location=f"hdfs://east/namesakes/{table}")
    world.settle()
    move(world, table)
    for _ in range(3):
        world.run()
    assert rows(world, "other") == before and rows(world, table) == {"f": b"a namesake"}
    planned = RetirePlacement(world.placement, {"run": "retire"}).plan(world.ports())
    said = RetirePlacement(world.placement, {"run": "retire"}).run(world.ports())
    assert "tables that were moved are at home there" in planned[-1]
    assert said[-1].endswith("stays: a table that was moved is at home there")
    assert rows(world, "other") == before and not {"plain", "orders"} & world.marked().keys()
    assert not [path for path in world.north.paths() if "/copies/near/recent" in path]


def test_a_second_move_of_the_same_name_removes_no_home_of_a_renamed_table() -> None:
    world = a_world()
    move(world, "plain")
    world.users.rename_table("plain", "first")
    for _ in range(3):
        world.users.create_table("plain", files={"f": b"second"})
        move(world, "plain")
        world.users.drop_table("plain")
    assert rows(world, "first") == PLAIN


def test_a_placement_leaves_a_table_alone_that_is_being_moved() -> None:
    world = a_placed_world()
    table = world.users.table("orders")
    put_move(world.metastore, table, PrimaryMove("east", "north"))
    before = world.marked().keys()
    world.users.insert("orders", ("1",), {"more": b"more"})
    listed = world.run()["list_copies"]
    assert listed.left_out["sales.orders"] == "it is being moved from east to north"
    assert world.marked().keys() == before
    world.assert_no_copy_lies()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda world: None, "a view is not copied"),
        (lambda world: world.users.set_parameters("orders", {"transactional": "true"}), "transactional"),
        (lambda world: world.users.set_parameters("orders", {"storage_handler": "x"}), "is not copied"),
        (lambda world: world.users.set_parameters("orders", {STAMP: "log:1"}), "it is a replica"),
        (lambda world: world.users.set_parameters("orders", {"twinhive.cluster": "south"}), "belongs to cluster south"),
        (
            lambda world: world.users.set_partition_location("orders", ("1",), "hdfs://south/x"),
            "not on the file system",
        ),
        (lambda world: world.users.drop_table("orders"), "there is no table"),
        (lambda world: world.north.put(f"{HOME}/move-orders/precious", b"x"), "cannot be moved to hdfs://north"),
    ],
    ids=["view", "transactional", "handler", "replica", "elsewhere", "other file system", "gone", "directory"],
)
def test_what_cannot_be_moved_is_refused_before_anything_changes(spoil, said: str) -> None:
    world = a_world()
    spoil(world)
    table = "recent" if said.startswith("a view") else "orders"
    before = world.metastore.current_event_id(), world.files.paths(), world.north.paths()
    for act in (moving(table).plan, moving(table).run):
        with pytest.raises(ActNow) as raised:
            act(world.ports())
        assert said in str(raised.value)
        assert (world.metastore.current_event_id(), world.files.paths(), world.north.paths()) == before


def test_external_tables_move_as_managed_ones_do() -> None:
    world = a_world()
    found = world.users.table("plain")
    world.metastore._tables[found.name] = replace(
        found.with_parameters({**found.parameters, "EXTERNAL": "TRUE"}), table_type="EXTERNAL_TABLE"
    )
    move(world, "plain")
    assert_moved(world, "plain", PLAIN)
    assert world.users.table("plain").is_external
