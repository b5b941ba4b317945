"""The command that a verification names mends what it has found; its runs are kept by when they were."""

from dataclasses import replace

import pytest

from tests.support.builders import a_policy
from tests.support.hdfs.fake_files import InMemoryFiles
from tests.unit.replication.verify.test_recheck import look_again
from tests.unit.replication.verify.verifying import Verifying
from twinhive.core.model.errors import ActNow
from twinhive.operations.actions.repair import Repair
from twinhive.operations.actions.resync_all import ResyncEverything
from twinhive.replication.verify.verification_outcome import Verified, write_outcome

HOLDER = {"by": "ann"}


def test_a_database_that_differs_is_mended_by_what_is_named() -> None:
    verifying = Verifying()
    followed = verifying.followed
    followed.world.replica.alter_database(replace(followed.world.replica.database("sales"), comment="of somebody"))
    verifying.verify()
    with pytest.raises(ActNow) as raised:
        look_again(verifying)
    [command] = raised.value.commands
    assert command == f"twinhive resync {followed.policy.name} --all"
    for lines in (
        Repair(followed.policy, (), HOLDER).run(followed.world.ports()),
        Repair(followed.policy, (), HOLDER).plan(followed.world.ports()),
    ):
        assert any(command in line for line in lines)
    assert not any(command in line for line in Repair(followed.policy, ("plain",), HOLDER).run(followed.world.ports()))
    ResyncEverything(followed.policy, HOLDER).run(followed.world.ports())
    followed.follow()
    assert verifying.verify().is_clean


@pytest.mark.parametrize(
    ("tables", "beside", "said"),
    [
        (("a", "b"), False, "twinhive repair sales a b"),
        (tuple("abcdefghijk"), False, "twinhive repair sales"),
        (("a",), True, "twinhive resync sales --all"),
    ],
)
def test_all_that_differs_is_named_or_none(tables: tuple[str, ...], *, beside: bool, said: str) -> None:
    found = Verified(found=len(tables), tables_with_findings=tables, beside_tables=beside)
    assert found.way_to_mend("sales").line == said


def test_the_newest_runs_are_kept_though_a_restored_log_has_lower_numbers() -> None:
    files, policy = InMemoryFiles("hdfs://west"), a_policy()
    for event in [*range(1_000, 1_007), 50, 51]:
        write_outcome(files, policy, Verified(event=event, found=1), [])
    runs = {int(path.split("/runs/")[1].split("/")[0]) for path in files.paths() if "/runs/" in path}
    assert runs == {*range(1_002, 1_007), 50, 51}
