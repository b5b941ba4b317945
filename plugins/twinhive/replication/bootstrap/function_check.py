"""Say before a load, or in a dump for Hive, which functions the replica will do without."""

from collections.abc import Callable, Iterable, Mapping

from twinhive.core.model.errors import Missing, Refused, TryAgain, UnreadableObject, refused_as
from twinhive.core.model.next_steps import ONLY_IN_A_POLICY_FILE
from twinhive.core.model.objects import Function
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, ReadPorts
from twinhive.core.step.step_base import Work
from twinhive.replication.apply.function_files import FunctionSources, LeftOut, UnexplainedLeftOut
from twinhive.replication.replica.source_scope import readable_functions


def report_functions(work: Work, ports: ReadPorts) -> dict[str, UnreadableObject]:
    """Report each function of the source whose files cannot be brought over, and what to do.

    Return what is wrong with those that cannot be read, by name.
    """
    try:
        functions, unreadable = readable_functions(ports.source, work.policy.source.database)
        for left in left_out(ports.source_files, work.policy, functions).values():
            work.report(f"{left.words.what}; next: {left.words.next_step}")
    except (TryAgain, Missing):
        return {}  # the checks of the clusters say so already
    return unreadable


def left_out(source_files: FileReader, policy: Policy, functions: Iterable[Function]) -> dict[str, LeftOut]:
    """Return the functions, by name, that a load leaves out, with the reasons."""
    sources, found = FunctionSources(source_files, policy), dict[str, LeftOut]()
    for function in functions:
        try:
            list(sources.all_of(function))
        except LeftOut as left:
            found[function.name] = left
    return found


def function_files(
    source_files: FileReader, policy: Policy, kept_in: str
) -> Callable[[Function], Mapping[str, str] | str]:
    """Return what finds the files of a function: where each is, by the URI that it names, or why it is left out.

    It raises Unexplained.
    """
    sources = FunctionSources(source_files, policy, kept_in=lambda: kept_in)

    def find(function: Function) -> Mapping[str, str] | str:
        try:
            return {uri: found.path for uri, found in sources.all_of(function)}
        except UnexplainedLeftOut as left:
            raise _unlooked(function, left) from left
        except LeftOut as left:
            return f"{left.words.what}; next: {left.words.next_step}"

    return find


def _unlooked(function: Function, error: UnexplainedLeftOut) -> Refused:
    """Return what is said of a function that would be missing wherever the dump is loaded."""
    return refused_as(
        error,
        error.what,
        found=error.found,
        expected=error.expected,
        next_step="see the message and the file system's log; to leave the function out, take the directory of its "
        "file out of options.function_directories " + ONLY_IN_A_POLICY_FILE,
    )
