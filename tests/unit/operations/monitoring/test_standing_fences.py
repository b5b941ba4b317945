"""A fence that stands is told whatever the policy file says of fences by then: its mark is on the source."""

import pytest

from tests.unit.operations.monitoring.test_lag import Many
from twinhive.core.model.failover.fence import FENCED, FenceMark


@pytest.fixture
def many() -> Many:
    return Many()


def fence(many: Many, policy: str) -> None:
    """Leave a mark on the source of `sales`, as a failover of a policy has set it three hours ago."""
    source = many.world.source
    mark = str(FenceMark(policy, "t", int(many.now) - 3 * 3600, "hdfs://west/n"))
    source.set_database_parameters("sales", {**source.database("sales").parameters, FENCED: mark})


def test_one_is_told_that_the_policy_file_does_not_name_any_more(many: Many) -> None:
    many.load()
    assert not many.policies["sales"].fence.rungs
    fence(many, "sales")
    assert many.alerts() == {"sales": "trouble"}
    assert "--abort" in str(many.measured()["sales"].error)


def test_one_of_another_policy_is_that_ones_matter(many: Many) -> None:
    many.load()
    fence(many, "other")
    assert many.alerts() == {}
