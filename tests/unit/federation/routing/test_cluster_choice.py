"""Both worked examples of seed 000, line by line, and random worlds against a naive reading of its rules."""

import random
from collections.abc import Mapping

import pytest

from tests.support.seeds import seeds
from twinhive.core.model.names import TableName
from twinhive.federation.routing.cluster_choice import Nowhere, Routed, Why, route
from twinhive.federation.routing.residence import ClusterStorageDescriptor, ObjectResidence, TableResidence
from twinhive.federation.routing.statement_reading import read_statement

PRIMARY = {"t11": "C1", "t12": "C1", "t21": "C2", "t31": "C3"}
NO_COPIES: Mapping[str, set[str]] = {}
T11_ON_C2 = {"t11": {"C2"}}


def table(name: str, primary: str, *copies: str) -> TableResidence:
    places = [ClusterStorageDescriptor(primary, f"hdfs://{primary}/{name}", is_primary=True)]
    places += [ClusterStorageDescriptor(one, f"hdfs://{one}/copies/{name}", is_primary=False) for one in copies]
    return TableResidence(TableName("d", name), primary, (ObjectResidence(name, tuple(places)),))


def routed(sql: str, copies: Mapping[str, set[str]], chosen: str | None = None) -> str | None:
    uses = read_statement(sql, "d")
    outputs = [table(name.table, PRIMARY[name.table]) for name in uses.outputs if name.table in PRIMARY]
    reads = [one.name.table for one in uses.inputs]
    inputs = [table(name, PRIMARY[name], *copies.get(name, ())) for name in reads]
    found = route(outputs, inputs, chosen=chosen, default="C1")
    return found.cluster if isinstance(found, Routed) else None


@pytest.mark.parametrize(
    ("sql", "without", "with_copy"),
    [
        ("select a from T11", "C1", "C1"),
        ("select a from T11 join T12 on T11.x = T12.x", "C1", "C1"),
        ("select a from T21", "C2", "C2"),
        ("select a from T11 join T21 on T11.x = T21.x", None, "C2"),
        ("select a from T11 join T31 on T11.x = T31.x", None, None),
        ("Insert into T13 select a from T11", "C1", "C1"),
        ("Insert into T21 select a from T11", None, "C2"),
        # What the examples do not show, and the rules say.
        ("FROM T11 INSERT INTO TABLE T21 SELECT a INSERT INTO TABLE T31 SELECT a", None, None),
        ("FROM T11 INSERT INTO TABLE T12 SELECT a INSERT INTO TABLE T11 SELECT a", "C1", "C1"),
        ("with x as (select * from T11) select * from x join T21 on x.a = T21.a", None, "C2"),
        ("create table T13 as select * from T21", "C2", "C2"),
        ("explain insert into T21 select a from T11", None, "C2"),
        ("merge into T21 t using T11 s on t.a = s.a when matched then delete", None, "C2"),
        ("update T21 set a = 1 where a in (select a from T11)", None, "C2"),
        ("truncate table T31", "C3", "C3"),
        ("select 1", "C1", "C1"),
    ],
)
def test_the_examples_of_seed_000(sql: str, without: str | None, with_copy: str | None) -> None:
    assert routed(sql, NO_COPIES) == without
    assert routed(sql, T11_ON_C2) == with_copy


def test_use_cluster_tries_that_one_alone() -> None:
    assert routed("select a from T11", T11_ON_C2, "C2") == "C2"
    assert routed("select a from T11", NO_COPIES, "C2") is None
    assert routed("insert into T12 select a from T11", T11_ON_C2, "C2") is None
    assert routed("insert into T13 select a from T11", T11_ON_C2, "C2") == "C2"
    assert routed("select 1", NO_COPIES, "C3") == "C3"


def test_what_a_cluster_lacks_is_the_first_object_that_is_missing_there() -> None:
    inputs = [table("t11", "C1"), table("t21", "C2", "C1")]
    found = route((), inputs, chosen=None, default="C1")
    assert found == Routed("C1", Why.INPUT)
    found = route((), [inputs[1], table("t31", "C3")], chosen=None, default="C1")
    assert isinstance(found, Nowhere)
    assert [(one.cluster, one.table.table, one.missing and one.missing.what) for one in found.tried] == [
        ("C2", "t31", "t31"),
        ("C3", "t21", "t21"),
    ]
    found = route([table("t21", "C2"), table("t31", "C3")], (), chosen=None, default="C1")
    assert isinstance(found, Nowhere)
    assert [(one.cluster, one.table.table, one.missing) for one in found.tried] == [
        ("C2", "t31", None),
        ("C3", "t21", None),
    ]


def naive(
    outputs: list[tuple[str, str | None]],
    inputs: list[tuple[str, str, list[set[str]]]],
    chosen: str | None,
) -> str | None:
    """Seed 000's sentences, one after the other, without a look at the program.

    outputs: (name, primary or None for a new table); inputs: (name, primary, clusters of copies for each partition).
    """
    existing = [primary for _, primary in outputs if primary is not None]

    # 'the query will only succeed if all the partitions for that input table are also present'
    def fits(cluster: str) -> bool:
        return all(primary == cluster or all(cluster in one for one in parts) for _, primary, parts in inputs)

    if chosen is not None:
        return chosen if set(existing) <= {chosen} and fits(chosen) else None
    # 'a multi-table insert with tables belonging to different primary clusters will always fail'
    if existing:
        return existing[0] if len(set(existing)) == 1 and fits(existing[0]) else None
    # 'all the input tables primary clusters are tried one-by-one, till a valid cluster is found'
    return next((primary for _, primary, _ in inputs if fits(primary)), None) if inputs else "C1"


@pytest.mark.parametrize("seed", seeds(400, kind=41))
def test_random_worlds_agree_with_a_naive_reading(seed: int) -> None:
    chance = random.Random(seed)
    clusters = [f"C{number}" for number in range(1, chance.randrange(2, 5))]
    worlds = []
    for number in range(chance.randrange(0, 4)):
        partitions = [{one for one in clusters if chance.random() < 0.6} for _ in range(chance.choice((0, 1, 1, 3)))]
        worlds.append((f"i{number}", chance.choice(clusters), partitions))
    outs = [(f"o{n}", chance.choice([*clusters, None])) for n in range(chance.choice((0, 0, 1, 1, 2, 3)))]
    chosen = chance.choice([None, None, *clusters])

    inputs = [
        TableResidence(
            TableName("d", name),
            primary,
            tuple(
                ObjectResidence(
                    f"p={at}",
                    (
                        ClusterStorageDescriptor(primary, "x", is_primary=True),
                        *(ClusterStorageDescriptor(one, "y", is_primary=False) for one in sorted(copies - {primary})),
                    ),
                )
                for at, copies in enumerate(partitions)
            ),
        )
        for name, primary, partitions in worlds
    ]
    outputs = [TableResidence(TableName("d", name), primary) for name, primary in outs if primary is not None]
    found = route(outputs, inputs, chosen=chosen, default="C1")
    assert (found.cluster if isinstance(found, Routed) else None) == naive(outs, worlds, chosen)
