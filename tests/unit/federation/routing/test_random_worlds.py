"""Scripts over random worlds run where a naive reading of seed 000's rules says (20,000 statements at night)."""

import os
import random

import pytest

from tests.support.seeds import seeds
from tests.support.worlds.routed_worlds import Meant, RoutedWorld
from twinhive.federation.routing.cluster_choice import Nowhere, Routed
from twinhive.federation.routing.freshness import Freshness
from twinhive.federation.routing.nested_directories import states_like
from twinhive.federation.routing.script import statements_of
from twinhive.federation.routing.statement_reading import read_statement, view_reads
from twinhive.federation.routing.table_resolution import Clusters, Resolver

STATEMENTS = 10
"""Of each world."""
WORLDS = int(os.environ.get("TWINHIVE_ROUTED_WORLDS") or 40)
A_TEST = 50
"""Worlds of one test."""

Answer = tuple[str | None, list[tuple[str, str]]]
"""The cluster; or None, and each cluster that was tried with the first table that it lacks."""


def naive(world: RoutedWorld, meant: Meant) -> Answer:
    """Seed 000's sentences, one after the other, without a look at the program."""
    outputs = [name for name in meant.writes if name in world.tables]
    inputs = list(dict.fromkeys(name for name, _ in meant.reads))
    # 'The system will not make an attempt to choose the cluster for the user'
    if meant.chosen is not None:
        tried = [meant.chosen]
    # 'If an output is specified, the primary cluster for that output will be used';
    # 'If no output is specified ..., all the input tables primary clusters are tried one-by-one'
    else:
        tried = list(dict.fromkeys(world.tables[name].primary for name in outputs or inputs)) or ["C1"]
    found = [(cluster, first_lack(world, meant, cluster)) for cluster in tried]
    good = next((cluster for cluster, missing in found if missing is None), None)
    return good, [] if good else [(cluster, missing) for cluster, missing in found if missing]


def first_lack(world: RoutedWorld, meant: Meant, cluster: str) -> str | None:
    """Return the first table for which a cluster does not do, None when it does."""
    for name in meant.writes:
        # 'If the primary cluster of any output table is different ..., an error is thrown'
        if name in world.tables and world.tables[name].primary != cluster:
            return name
    for name in dict.fromkeys(name for name, _ in meant.reads):
        table = world.tables[name]
        objects = [one for other, some in meant.reads for one in some if other == name]
        # 'the query will only succeed if all the partitions for that input table are also present'
        if table.primary != cluster and any(cluster not in table.copies[one] for one in objects):
            return name
    return None


def routed(world: RoutedWorld, sql: str, database: str, cluster: str | None) -> Answer:
    freshness = Freshness(world.metastore, lambda places: states_like(world.files, places))
    resolver = Resolver(world.metastore, Clusters(world.clusters, "C1"), freshness, view_reads)
    found = resolver.route(read_statement(sql, database), cluster)
    if isinstance(found, Routed):
        return found.cluster, []
    assert isinstance(found, Nowhere)
    return None, [(one.cluster, one.table.table) for one in found.tried]


def check(seed: int) -> int:
    """Compare all statements of a world; return how many of them ran somewhere."""
    world = RoutedWorld(random.Random(seed))
    script, meant = world.script(STATEMENTS)
    cut = list(statements_of(script, "d"))
    assert [(one.sql, one.cluster) for one in cut] == [(one.sql, one.chosen) for one in meant]
    ran = 0
    for one, said in zip(cut, meant, strict=True):
        found = routed(world, one.sql, one.database, one.cluster)
        assert found == naive(world, said), f"TWINHIVE_SEED={seed}: {one.cluster}: {one.sql}"
        ran += found[0] is not None
    return ran


@pytest.mark.thorough
@pytest.mark.parametrize("start", range(0, WORLDS, A_TEST))
def test_statements_run_where_a_naive_reading_says(start: int) -> None:
    chosen = seeds(WORLDS, kind=43)[start : start + A_TEST]
    ran = sum(check(seed) for seed in chosen)
    if len(chosen) > 10:
        every = len(chosen) * STATEMENTS
        assert every / 10 < ran < every * 9 / 10, "one answer for nearly all: the worlds say little"
