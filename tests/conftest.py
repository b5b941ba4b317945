"""Share one sandbox and one Airflow over the whole run; say its seeds, and where its time went."""

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from sandbox import Sandbox
from tests.lanes import OPTION, Lane, lane_of
from tests.slowest import Spent
from tests.support import seeds

TESTS = Path(__file__).parent
_spent = Spent()
_EXIT_STATUS = pytest.StashKey[int]()

hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """Give two fresh clusters of the instance TWINHIVE_SANDBOX (default: test).

    TWINHIVE_KEEP=1 leaves them running for a look.
    """
    box = Sandbox.open(os.environ.get("TWINHIVE_SANDBOX", "test"))
    if not os.environ.get("TWINHIVE_KEEP"):
        box.reset()
    try:
        box.up()
        os.environ.update(box.environment())
        yield box
    finally:
        if not os.environ.get("TWINHIVE_KEEP"):
            box.down()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that selects a lane."""
    parser.addoption(OPTION, choices=list(Lane), help="only the tests of one of the lanes that run at the same time")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the fast groups first, and those that need no cluster before there is one; last what needs Airflow, which is
    never quite idle."""
    if lane := config.getoption(OPTION):
        others = [item for item in items if lane_of(_group(item.path), item) != lane]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if lane_of(_group(item.path), item) == lane]
    order = ["unit", "dags", "contracts", "integration", "scenarios"]
    items.sort(key=lambda item: (item.get_closest_marker("airflow") is not None, order.index(_group(item.path))))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Say at once which histories are run: a run that is cut off has no end.

    And leave what was collected out of Python's search for garbage, which took a part of the time of small tests.
    """
    gc.collect()
    gc.freeze()
    if terminal := session.config.pluginmanager.get_plugin("terminalreporter"):
        terminal.write_line(seeds.said())


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up what set-up, call and tear-down of tests take."""
    _spent.add(_group(Path(report.fspath)), report.nodeid, report.duration)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Remember how a run ended."""
    session.config.stash[_EXIT_STATUS] = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave at once when Java runs in this process: what it does at the end must not change the exit code."""
    jpype = sys.modules.get("jpype")
    if jpype is not None and jpype.isJVMStarted() and _EXIT_STATUS in config.stash:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(config.stash[_EXIT_STATUS])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what took the time, and the seeds."""
    for line in (*_spent.lines(), seeds.said()):
        terminalreporter.write_line(line)


def _group(path: Path) -> str:
    path = path if path.is_absolute() else TESTS.parent / path
    return path.relative_to(TESTS).parts[0]
