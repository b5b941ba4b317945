"""Set up Airflow before the tests here import it, and give each test a configuration of its own."""

from pathlib import Path

import pytest

from tests.dags.airflow_home import use_own_airflow
from tests.policies import PolicyFiles

use_own_airflow()


@pytest.fixture
def policies(tmp_path: Path) -> PolicyFiles:
    """Return a configuration directory of the test's own."""
    return PolicyFiles(tmp_path / "config")
