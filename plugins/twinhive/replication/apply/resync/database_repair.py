"""Make the replica's database and its functions what the source's were at one event."""

from collections.abc import Callable, Iterable, Iterator

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.objects import Database, Function
from twinhive.core.model.text import Text
from twinhive.replication.apply.apply_progress import Progress
from twinhive.replication.apply.database_changes import parameters_of_source, take_over_owner
from twinhive.replication.apply.function_files import FunctionFiles, LeftOut
from twinhive.replication.apply.functions import Functions, has_own_files, said_of_alone
from twinhive.replication.apply.target import Target


def repair_database(
    target: Target,
    progress: Progress,
    source: Database,
    functions: Iterable[Function],
    event_id: int,
    is_final: Callable[[TwinhiveError], bool],
) -> Iterator[Text]:
    """Change what differs, and yield what has become of it. Each call can be repeated.

    A function that the replica alone has is dropped when all its files are ours; others may be somebody's, and are
    named. One whose files cannot be brought over is left out, and named, when `is_final` says that another try would
    not help.
    """
    if _alter(target, progress, source):
        yield "the database's owner, comment or parameters are the source's again"
    replica, name = target.replica, target.policy.replica.database
    files = FunctionFiles(target.functions, target.files, target.lease, target.root)
    ours, wanted = Functions(replica, name, files), {one.name: one for one in functions}
    for function in wanted.values():
        try:
            if ours.put(function, event_id):
                yield f"function {function.name} is created"
        except LeftOut as left:
            if not is_final(left):
                raise
            yield left.text
    for extra in [one for one in replica.functions(name) if one.name not in wanted]:
        if has_own_files(extra, target.root):
            ours.drop(extra.name)
            yield f"function {extra.name} is dropped: the source does not have it"
        else:
            yield said_of_alone(name, extra)


def _alter(target: Target, progress: Progress, source: Database) -> bool:
    is_changed = take_over_owner(target, source)
    parameters = parameters_of_source(source, progress)
    if parameters != dict(progress.parameters):
        progress.set_parameters(parameters)
        is_changed = True
    return is_changed
