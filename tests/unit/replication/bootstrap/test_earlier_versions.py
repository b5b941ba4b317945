"""What an earlier commit has left is refused with the next step, and that step builds the replica again."""

import pytest

from tests.support.worlds.fake_world import World
from tests.support.worlds.kept_worlds import FIXTURES, kept_world
from tests.support.worlds.memory_comparison import assert_twin
from tests.unit.replication.bootstrap.test_bootstrap_killed import POLICY as IN_SMALL_BATCHES
from tests.unit.replication.incremental.test_incremental import POLICY
from twinhive.core.directory_marks.directories import mark_of
from twinhive.core.model.errors import ActNow, Foreign
from twinhive.core.model.marks import FORMAT, FORMAT_NOW
from twinhive.core.model.policy import Policy
from twinhive.operations.actions.replica_status import read_status
from twinhive.runtime.pipeline.phases import PHASES
from twinhive.runtime.pipeline.runner import run_bootstrap, run_phase, run_whole

EARLIER = FIXTURES / "de3b3ea"
LEFT = pytest.mark.parametrize(("name", "policy"), [("window", POLICY), ("loading", IN_SMALL_BATCHES)])


def said(line: str) -> None:
    """Say it to nobody."""


def put_aside(world: World, policy: Policy) -> None:
    """Do what is said of directories that bear no mark: they may be anybody's."""
    for files, directory in ((world.replica_files, policy.staging), (world.source_files, policy.dumps)):
        assert mark_of(files, directory) is None
        files.make_directories("/".join([*directory.split("/")[:3], "aside"]))
        files.rename(directory, "/".join([*directory.split("/")[:3], "aside", "sales"]))


@LEFT
@pytest.mark.parametrize("phase", ["consolidate", "incremental", "scan", "verify"])
def test_no_phase_goes_on_with_it_and_nothing_is_changed(name: str, policy: Policy, phase: str) -> None:
    world = kept_world(EARLIER / f"{name}.json.gz")
    before = (dict(world.replica.database("sales").parameters), world.replica_files.paths(), world.source_files.paths())
    with pytest.raises(ActNow) as refused:
        run_phase(PHASES[phase], policy, world.ports(), {"run": "r"}, said)
    assert refused.value.words.what == "the replica west/sales of policy sales was made by another version of twinhive"
    assert (refused.value.words.found, refused.value.words.expected) == (f"{FORMAT} = (not set)", f"{FORMAT} = 1")
    next_step = refused.value.words.next_step
    assert next_step == "bootstrap again: start the DAG sales.bootstrap with again=true"
    assert before == (
        dict(world.replica.database("sales").parameters),
        world.replica_files.paths(),
        world.source_files.paths(),
    )


@LEFT
def test_it_is_built_again(name: str, policy: Policy) -> None:
    world = kept_world(EARLIER / f"{name}.json.gz")
    with pytest.raises(ActNow, match="was made by another version of twinhive"):
        run_bootstrap(policy, world.ports(), {"run": "b"}, said)
    put_aside(world, policy)
    run_bootstrap(policy, world.ports(), {"run": "b"}, said, again=True)
    run_whole("incremental", policy, world.ports(), {"run": "i"}, said)
    assert_twin(world)
    assert world.replica.database("sales").parameters[FORMAT] == FORMAT_NOW


@LEFT
def test_directories_without_a_mark_are_nobodys(name: str, policy: Policy) -> None:
    world = kept_world(EARLIER / f"{name}.json.gz")
    paths = world.replica_files.paths(), world.source_files.paths()
    with pytest.raises(Foreign, match=r"(?s)is to be the directory for .*hdfs dfs -mv"):
        run_bootstrap(policy, world.ports(), {"run": "b"}, said, again=True)
    assert paths == (world.replica_files.paths(), world.source_files.paths())


def test_how_far_it_is_can_still_be_seen() -> None:
    world = kept_world(EARLIER / "window.json.gz")
    assert read_status(world.ports(), POLICY).state.position.event_id > 0


@pytest.mark.parametrize("form", ["", "0", "2", "1 "])
def test_every_other_form_is_refused(form: str) -> None:
    world = kept_world(EARLIER / "window.json.gz")
    parameters = world.replica.database("sales").parameters
    world.replica.set_database_parameters("sales", {**parameters, FORMAT: form})
    with pytest.raises(ActNow, match="was made by another version of twinhive"):
        run_phase(PHASES["incremental"], POLICY, world.ports(), {"run": "r"}, said)
