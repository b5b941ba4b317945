"""Say before a load which functions the replica will do without."""

from collections.abc import Iterable

from twinhive.applying.function_files import FunctionSources, LeftOut
from twinhive.domain.errors import Missing, TryAgain
from twinhive.domain.objects import Function
from twinhive.domain.policy import Policy
from twinhive.ports import FileReader, ReadPorts
from twinhive.steps.base import Work


def report_functions(work: Work, ports: ReadPorts) -> None:
    """Report each function of the source whose files cannot be brought over, and what to do."""
    try:
        functions = ports.source.functions(work.policy.source.database)
        for left in left_out(ports.source_files, work.policy, functions).values():
            work.report(f"{left.what}; next: {left.next_step}")
    except (TryAgain, Missing):
        return  # the checks of the clusters say so already


def left_out(source_files: FileReader, policy: Policy, functions: Iterable[Function]) -> dict[str, LeftOut]:
    """Return the functions, by name, that a load leaves out, with the reasons."""
    sources, found = FunctionSources(source_files, policy), dict[str, LeftOut]()
    for function in functions:
        try:
            list(sources.all_of(function))
        except LeftOut as left:
            found[function.name] = left
    return found
