"""Give scenarios a place between two real clusters."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import Sandbox
from tests.checker.clusters import Clusters
from tests.support.policies import PolicyFiles


@pytest.fixture
def clusters(sandbox: Sandbox, tmp_path: Path) -> Iterator[Clusters]:
    place = Clusters(sandbox, PolicyFiles(tmp_path / "config"))
    yield place
    place.close()
