"""What was cut off beside the dumps goes with the next window that is planned."""

from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.replication.dump.publishing import attempts_of


def test_a_planned_window_removes_attempts_that_were_cut_off() -> None:
    followed = Followed()
    files = followed.world.source_files
    files.put(f"{followed.policy.dumps}/_attempt-00000000/_begun", b"{}")
    assert len(attempts_of(files, followed.policy)) == 1
    assert followed.follow()["window"].idle
    assert len(attempts_of(files, followed.policy)) == 1
    followed.users.insert("plain", None, [b"more"])
    followed.follow()
    assert attempts_of(files, followed.policy) == []
