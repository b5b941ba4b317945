"""Share one sandbox and one Airflow over the whole run; say the seconds of each group."""

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import Sandbox

TESTS = Path(__file__).parent
_seconds: dict[str, float] = defaultdict(float)


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
    """Run the fast groups first."""
    order = ["unit", "contracts", "dags", "integration", "scenarios"]
    items.sort(key=lambda item: order.index(_group(item.path)))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up what set-up, call and tear-down of a group's tests take."""
    _seconds[_group(Path(report.fspath))] += report.duration


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the sums."""
    sums = ", ".join(f"{group} {seconds:.0f} s" for group, seconds in _seconds.items())
    terminalreporter.write_line(f"seconds per group: {sums}")


def _group(path: Path) -> str:
    path = path if path.is_absolute() else TESTS.parent / path
    return path.relative_to(TESTS).parts[0]
