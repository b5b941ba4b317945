"""What goes through the ports of a counted world is in its tally, and nothing else is."""

from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.counted_world import DECODED, OPENED, PROOFS, CountedWorld
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_message import names_touched


def a_world() -> tuple[CountedWorld, SourceWriter]:
    """Return a world whose source has a table of three files."""
    world = CountedWorld()
    users = SourceWriter.with_database(world.source, world.source_files, "sales")
    users.create_table("plain", files=[b"one", b"two", b"three"])
    return world, users


def test_what_users_of_the_source_do_is_not_counted() -> None:
    world, _ = a_world()
    assert world.tally.take() == {}


def test_calls_are_counted_by_port_and_method_and_a_listing_by_pages_and_entries() -> None:
    world, users = a_world()
    world.source_files.page_size = 2
    ports = world.ports()
    ports.source.tables("sales", ["plain"])
    ports.replica_files.make_directories("hdfs://west/x")
    list(ports.source_files.list_pages([users.location("plain")]))
    assert world.tally.take() == {
        "source metastore tables": 1,
        "source metastore, objects returned": 1,
        "replica NameNode make_directories": 1,
        "source NameNode list_pages": 2,
        "source NameNode, entries listed": 3,
    }
    assert world.tally.take() == {}


def test_each_proof_of_a_lease_is_counted_and_the_one_before_its_release() -> None:
    world, _ = a_world()
    with world.ports().lease.hold("hdfs://west/lease", {}, LeaseKind.EVENTS) as lease:
        lease.confirm()
    assert world.tally.take() == {PROOFS: 2}


def test_an_event_that_is_decoded_twice_counts_twice_and_a_look_for_names_opens_its_message() -> None:
    world, users = a_world()
    users.set_parameters("plain", {"k": "v"})
    row = world.source.events[-1]
    with world.decoding_counted():
        decode_event(row)
        decode_event(row)
        names_touched(row)
    assert world.tally.take() == {DECODED: 2, OPENED: 3}
    decode_event(row)
    assert world.tally.take() == {}
