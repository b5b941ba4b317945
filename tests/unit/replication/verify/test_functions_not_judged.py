"""A function that the replica lacks, and of whose file nobody knows the answer, is tried again, then not judged."""

import pytest

from tests.unit.operations.failover.test_failover import ready
from tests.unit.replication.incremental.test_functions_nobody_knows import a_new_function, odd_about_the_jar
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import Unexplained
from twinhive.core.step.step_base import Work
from twinhive.replication.verify.verification_outcome import Verified
from twinhive.replication.verify.verify import Verify


@pytest.fixture
def lacking() -> Followed:
    """A replica where somebody has dropped a function."""
    followed = a_new_function()
    followed.follow()
    ready(followed)
    followed.world.replica.drop_function("sales", "f")
    return followed


def verified(followed: Followed, *, is_last_try: bool = True) -> Verified:
    work = Work(followed.policy, holder={"run": "v"}, is_last_try=is_last_try)
    return Verify(work, wait=lambda seconds: None).run(followed.world.ports())


@pytest.mark.parametrize("call", ["status", "checksum"])
def test_it_is_equal_to_nothing(lacking: Followed, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    assert verified(lacking).suspects == (" function f: missing",)
    odd_about_the_jar(monkeypatch, lacking.world, call)
    with pytest.raises(Unexplained, match="could not be looked at"):
        verified(lacking, is_last_try=False)
    found = verified(lacking)
    assert not found.is_equal and found.is_clean and "function f" not in found.left_out
    assert "could not be looked at" in found.not_judged["function f"]
    assert found.judged == found.leaves - 1


def test_one_whose_file_is_gone_is_left_out(lacking: Followed) -> None:
    lacking.world.source_files.delete("hdfs://east/jars")
    found = verified(lacking)
    assert found.is_equal and "is gone" in found.left_out["function f"]
