"""The replica's database belongs to whom the source's belongs: a user, a role or a group."""

import pytest

from tests.support.hive.metastore_objects import owned
from tests.unit.replication.incremental.test_incremental import Followed
from tests.unit.replication.incremental.test_resync_everything import ask, with_a_gap
from twinhive.core.model.objects import USER
from twinhive.replication.comparison.canonical_form import canonical_database

ROLE, GROUP = 2, 3


def give(followed: Followed, owner: str, owner_type: int | None) -> None:
    source = followed.world.source
    source.alter_database(owned(source.database("sales"), owner, owner_type))


def assert_same_database(followed: Followed) -> None:
    sides = [metastore.database("sales") for metastore in (followed.world.source, followed.world.replica)]
    source, replica = map(canonical_database, sides)
    assert replica == source
    assert sides[1].owner_type == sides[0].owner_type


@pytest.mark.parametrize("owner_type", [USER, ROLE, GROUP])
def test_the_kind_of_owner_comes_with_the_events(owner_type: int) -> None:
    followed = Followed()
    give(followed, "analysts", owner_type)
    followed.follow()
    assert_same_database(followed)
    assert followed.world.replica.database("sales").owner_type == owner_type


def test_a_role_of_the_same_name_is_another_owner() -> None:
    followed = Followed()
    for owner_type in (USER, ROLE, GROUP, USER):
        give(followed, "analysts", owner_type)
        followed.follow()
        assert_same_database(followed)


def test_a_client_that_says_no_kind_of_owner_leaves_it() -> None:
    followed = Followed()
    give(followed, "analysts", ROLE)
    give(followed, "others", None)
    assert followed.world.source.database("sales").owner_type == ROLE
    followed.follow()
    assert_same_database(followed)


@pytest.mark.parametrize("owner_type", [ROLE, GROUP])
def test_a_resync_of_everything_brings_the_kind_of_owner(owner_type: int) -> None:
    followed = Followed()
    give(followed, followed.world.source.database("sales").owner, owner_type)
    ask(with_a_gap(followed))
    followed.follow()
    assert_same_database(followed)
    followed.log.clear()
    ask(followed)
    followed.follow()
    assert not [line for line in followed.log if "owner, comment or parameters" in line]
