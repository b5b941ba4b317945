"""A directory is removed as a whole only with proof that we have made it."""

import pytest

from tests.support.builders import a_policy
from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hdfs.fake_trash import TRASH
from tests.support.worlds.fake_world import a_world
from twinhive.core.directory_marks.directories import ATTRIBUTE, MARKER, Owned, is_empty, mark_of, mark_table, table_of
from twinhive.core.directory_marks.staging import claim_staging, make_staging, own_staging, staging_of
from twinhive.core.model.errors import Foreign, Refused, Unexplained
from twinhive.operations.actions.operation import Operation
from twinhive.operations.actions.pause import Pause
from twinhive.operations.failover.forget import Forget
from twinhive.replication.dump.dump_layout import DumpLayout
from twinhive.replication.dump.dump_ownership import claim_dumps, discard_dump, foreign_dumps, own_dump, own_dumps_of
from twinhive.runtime.pipeline.runner import run_bootstrap

ROOT = "hdfs://west/twinhive/staging"
STAGING = f"{ROOT}/sales"
DUMPS = "hdfs://east/twinhive/dumps/sales"
POLICY = a_policy()


@pytest.fixture
def files() -> InMemoryFiles:
    return InMemoryFiles("hdfs://west")


@pytest.fixture
def east() -> InMemoryFiles:
    return InMemoryFiles("hdfs://east")


@pytest.mark.parametrize("keeps_attributes", [True, False], ids=["attribute", "file"])
def test_a_directory_is_made_with_its_mark_and_for_its_owner_alone(
    files: InMemoryFiles, keeps_attributes: bool
) -> None:
    files.keeps_attributes = keeps_attributes
    claim_staging(files, POLICY)
    status = files.status(STAGING)
    assert status and status.permission == 0o700
    assert mark_of(files, STAGING) == "staging:sales"
    assert (files.status(f"{STAGING}/{MARKER}") is None) == keeps_attributes
    assert own_staging(files, POLICY) == claim_staging(files, POLICY)
    assert own_staging(files, a_policy(name="other", staging_root=ROOT)) is None
    assert staging_of(files, STAGING, "other") is None


def test_files_of_somebody_else_make_a_directory_foreign_and_nothing_is_changed(files: InMemoryFiles) -> None:
    files.put(f"{STAGING}/events/2024-11-22/part-0", b"rows")
    before = files.paths()
    with pytest.raises(Foreign, match="somebody else's") as raised:
        claim_staging(files, POLICY)
    assert f"(hdfs dfs -mv {STAGING} {STAGING}.aside)" in str(raised.value.next_step)
    assert own_staging(files, POLICY) is None and files.paths() == before and mark_of(files, STAGING) is None


def test_of_a_directory_whose_mark_is_read_with_an_answer_that_nobody_knows_nobody_knows_whose_it_is(
    files: InMemoryFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer_oddly(path: str, name: str) -> None:
        raise Unexplained(f"{path}: refused")

    claimed = claim_staging(files, POLICY)
    files.put(f"{STAGING}/of a later version/x", b"x")
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(files, "attribute", answer_oddly)
        for asked in (claim_staging, own_staging):
            with pytest.raises(Unexplained):
                asked(files, POLICY)
    assert claim_staging(files, POLICY) == claimed


def test_a_directory_of_another_policy_is_foreign(files: InMemoryFiles) -> None:
    claim_staging(files, POLICY)
    files.set_attribute(STAGING, "user.twinhive.directory", "staging:other")
    with pytest.raises(Foreign) as raised:
        claim_staging(files, POLICY)
    assert raised.value.found == "it says staging:other"


def test_a_file_where_the_directory_is_to_be_is_foreign(files: InMemoryFiles) -> None:
    files.put(STAGING, b"")
    with pytest.raises(Foreign, match="somebody else's") as raised:
        claim_staging(files, POLICY)
    assert raised.value.found == "a file"


@pytest.mark.parametrize(
    "paths",
    [
        ["lease/lease-0000000007", "events/000000000012/ab", "base/0f/ab_1"],
        ["control/paused.json"],
        ["scan/unused.json", "tmp/" + "0" * 32],
        [f"base/0f/0f{'a' * 30}_1", "tmp/" + "0" * 32],
        ["lease/lease-0000000007", "README"],
    ],
)
def test_without_its_mark_no_name_proves_that_a_directory_is_staging(files: InMemoryFiles, paths: list[str]) -> None:
    for path in paths:
        files.put(f"{STAGING}/{path}")
    before = files.paths()
    assert own_staging(files, POLICY) is None
    with pytest.raises(Foreign, match="somebody else's"):
        claim_staging(files, POLICY)
    assert files.paths() == before and mark_of(files, STAGING) is None


def test_staging_is_made_with_its_mark_before_anything_is_in_it(files: InMemoryFiles) -> None:
    make_staging(files, POLICY)
    assert mark_of(files, STAGING) == "staging:sales"
    files.calls.clear()
    make_staging(files, POLICY)
    assert dict(files.calls) == {"status": 1}


def test_only_what_lies_in_an_owned_directory_is_removed_through_it(files: InMemoryFiles) -> None:
    owned = claim_staging(files, POLICY)
    for path in (f"{ROOT}/other", ROOT, f"{STAGING}/../other", f"{STAGING}x", "hdfs://west"):
        for remove in (owned.take_away, owned.discard):
            with pytest.raises(Foreign, match="nothing proves that it is ours"):
                remove(path)


def test_what_is_taken_away_is_in_the_trash_where_one_is_kept(files: InMemoryFiles) -> None:
    files.put(f"{STAGING}/tables/f", b"rows")
    owned = Owned(files, STAGING)
    assert owned.take_away(f"{STAGING}/tables") == "removed, no trash is kept there"
    files.keeps_trash = True
    files.put(f"{STAGING}/tables/f", b"rows")
    assert owned.take_away() == "moved to the trash"
    assert files.read(f"hdfs://west{TRASH}/Current/twinhive/staging/sales/tables/f") == b"rows"


def test_what_the_trash_does_not_take_is_not_deleted_instead(files: InMemoryFiles) -> None:
    files.keeps_trash = True
    files.put(f"{STAGING}/tables/f", b"rows")
    files.forbidden.add("hdfs://west/user")
    with pytest.raises(Refused):
        Owned(files, STAGING).take_away()
    assert files.read(f"{STAGING}/tables/f") == b"rows"


def test_a_tables_directory_is_proven_by_the_mark_on_it_and_by_no_name(files: InMemoryFiles) -> None:
    root = "hdfs://west/warehouse/sales.db"
    for table in ("plain.5", "orders.5", "theirs.5"):
        files.put(f"{root}/{table}/p=1/f")
    mark_table(files, f"{root}/plain.5", "sales:events")
    mark_table(files, f"{root}/orders.5", "others:events")
    owned = table_of(files, root, f"{root}/plain.5/p=1", "sales")
    assert owned is not None and owned.directory == f"{root}/plain.5"
    for path in (f"{root}/orders.5", f"{root}/theirs.5/p=1", root, f"{root}/gone.5", "hdfs://west/warehouse"):
        assert table_of(files, root, path, "sales") is None


@pytest.mark.parametrize(
    "paths",
    [
        ["consolidate-000000000001-000000000002/dump.json"],
        [f"_attempt-{'a' * 32}/_begun", "drained/000000000002-000000000003.jsonl.gz"],
    ],
)
def test_without_its_mark_no_name_proves_that_a_directory_holds_our_dumps(
    east: InMemoryFiles, paths: list[str]
) -> None:
    for path in paths:
        east.put(f"{DUMPS}/{path}", b'{"token": "1", "policy": "sales"}')
    assert own_dumps_of(east, POLICY) is None
    with pytest.raises(Foreign, match="is to be the directory for 'dumps:sales'"):
        claim_dumps(east, POLICY)
    assert not any(discard_dump(east, f"{DUMPS}/{path.partition('/')[0]}") for path in paths)
    assert east.paths() == [f"{DUMPS}/{path}" for path in sorted(paths)]


@pytest.mark.parametrize("path", ["orders/part-0", "drained/part-0", "external/orders/f", f"_attempt-{'a' * 32}/f"])
def test_a_directory_without_dumps_is_no_place_for_them(east: InMemoryFiles, path: str) -> None:
    east.put(f"{DUMPS}/{path}", b"rows")
    assert foreign_dumps(east, POLICY) is not None
    with pytest.raises(Foreign, match="is to be the directory for 'dumps:sales'"):
        claim_dumps(east, POLICY)


def test_a_policys_dumps_are_for_its_owner_alone_and_a_statements_dump_for_whoever_loads_it(
    east: InMemoryFiles,
) -> None:
    statement = a_policy(dump_directory=f"hdfs://east/user/hive/repl/sales/{'c' * 32}")
    for policy in (POLICY, statement):
        claim_dumps(east, policy)
    found = [east.status(policy.dumps) for policy in (POLICY, statement)]
    assert [one.permission for one in found if one] == [0o700, 0o755]


def test_a_name_like_that_of_a_dump_is_no_proof(east: InMemoryFiles) -> None:
    name = DumpLayout.of(DUMPS, "consolidate", 1, 2).directory  # type: ignore[arg-type]
    east.put(f"{name}/part-0", b"rows")
    assert not discard_dump(east, name)
    token = f"hdfs://east/data/sales/{'b' * 32}"
    east.put(f"{token}/part-0", b"rows")
    assert own_dump(east, token, "b" * 32) is None
    east.put(f"{token}/repl.json", b'{"statement": "REPL DUMP sales", "dump": "consolidate-1-2", "last_event": 2}')
    assert own_dump(east, token, "b" * 32) is None
    east.set_attribute(token, ATTRIBUTE, "dump:" + "b" * 32)
    assert own_dump(east, token, "b" * 32) is not None
    assert own_dump(east, token, "orders") is None


@pytest.mark.parametrize(
    ("mark", "is_ours"), [("dumps:sales", True), ("dump:" + "b" * 32, True), ("staging:sales", False)]
)
def test_a_dump_without_a_description_is_ours_only_among_dumps(east: InMemoryFiles, mark: str, is_ours: bool) -> None:
    name = DumpLayout.of(DUMPS, "consolidate", 1, 2).directory  # type: ignore[arg-type]
    east.put(f"{name}/part-0", b"rows")
    east.set_attribute(DUMPS, ATTRIBUTE, mark)
    assert discard_dump(east, name) == is_ours
    assert (f"{name}/part-0" in east.paths()) != is_ours


def test_what_is_not_there_is_not_empty(files: InMemoryFiles) -> None:
    assert not is_empty(files, STAGING)


def test_what_is_ours_goes_aside_and_is_ours_there(files: InMemoryFiles) -> None:
    owned = claim_staging(files, POLICY)
    files.put(f"{STAGING}/tmp/one", b"x")
    going = owned.move_aside(f"{ROOT}/_removing/sales")
    assert going is not None and going.take_away()
    assert files.status(STAGING) is None and files.status(f"{ROOT}/_removing/sales") is None
    assert owned.move_aside(f"{ROOT}/_removing/sales") is None


def test_only_what_lies_in_it_goes_aside_through_it(files: InMemoryFiles) -> None:
    owned = claim_staging(files, POLICY)
    files.put(f"{ROOT}/theirs/f", b"x")
    for path in (f"{ROOT}/theirs", f"{STAGING}/../theirs", f"{STAGING}-2"):
        with pytest.raises(Foreign):
            owned.move_aside(f"{ROOT}/away", path)
    assert files.read(f"{ROOT}/theirs/f") == b"x"


@pytest.mark.parametrize("at", range(1, 30))
def test_who_claims_a_directory_at_the_same_time_as_another_finds_it_ours(at: int) -> None:
    class Beside(InMemoryFiles):
        calls_left = at

        def _call(self, name):  # type: ignore[no-untyped-def]
            self.calls_left -= 1
            if self.calls_left == 0:
                claim_staging(self, POLICY)
                self.write(f"{STAGING}/events/000000000001/{'0' * 32}", b"")
            return super()._call(name)

    files = Beside("hdfs://west")
    InMemoryFiles.make_directories(files, STAGING)
    claim_staging(files, POLICY)
    assert mark_of(files, STAGING) == "staging:sales"


def test_a_mark_that_was_begun_makes_a_directory_nobody_elses(files: InMemoryFiles) -> None:
    files.keeps_attributes = False
    files.put(f"{STAGING}/.{MARKER}.{'0' * 32}", b"sta")
    claim_staging(files, POLICY)
    assert mark_of(files, STAGING) == "staging:sales"


@pytest.mark.parametrize(
    "first", [Pause(POLICY, "not yet", {"by": "ann"}), Forget(POLICY, {"by": "ann"})], ids=["pause", "forget"]
)
def test_what_people_ask_before_the_first_copy_does_not_make_staging_foreign(first: Operation) -> None:
    world = a_world()
    first.run(world.ports())
    run_bootstrap(POLICY, world.ports(), {"run": "b"}, lambda line: None)
    assert mark_of(world.replica_files, POLICY.staging) == "staging:sales"
