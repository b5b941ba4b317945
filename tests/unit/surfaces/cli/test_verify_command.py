"""Who verifies in a terminal is told when what differs can be judged, and with which command."""

import re
from datetime import UTC, datetime

import pytest

from tests.support.policy_terminal import Terminal
from twinhive.core.model.exit_codes import ExitCode
from twinhive.replication.verify.verification_outcome import last_outcome


@pytest.fixture
def damaged(published: Terminal) -> Terminal:
    replica, name = published.world.replica, published.users.name("plain")
    there = replica.table(name)
    replica.alter_table(name, there.with_parameters({**there.parameters, "by": "hand"}))
    return published


def again(said: str) -> tuple[float, str]:
    (found,) = re.findall(r"can be judged from (\S+ \S+) UTC on: (.*)", said)
    return datetime.fromisoformat(found[0]).replace(tzinfo=UTC).timestamp(), found[1].strip()


def test_a_terminal_says_when_to_come_back(damaged: Terminal) -> None:
    at, command = again(damaged.type("verify", "sales", code=ExitCode.TRY_AGAIN))
    found = last_outcome(damaged.world.replica_files, damaged.policies.wiring("sales").policy)
    assert found is not None and found.look_again_at is not None
    assert 0 <= at - found.look_again_at < 1
    assert command == "twinhive verify sales"
    later, _ = again(damaged.type("verify", "sales", code=ExitCode.TRY_AGAIN))
    assert later == at, "a second look that comes too early does not put it off"


def test_the_command_names_the_tables_again(damaged: Terminal) -> None:
    _, command = again(damaged.type("verify", "sales", "sales.plain", code=ExitCode.TRY_AGAIN))
    assert command == "twinhive verify sales plain"


def test_where_nothing_differs_no_time_is_said(published: Terminal) -> None:
    assert "can be judged from" not in published.type("verify", "sales")


def test_a_document_is_no_sentence(damaged: Terminal) -> None:
    assert damaged.document("verify", "sales", code=ExitCode.TRY_AGAIN)["look_again_at"] > 0
