"""A replica that takes over shows the sets that its source has: none is marked behind its last look and lost."""

from dataclasses import replace

import pytest

from tests.unit.operations.failover.test_failover import HOLDER, parameters, planned, position, ready
from tests.unit.operations.failover.test_fence import HOME, Fenced
from tests.unit.publishing.set_visibility.test_shown_sets import Producer
from twinhive.core.model.changes.events import NOWHERE, Position
from twinhive.core.model.errors import ActNow, LogBroken, Refused, TryAgain, Unexplained, Unreachable
from twinhive.core.model.failover.fence import QUOTA
from twinhive.core.model.marks import PHASE
from twinhive.core.model.names import TableName
from twinhive.core.model.sets.set_mark import SETS_TABLE
from twinhive.core.step.step_base import Work
from twinhive.operations.failover.failover import Failover
from twinhive.operations.failover.fence.fenced_directories import directories_to_fence, source_database
from twinhive.operations.failover.late_set_marks import set_news, unshown_sets
from twinhive.publishing.set_visibility.show_sets import ShowSets
from twinhive.publishing.sets.marking_sets import MarkSet

ORDERS = TableName("sales", "orders")


@pytest.fixture
def producer() -> Producer:
    return ready(Producer())


def phase(producer: Producer) -> str:
    return parameters(producer)[PHASE]


def test_a_set_that_is_marked_while_the_source_should_be_quiet_is_not_lost(producer: Producer) -> None:
    with pytest.raises(ActNow, match=r"(?s)still marked.*ADD_PARTITION twinhive_sets.*mark sets on .*taken over"):
        planned(producer, lambda: producer.mark("p=a b")).run(producer.world.ports())
    assert phase(producer) == "following"
    producer.follow()
    planned(producer).run(producer.world.ports())
    assert (phase(producer), producer.shown) == ("promoted", ["orders p=a b"])


def test_nor_is_one_that_is_marked_while_both_sides_are_compared(producer: Producer) -> None:
    producer.mark("p=a b")
    producer.follow()
    operation, ports = planned(producer), producer.world.ports()
    operation.fence(ports)
    quiet = operation.prove_quiet(ports)
    _, compared = operation.prove_equal(ports, quiet)
    producer.unmark("p=a b")
    with pytest.raises(ActNow, match=r"(?s)still marked.*DROP_PARTITION twinhive_sets"):
        operation.promote(ports, quiet, compared)
    assert phase(producer) == "following"


def test_what_was_marked_after_the_last_look_is_waited_for(producer: Producer) -> None:
    producer.mark("p=a b")
    producer.follow()
    producer.mark("*", "plain")
    with pytest.raises(TryAgain, match=r"(?s)does not show all sets yet.*plain \*.*twinhive run sales incremental"):
        planned(producer).run(producer.world.ports())
    producer.follow()
    planned(producer).run(producer.world.ports())
    assert producer.shown == ["orders p=a b", "plain *"]


def test_a_run_that_has_looked_and_was_killed_before_it_showed_counts_for_none(
    producer: Producer, monkeypatch: pytest.MonkeyPatch
) -> None:
    producer.users.add_partitions("orders", {("new",): [b"x"]})
    producer.mark("p=new")

    def unreachable(showing: ShowSets) -> None:
        raise Unreachable("no answer")

    with monkeypatch.context() as failing:
        failing.setattr(ShowSets, "plan", unreachable)
        producer.follow()
    with pytest.raises(TryAgain, match=r"(?s)does not show all sets yet.*orders p=new"):
        planned(producer).run(producer.world.ports())
    producer.follow()
    planned(producer).run(producer.world.ports())
    assert producer.shown == ["orders p=new"]


def test_an_answer_that_nobody_knows_hides_no_set_that_is_to_be_shown(
    producer: Producer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer_oddly(showing: ShowSets) -> None:
        raise Unexplained("reading the marks: refused")

    producer.mark("*", "plain")
    with monkeypatch.context() as failing:
        failing.setattr(ShowSets, "plan", answer_oddly)
        producer.follow()
        with pytest.raises(
            Unexplained, match=r"(?s)they cannot be read.*reading the marks.*twinhive failover sales; or"
        ):
            planned(producer).run(producer.world.ports())
    assert phase(producer) == "following"


@pytest.mark.parametrize("change", ["altered", "dropped"])
def test_a_table_of_sets_that_changed_before_the_failover_is_in_nobodys_way(producer: Producer, change: str) -> None:
    producer.mark("*", "plain")
    if change == "altered":
        producer.follow()
        producer.users.set_parameters(SETS_TABLE, {"told": "late"})
    else:
        producer.unmark("*", "plain")
        producer.follow()
        producer.world.source.drop_table(TableName("sales", SETS_TABLE), delete_data=True)
    planned(producer).run(producer.world.ports())
    assert phase(producer) == "promoted"


def test_sets_that_are_idle_are_in_nobodys_way(producer: Producer) -> None:
    producer.mark("p=a b")
    producer.frozen("plain")
    producer.mark("*", "plain")
    producer.follow()
    assert list(producer.held) == ["plain *"]
    assert Failover(producer.policy, HOLDER, wait=lambda seconds: None)._quiet_end(
        producer.world.ports(), Position(position(producer))
    )


def test_sets_of_tables_that_the_policy_leaves_out_are_of_no_matter(producer: Producer) -> None:
    producer.policy = replace(producer.policy, exclude=("orders",))
    producer.mark("*", "plain")
    producer.follow()
    producer.mark("p=a b")
    ports = producer.world.ports()
    assert unshown_sets(ports, Work(producer.policy, holder=HOLDER)) == []
    everything = replace(producer.policy, exclude=())
    assert len(set_news(ports, everything, NOWHERE)) > len(set_news(ports, producer.policy, NOWHERE)) > 0


def test_a_log_that_does_not_tell_of_sets_is_no_log_without_news(producer: Producer) -> None:
    producer.mark("p=a b")
    ports, log = producer.world.ports(), producer.world.source._log
    begin = log.rows[0].position
    log.rows[-1] = replace(log.rows[-1], catalog="spark")
    assert len(set_news(ports, producer.policy, log.rows[-2].position)) == 0, "of another catalog"
    log.expire(log.rows[2].event_id)
    with pytest.raises(LogBroken, match="has a gap"):
        set_news(ports, producer.policy, begin)
    log.last_event_id = begin.event_id - 1
    with pytest.raises(LogBroken, match="not the one it was"):
        set_news(ports, producer.policy, begin)


def test_the_database_is_fenced_as_a_whole_with_its_table_of_sets() -> None:
    def fences() -> tuple[str, ...]:
        ports = fenced.world.ports()
        return directories_to_fence(ports, fenced.policy, source_database(ports, fenced.policy))

    fenced = Fenced(QUOTA)
    before = fences()
    MarkSet(ORDERS, "p=a b", "t").run(fenced.world.source)
    assert fences() == before and HOME in before
    fenced.failover().fence(fenced.world.ports())
    with pytest.raises(Refused, match="quota"):
        fenced.users.create_table("fresh", files=[b"x"])


def test_where_some_tables_are_selected_others_may_mark_their_sets() -> None:
    fenced = Fenced(QUOTA)
    MarkSet(ORDERS, "p=a b", "t").run(fenced.world.source)
    fenced.policy = replace(fenced.policy, include=("plain",))
    ports = fenced.world.ports()
    assert directories_to_fence(ports, fenced.policy, source_database(ports, fenced.policy)) == (f"{HOME}/plain",)
