"""Whatever stands in a message: a cluster never gets a place of another one, and puts none into the metastore."""

import gc
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from hive_metastore import ThriftHiveMetastore, ttypes

from tests.support.messages.cluster_messages import (
    COPIES,
    MARK,
    PLACED,
    PLACING,
    ROOTS,
    blanked,
    parameters_in,
    places_in,
    random_answer,
    random_request,
)
from tests.support.seeds import seeds
from tests.support.wire.wire_messages import KNOWN, answer, decoded, struct_class
from twinhive.core.model.files import is_elsewhere
from twinhive.core.model.names import TableName, partition_values
from twinhive.core.model.objects import Partition
from twinhive.core.model.sets.own_tables import COPY_MARKS
from twinhive.core.model.thrift_objects import text_table
from twinhive.federation.cluster_view.message_locations import SPECIFICATION, objects_in, structs_below
from twinhive.federation.cluster_view.object_locations import Judge
from twinhive.federation.cluster_view.request_admission import Entrance, PortCall, Refusal, check_default_port
from twinhive.federation.cluster_view.visibility_rules import PLACE_KEYS, Sight
from twinhive.federation.cluster_view.visible_chunks import ShownPieces
from twinhive.federation.cluster_view.visible_objects import shown
from twinhive.federation.gateway.cluster_ports.client_calls import _asks
from twinhive.federation.gateway.method_kinds import KIND_OF
from twinhive.federation.gateway.request_names import named_in
from twinhive.hive.wire.message_renaming import struct_of
from twinhive.hive.wire.method_table import METHODS
from twinhive.hive.wire.roles import Role
from twinhive.hive.wire.thrift_message import call

SEEDS = seeds(int(os.environ.get("TWINHIVE_HISTORIES") or 2), kind=10)
OTHERS = [root for name, root in ROOTS.items() if name != "north"]
NORTH = Sight("north", ROOTS, "east", (f"{COPIES}/near", COPIES))


class AMetastore:
    """Orders belong to east, planes to north, ferries are not there; so it is with databases."""

    def table(self, name: Any) -> Any:
        if name.table == COPY_MARKS.name:
            return text_table(name, (), COPY_MARKS.keys).with_parameters({COPY_MARKS.says: "1"})
        found = self._of({"orders": {}, "planes": {"twinhive.cluster": "north"}}, name.table)
        return found and SimpleNamespace(**vars(found), name=name, partition_keys=("day",))

    def tables(self, database: str, names: Any) -> list[Any]:
        return [one for name in names if (one := self.table(TableName(database, name)))]

    def partitions(self, name: Any, names: Any) -> list[Any]:
        """All that is asked for is marked."""
        if name.table != COPY_MARKS.name:
            return []
        return [Partition(name, partition_values(one), None, MARK.parameters(), "{}") for one in names]

    def database(self, name: str) -> Any:
        found = self._of({"sales": {}, "planes": {"twinhive.cluster": "north"}}, name)
        return found and SimpleNamespace(
            parameters=found.parameters, location="hdfs://east/w", managed_location=None, name=name
        )

    def _of(self, known: dict[str, Any], name: str) -> Any:
        thrift = '{"25":{"i64":1},"4":{"i32":1}}'
        return SimpleNamespace(parameters=known[name], location=None, thrift=thrift) if name in known else None


class SomeFresh:
    """Every second copy is fresh."""

    def stale(self, table: Any, marks: Any, places: Any) -> dict[Any, str]:
        del table, places
        return {values: "stale" for number, values in enumerate(marks) if number % 2}


def a_judge() -> Judge:
    return Judge(AMetastore(), NORTH, SomeFresh())  # type: ignore[arg-type]


def show(raw: bytes, objects: Any) -> bytes:
    return shown(raw, objects, a_judge().whereabouts(objects), NORTH)


def is_on_another(place: str) -> bool:
    return any("://" in place and not is_elsewhere(place, root) for root in OTHERS)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("method", PLACING)
def test_no_answer_shows_a_place_of_another_cluster(method: str, seed: int) -> None:
    random = Random(f"{method}{seed}")
    for _ in range(6):
        answer = random_answer(random, method)
        new = show(answer.raw, objects_in(answer.raw, answer.at, struct_of(answer)))
        before, after = (decoded(struct_class(answer), raw[answer.at :]) for raw in (answer.raw, new))
        assert not [place for place in places_in(after) if is_on_another(place)]
        for kind, entries in parameters_in(after):
            assert kind == "Database" or not [key for key in PLACE_KEYS if is_on_another(entries.get(key, ""))]
        assert blanked(after) == blanked(before)


def test_there_are_answers_with_copies_and_without() -> None:
    """The property above says nothing where nothing is ever shown."""
    seen = set()
    for number in range(300):
        answer = random_answer(Random(number), "get_partitions")
        objects = objects_in(answer.raw, answer.at, struct_of(answer))
        seen |= {(one.primary, one.copy is not None) for one in a_judge().whereabouts(objects)}
    assert seen >= {("east", True), ("east", False), ("north", False), (None, False)}


@pytest.mark.parametrize("method", PLACING)
def test_in_pieces_of_any_size_it_is_the_same(method: str) -> None:
    random = Random(method)
    answer = random_answer(random, method)
    # Judged in other groups another copy is every second one: none is fresh here.
    none = Judge(AMetastore(), NORTH, SimpleNamespace(stale=lambda table, marks, places: marks))  # type: ignore[arg-type]

    def none_fresh(raw: bytes, objects: Any) -> bytes:
        return shown(raw, objects, none.whereabouts(objects), NORTH)

    whole = none_fresh(answer.raw, objects_in(answer.raw, answer.at, struct_of(answer)))
    for size in (61, 1000):
        pieces = ShownPieces(struct_of(answer), none_fresh, len(answer.raw), size)
        out = bytearray(answer.raw[: answer.at])
        for at in range(answer.at, len(answer.raw), size):
            pieces.feed(answer.raw[at : at + size])
            out += pieces.taken()
        assert bytes(out) == whole


def most_held(partitions: int) -> int:
    """Return the bytes that are held at most while an answer of so many marked partitions is shown in pieces."""
    columns = [ttypes.FieldSchema(f"column_{number}", "string", "") for number in range(20)]
    found = [
        ttypes.Partition(
            values=[str(number)],
            dbName="sales",
            tableName="orders",
            sd=ttypes.StorageDescriptor(cols=columns, location=f"hdfs://east/w/orders/day={number}"),
            parameters={},
        )
        for number in range(partitions)
    ]
    message = answer("get_partitions", found)
    pieces = ShownPieces(struct_of(message), show, len(message.raw), 1 << 15)
    tracemalloc.start()
    try:
        for at in range(message.at, len(message.raw), 1 << 13):
            pieces.feed(message.raw[at : at + (1 << 13)])
            pieces.taken()
            gc.collect(0)  # when it looks by itself is no matter of what is measured
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_an_answer_in_pieces() -> None:
    # In a process of its own: threads that other tests have left allocate too, and are measured with it.
    asked = f"from {__name__} import most_held; print(most_held(200), most_held(1_000))"
    root = Path(__file__).parents[4]
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True, cwd=root).stdout
    few, many = map(int, said.split())
    assert many < 1.5 * few


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("method", PLACED)
def test_no_request_brings_a_place_of_another_cluster_or_of_a_copy(method: str, seed: int) -> None:
    random = Random(f"{method}{seed}")
    for _ in range(6):
        message = random_request(random, method)
        request = PortCall(message, _asks(method, KIND_OF[method]), _named(message))
        try:
            passed = Entrance(AMetastore(), NORTH).admitted(request)  # type: ignore[arg-type]
        except Refusal:
            continue
        after = decoded(struct_class(passed), passed.body)
        is_database = "database" in method
        for place in places_in(after):
            restored = is_database and place == "hdfs://east/w"  # that of the database itself, put back
            assert restored or not is_on_another(place), place
            assert not place.startswith("absent-on-")
            assert "filesAdded" in _path(method) or not NORTH.copied(place), place
        for kind, entries in parameters_in(after):
            assert not [key for key in PLACE_KEYS if is_on_another(entries.get(key, "")) and kind != "Database"]
        assert blanked(after) == blanked(decoded(struct_class(message), message.body))


def _path(method: str) -> str:
    return "".join(place.path for place in METHODS[method].request)


def _named(message: Any) -> tuple[tuple[str, str | None], ...]:
    return tuple((one.database, one.table) for one in named_in(message))


@pytest.mark.thorough
@pytest.mark.parametrize("method", PLACED)
def test_nobody_writes_places_of_copies_at_the_gateways_own_port(method: str) -> None:
    random = Random(method)
    for _ in range(30):
        message = random_request(random, method)
        asks = _asks(method, KIND_OF[method])
        wrong = [
            place
            for place in places_in(decoded(struct_class(message), message.body))
            if place.startswith("absent-on-") or (place and NORTH.copied(place) and "filesAdded" not in _path(method))
        ]
        try:
            check_default_port(PortCall(message, asks), NORTH, AMetastore())  # type: ignore[arg-type]
        except Refusal:
            continue
        assert not wrong


@pytest.mark.parametrize("method", METHODS)
def test_a_method_with_places_is_decided_by_a_rule(method: str) -> None:
    """Of the server's own table: whatever carries a place is read by it, written by owners alone, or refused."""
    found = METHODS[method]
    asks = _asks(method, KIND_OF[method])
    if asks.name == "OTHER" and found.asks_for(Role.LOCATION):
        with pytest.raises(Refusal, match="names places on any cluster"):
            Entrance(AMetastore(), NORTH).admitted(PortCall(_empty(method), asks))  # type: ignore[arg-type]
    if SPECIFICATION in structs_below(found.asked) | structs_below(found.returned):
        with pytest.raises(Refusal, match="place that they share"):
            Entrance(AMetastore(), NORTH).admitted(PortCall(_empty(method), asks))  # type: ignore[arg-type]
    if asks.name == "CHANGE":
        with pytest.raises(Refusal):
            Entrance(AMetastore(), NORTH).admitted(PortCall(_empty(method), asks))  # type: ignore[arg-type]


def _empty(method: str) -> Any:
    return call(method, 1)


def test_the_numbers_of_fields_are_those_of_hive() -> None:
    known = {
        "Table": {1: "tableName", 2: "dbName", 7: "sd", 9: "parameters", 12: "tableType", 17: "catName"},
        "Partition": {1: "values", 2: "dbName", 3: "tableName", 6: "sd", 7: "parameters", 9: "catName"},
        "Database": {1: "name", 3: "locationUri", 4: "parameters", 8: "catalogName", 10: "managedLocationUri"},
        "StorageDescriptor": {2: "location", 7: "serdeInfo", 10: "parameters", 11: "skewedInfo"},
        "SerDeInfo": {3: "parameters"},
    }
    for name, fields in known.items():
        spec = getattr(ThriftHiveMetastore, name).thrift_spec
        assert {number: spec[number][2] for number in fields} == fields


def test_the_pools_are_not_empty() -> None:
    assert sorted(PLACED) == sorted(name for name, method in METHODS.items() if method.asks_for(Role.LOCATION))
    assert len(PLACED) == 35
    assert len(PLACING) > 25
    assert set(PLACED) <= set(KNOWN)
