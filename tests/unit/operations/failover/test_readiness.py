"""Whether a replica could take over: each thing that keeps it from that is named, with what to do."""

from collections.abc import Callable

import pytest

from tests.support.hive import metastore_objects as objects
from tests.support.worlds.fake_world import LISTENER, REPLICA_ADDRESS, World
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import ActNow
from twinhive.core.model.quarantine import with_frozen
from twinhive.core.model.text import render
from twinhive.operations.actions.resync import Resync
from twinhive.operations.failover.readiness import Readiness, readiness
from twinhive.replication.notification_log.server_settings import seconds_of

READY = {
    "metastore.transactional.event.listeners": LISTENER,
    "metastore.repl.cm.enabled": "true",
    "metastore.repl.event.db.listener.timetolive": "10d",
}


@pytest.fixture
def followed() -> Followed:
    followed = Followed()
    followed.world.replica.configurations[REPLICA_ADDRESS] |= READY
    return followed


def look(followed: Followed) -> Readiness:
    return readiness(followed.world.ports(), followed.policy)


def said(found: Readiness) -> str:
    return "\n".join(render(problem.text) for problem in found.problems)


def test_a_replica_that_could_take_over(followed: Followed) -> None:
    found = look(followed)
    assert found.problems == (), said(found)
    told = "\n".join(render(line) for line in found.told)
    assert "0 events of this policy come after it" in told and "never verified" in told and "grants" in told


def configured(key: str, value: str) -> Callable[[Followed], None]:
    def spoil(followed: Followed) -> None:
        followed.world.replica.configurations[REPLICA_ADDRESS][key] = value

    return spoil


def frozen(followed: Followed) -> None:
    world: World = followed.world
    parameters = world.replica.database("sales").parameters
    world.replica.set_database_parameters("sales", with_frozen(parameters, "plain", "4 broken"))


def asked_for(followed: Followed) -> None:
    Resync(followed.policy, "plain", {"by": "ann"}).run(followed.world.ports())


def without_its_function(followed: Followed) -> None:
    followed.world.source.create_function(objects.a_function("sales", "f"))


def without_files_of_a_function(followed: Followed) -> None:
    followed.world.replica.create_function(objects.a_function("sales", "f", "hdfs://west/gone.jar"))


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (configured("metastore.transactional.event.listeners", ""), "keeps no notification log"),
        (configured("metastore.repl.cm.enabled", "false"), "keeps no dropped files"),
        (configured("metastore.repl.event.db.listener.timetolive", "86400s"), "keeps its log too shortly"),
        (configured("metastore.metadata.transformer.class", "some.Transformer"), "make tables in different ways"),
        (configured("metastore.rawstore.impl", "a.CachedStore"), "does not answer from its database alone"),
        (frozen, "are quarantined"),
        (asked_for, "wait to be brought over"),
        (without_its_function, "are not on the replica"),
        (without_files_of_a_function, "its files are gone"),
    ],
)
def test_what_keeps_it_is_named_with_what_to_do(
    followed: Followed, spoil: Callable[[Followed], None], says: str
) -> None:
    spoil(followed)
    found = look(followed)
    assert [says in render(problem.text) for problem in found.problems] == [True], said(found)
    words = found.problems[0].words
    assert words.found and words.expected and words.next_step


def test_a_metastore_that_does_not_answer_one_question_is_a_problem_and_the_others_are_told(
    followed: Followed, monkeypatch: pytest.MonkeyPatch
) -> None:
    frozen(followed)

    def refused(address: str) -> None:
        raise ActNow(f"{address} may not be asked", found="no", expected="yes", next_step="ask")

    monkeypatch.setattr(followed.world.replica, "log_access", refused)
    assert "may not be asked" in said(look(followed)) and "are quarantined" in said(look(followed))


def test_a_replica_that_does_not_follow_is_refused() -> None:
    followed = Followed()
    followed.world.replica.set_database_parameters("sales", {})
    with pytest.raises(ActNow):
        look(followed)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("86400s", 86_400), ("10d", 864_000), ("1 h", 3_600), ("172800", 172_800), ("5min", 300), ("2days", 172_800)),
        *(("", None), ("soon", None)),
    ],
)
def test_times_are_read_as_hive_writes_them(text: str, seconds: float | None) -> None:
    assert seconds_of(text) == seconds
