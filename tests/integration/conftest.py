"""Give integration tests two warehouses and policies over them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox import Sandbox
from tests.policies import PolicyFiles
from tests.warehouse import Warehouse


@pytest.fixture
def east(sandbox: Sandbox) -> Iterator[Warehouse]:
    warehouse = Warehouse(sandbox.clusters["east"])
    yield warehouse
    warehouse.close()


@pytest.fixture
def west(sandbox: Sandbox) -> Iterator[Warehouse]:
    warehouse = Warehouse(sandbox.clusters["west"])
    yield warehouse
    warehouse.close()


@pytest.fixture
def policies(sandbox: Sandbox, tmp_path: Path) -> PolicyFiles:
    """Return a configuration directory of the test's own."""
    return PolicyFiles(tmp_path / "config")


@pytest.fixture
def log() -> list[str]:
    """Collect what steps report."""
    return []


@pytest.fixture
def report(log: list[str]) -> Callable[[str], None]:
    return log.append
