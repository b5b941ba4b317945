"""Build trees in memory, and carry out plans on them in the plainest way, to see what a plan means."""

from collections.abc import Mapping

from hypothesis import strategies as st

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.files import is_below, join, parent, relative_to
from twinhive.transfer.tree.path_rule import Layout, lay_out
from twinhive.transfer.tree.planning.make_plan import make_plan
from twinhive.transfer.tree.planning.plan import Plan
from twinhive.transfer.tree.request import SyncOptions, SyncRequest
from twinhive.transfer.tree.tree_actions import ActionKind, FileAction
from twinhive.transfer.tree.work_directories import Places, is_ours

SOURCE, TARGET = "hdfs://east/d", "hdfs://west/t"

Nested = Mapping[str, "Nested | bytes"]
"""A directory: names with the content of a file, or with a directory."""

names = st.sampled_from(["a", "b", "c", "a.b", "a b", "é", "🐘", "z\n", '"'])
trees = st.recursive(
    st.dictionaries(names, st.sampled_from([b"", b"1", b"2", b"22", b"333"]), max_size=4),
    lambda below: st.dictionaries(names, below | st.sampled_from([b"", b"1", b"12"]), max_size=4),
    max_leaves=12,
)


def build(files: InMemoryFiles, root: str, tree: Nested) -> None:
    """Make a directory with all that is to be in it."""
    files.make_directories(root)
    for name, content in tree.items():
        if isinstance(content, bytes):
            files.put(join(root, name), content)
        else:
            build(files, join(root, name), content)


def flat(tree: Nested, above: str = "") -> dict[str, bytes | None]:
    """Return a tree as paths with the content of a file, or None for a directory."""
    found: dict[str, bytes | None] = {}
    for name, content in tree.items():
        path = f"{above}{name}"
        if isinstance(content, bytes):
            found[path] = content
        else:
            found |= {path: None, **flat(content, f"{path}/")}
    return found


def content(files: InMemoryFiles, root: str) -> dict[str, bytes | None]:
    """Return what is below a directory in the form of `flat`, our own directories left out."""
    found = {}
    for path, node in files._tree.nodes.items():
        if is_below(path, root) and not any(map(is_ours, path[len(root) :].split("/"))):
            found[relative_to(path, root)] = None if node.status.is_directory else node.content
    return found


def sides(source: Nested, target: Nested | None = None) -> tuple[InMemoryFiles, InMemoryFiles]:
    """Return two file systems, with trees at SOURCE and TARGET."""
    east, west = InMemoryFiles("hdfs://east"), InMemoryFiles("hdfs://west")
    build(east, SOURCE, source)
    if target is not None:
        build(west, TARGET, target)
    return east, west


def planned(
    east: InMemoryFiles, west: InMemoryFiles, *, sources: tuple[str, ...] = (SOURCE,), **given: object
) -> tuple[Layout, Plan]:
    """Plan a copy to TARGET."""
    options = SyncOptions.of(given)
    layout = lay_out(SyncRequest(sources, TARGET, options), east, west)
    return layout, make_plan(layout, options, east, west)


def actions(plan: Plan) -> dict[str, ActionKind]:
    """Return what is done to each file, and what is deleted."""
    found = [FileAction.from_line(line) for line in (*plan.copies(), *plan.logs())]
    return {action.relative: action.kind for action in [*found, *plan.deletes()]}


def carry_out(plan: Plan, places: Places, east: InMemoryFiles, west: InMemoryFiles) -> None:
    """Do what a plan says, one thing after the other."""
    _move(plan, places, west)
    for action in plan.leftovers():
        assert west.delete(places.built(action.relative)), action
    for action in plan.directories():
        west.make_directories(_place(places, action))
    for line in (*plan.copies(), *plan.logs()):
        _copy(FileAction.from_line(line), places, east, west)
    roots = list(plan.new_roots())
    assert plan.replaced.keys() <= set(roots)
    for root in roots:
        west.make_directories(parent(places.final(root)))
        if root in plan.replaced:
            assert west.delete(places.final(root)), root
        assert west.rename(places.built(root), places.final(root)), root
    for action in plan.attributes():
        found = west.status(places.final(action.relative))
        assert found, action
        assert found.is_directory
    for action in plan.deletes():
        west.delete(places.final(action.relative))


def _place(places: Places, action: FileAction) -> str:
    return places.final(action.relative) if action.new_root is None else places.built(action.relative)


def _copy(action: FileAction, places: Places, east: InMemoryFiles, west: InMemoryFiles) -> None:
    assert action.source is not None
    path, wanted = _place(places, action), east.read(action.source.path)
    found = west.status(path)
    if action.kind is ActionKind.COPY:
        assert found is None, f"{path} is there"
    else:
        assert found, f"{path} is missing"
        assert action.target
        assert found.file_id == action.target.file_id
    if action.kind is ActionKind.ATTRIBUTES:
        assert west.read(path) == wanted
    assert west.status(parent(path)), f"the directory of {path} is missing"
    west.delete(path)
    west.put(path, wanted)


def _move(plan: Plan, places: Places, west: InMemoryFiles) -> None:
    west.make_directories(places.aside)
    for move in plan.moves:
        assert west.rename(places.final(move.relative), join(places.aside, str(move.number))), move
    for move in plan.placings:
        place = places.final(move.target or "")
        west.make_directories(parent(place))
        assert west.rename(join(places.aside, str(move.number)), place), move
    if not plan.moves:
        west.delete(places.aside)
