"""What may be wrong with moving a table's primary: names, clusters, where it is to go, and the table itself."""

from collections.abc import Callable
from typing import Any

from tests.bad_input.case import Case
from tests.bad_input.desk import Desk
from tests.bad_input.placement_cases import PLACEMENT, with_placements
from tests.support.worlds.kept_marks import put_move
from twinhive.federation.routing.move_mark import PrimaryMove
from twinhive.runtime.wiring.cluster_wiring import ClustersWiring

_OTHERS = {**PLACEMENT, "tables": {"exclude": [".*"]}}
_MOVE = ("move-primary", "sales.plain", "north", "--root", "hdfs://west/home")


def _with(document: Any = _OTHERS, parameters: dict[str, str] | None = None) -> Callable[[Desk], None]:
    """Return what lets north share the metastore of east, with a placement, and gives a table parameters."""

    def spoil(desk: Desk) -> None:
        with_placements(document)(desk)
        desk.policies.add("sales", tables={"exclude": [".*"]})
        desk.patch.setattr(ClustersWiring, "metastore", lambda wiring, cluster: desk.world.source)
        if parameters:
            desk.terminal.users.set_parameters("plain", parameters)

    return spoil


def _directory_of_somebody_else(desk: Desk) -> None:
    _with()(desk)
    desk.world.replica_files.put("hdfs://west/home/move-plain-37428ea5/precious", b"precious")


def _moved_elsewhere(desk: Desk) -> None:
    _with()(desk)
    put_move(desk.world.source, desk.terminal.users.table("plain"), PrimaryMove("east", "south"))


MOVE_CASES: tuple[Case, ...] = (
    Case("move: no name of a table", ("move-primary", "plain", "north"), ("'plain' is no name of a table",), _with()),
    Case(
        "move: no such cluster", (*_MOVE[:2], "nort"), ("no table can be moved to cluster nort", "east, north"), _with()
    ),
    Case(
        "move: a cluster whose metastore is its own",
        (*_MOVE[:2], "west"),
        ("west shares its metastore with no other cluster",),
        _with(),
    ),
    Case("move: a root that is no directory", (*_MOVE[:4], "home/"), ("--root is no directory", "home/"), _with()),
    Case("move: nobody says where to", _MOVE[:3], ("database sales has no twinhive.root.north", "--root"), _with()),
    Case(
        "move: no such table",
        ("move-primary", "sales.nowhere", *_MOVE[2:]),
        ("there is no table sales.nowhere",),
        _with(),
    ),
    Case(
        "move: a policy replicates it",
        _MOVE,
        ("sales.plain cannot be moved: policy sales replicates it from east", "tables.exclude"),
        lambda desk: (_with()(desk), desk.policies.add("sales")),
    ),
    Case(
        "move: of a cluster that is not there",
        _MOVE,
        ("sales.plain cannot be moved: it belongs to cluster south", "twinhive clusters check"),
        _with(parameters={"twinhive.cluster": "south"}),
    ),
    Case(
        "move: while another one is under way",
        _MOVE,
        ("sales.plain is being moved from east to south", "twinhive move-primary sales.plain south"),
        _moved_elsewhere,
    ),
    Case("move: a replica", _MOVE, ("it is a replica",), _with(parameters={"twinhive.stamp": "log:1"})),
    Case("move: a transactional table", _MOVE, ("transactional",), _with(parameters={"transactional": "true"})),
    Case(
        "move: into a warehouse",
        (*_MOVE[:4], "hdfs://west/warehouse/managed"),
        ("sales.plain cannot be moved to hdfs://west/warehouse/managed/", "the warehouse"),
        lambda desk: (
            _with()(desk),
            desk.world.source.configurations["east-metastore:9083"].update(
                {"metastore.warehouse.dir": "hdfs://west/warehouse/managed"}
            ),
        ),
    ),
    Case("move: a directory of somebody else", _MOVE, ("nobody else has made",), _directory_of_somebody_else),
)
