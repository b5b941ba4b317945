"""Share one sandbox and one Airflow over the whole run; say the seconds of each group."""

import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import Sandbox

TESTS = Path(__file__).parent
_seconds: dict[str, float] = defaultdict(float)
_EXIT_STATUS = pytest.StashKey[int]()


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """Give two fresh clusters of the instance TWINHIVE_SANDBOX (default: test).

    TWINHIVE_KEEP=1 leaves them running for a look.
    """
    box = Sandbox.open(os.environ.get("TWINHIVE_SANDBOX", "test"))
    if not os.environ.get("TWINHIVE_KEEP"):
        box.reset()
    box.up()
    os.environ.update(box.environment())
    yield box
    if not os.environ.get("TWINHIVE_KEEP"):
        box.down()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the fast groups first, and those that need no cluster before there is one."""
    order = ["unit", "dags", "contracts", "integration", "scenarios"]
    items.sort(key=lambda item: order.index(_group(item.path)))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up what set-up, call and tear-down of a group's tests take."""
    _seconds[_group(Path(report.fspath))] += report.duration


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Remember how the run ended."""
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
    """Print the sums."""
    sums = ", ".join(f"{group} {seconds:.0f} s" for group, seconds in _seconds.items())
    terminalreporter.write_line(f"seconds per group: {sums}")


def _group(path: Path) -> str:
    path = path if path.is_absolute() else TESTS.parent / path
    return path.relative_to(TESTS).parts[0]
