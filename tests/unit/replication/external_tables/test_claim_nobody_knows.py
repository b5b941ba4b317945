"""A base directory that is claimed with an answer that nobody knows is claimed by the next try."""

import pytest

from tests.support.builders import a_policy, an_external
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import Refused, Unexplained, may_pass
from twinhive.replication.replica.base_claim import own_base, write_claim

BASE = "hdfs://west/other/base"


@pytest.mark.parametrize("kind", [Refused, Unexplained])
def test_it_is_claimed_by_the_next_try(monkeypatch: pytest.MonkeyPatch, kind: type[Refused]) -> None:
    followed, policy = Followed(), a_policy(external=an_external(base_directory=BASE))
    ports = followed.world.ports()

    def answer(path: str) -> None:
        raise kind(f"{path}: refused")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(followed.world.replica_files, "make_directories", answer)
        with pytest.raises(kind, match=r"base directory of external tables .* cannot be written") as met:
            write_claim(ports, policy, BASE)
    assert may_pass(met.value) is (kind is Unexplained)
    assert ("If it goes on, hdfs dfs -mkdir" in str(met.value)) is (kind is Unexplained)
    assert write_claim(ports, policy, BASE)
    assert own_base(ports, policy) is not None
