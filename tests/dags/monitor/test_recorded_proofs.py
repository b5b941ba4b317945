"""What the page says after a verification: whether both sides are equal, and whether the replica could take over."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.worlds.fake_world import REPLICA_ADDRESS, SOURCE_ADDRESS
from tests.unit.operations.failover.test_readiness import READY
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.operations.journal.records import RecordedProof
from twinhive.replication.operator_requests.request_files import request_table
from twinhive.replication.verify.verification_outcome import Verified
from twinhive.surfaces.airflow.monitor.recorded_proofs import readiness_lines
from twinhive.surfaces.airflow.monitor.recording import Recording


@pytest.fixture
def followed() -> Followed:
    followed = Followed()
    for metastore, address in ((followed.world.replica, REPLICA_ADDRESS), (followed.world.source, SOURCE_ADDRESS)):
        metastore.configurations[address] |= READY | {"metastore.repl.cmrootdir": "/cmroot"}
    return followed


def test_what_is_in_the_way_of_a_failover_is_said(followed: Followed) -> None:
    ports, policy = followed.world.ports(), followed.policy
    assert readiness_lines(ports, policy) == ["ready to take over: nothing is in the way of a failover"]
    request_table(ports.replica_files, policy, "plain", "ann")
    (line,) = readiness_lines(ports, policy)
    assert line.startswith("in the way of a failover: tables of west/sales wait to be brought over")


def test_it_is_written_down_with_the_proof(followed: Followed) -> None:
    written: list[RecordedProof] = []
    journal: Any = SimpleNamespace(replica_verified=written.append)  # it fails at all else
    place: Any = SimpleNamespace(policy="sales")
    wiring: Any = SimpleNamespace(policy=followed.policy)
    Recording(place, journal).succeeded(Verified(event=8), wiring, followed.world.ports())
    assert [proof.details for proof in written] == ["ready to take over: nothing is in the way of a failover"]
    Recording(place, journal).succeeded(Verified(already="nothing to verify"), wiring, followed.world.ports())
    assert len(written) == 1
