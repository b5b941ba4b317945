"""A run stops before the drop of its source database: no replica is emptied for that."""

import pytest

from tests.support.worlds.fake_world import tuned
from tests.unit.incremental.test_incremental import Followed
from twinhive.model.errors import ActNow
from twinhive.model.names import TableName
from twinhive.model.policy import EVERY_EVENT, WINDOW_END


def stopped(followed: Followed) -> str:
    """Return with what words a run ends."""
    with pytest.raises(ActNow, match="the source database east/sales was dropped") as told:
        followed.follow()
    return str(told.value)


def names(followed: Followed) -> list[str]:
    return sorted(followed.world.replica.table_names("sales"))


def place_of_plain(followed: Followed) -> str | None:
    table = followed.world.replica.table(TableName("sales", "plain"))
    return table.location if table else None


@pytest.mark.parametrize("consistency", [EVERY_EVENT, WINDOW_END])
def test_nothing_that_comes_after_the_drop_is_seen(consistency: str) -> None:
    followed = Followed(tuned(consistency=consistency))
    users, source = followed.users, followed.world.source
    there, place = names(followed), place_of_plain(followed)
    users.insert("plain", None, [b"before"])
    before = source.current_event_id()
    source.emit("DROP_DATABASE", "sales", None, {"db": "sales", "dbJson": None})
    users.create_table("later", files=[b"x"])
    users.overwrite("plain", None, {"new": b"after the drop"})
    stopped(followed)
    stopped(followed)
    database = followed.world.replica.database("sales")
    assert database is not None and int(database.parameters["repl.last.id"]) <= before
    assert names(followed) == there
    assert place_of_plain(followed) == place
