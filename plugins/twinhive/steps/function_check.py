"""Say before a load which functions the replica will do without."""

from twinhive.applying.function_files import FunctionSources, LeftOut
from twinhive.domain.errors import Missing, TryAgain
from twinhive.ports import ReadPorts
from twinhive.steps.base import Work


def report_functions(work: Work, ports: ReadPorts) -> None:
    """Report each function of the source whose files cannot be brought over, and what to do."""
    sources = FunctionSources(ports.source_files, work.policy)
    try:
        for function in ports.source.functions(work.policy.source.database):
            try:
                list(sources.all_of(function))
            except LeftOut as left:
                work.report(f"{left.what}; next: {left.next_step}")
    except (TryAgain, Missing):
        return  # the checks of the clusters say so already
