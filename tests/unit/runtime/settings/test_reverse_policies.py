"""The policy of the opposite direction says by itself what names a side, and is in nobody's way until it is used."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.policies import PolicyFiles
from twinhive.core.model.errors import InvalidSettings
from twinhive.runtime.settings import Configuration, load_configuration

STOP, START = "/opt/stop-hiveserver2", "/opt/start-hiveserver2"
OURS = {"fence": ["command", "quota"], "close_command": [STOP, "east"], "open_command": [START, "east"]}
THEIRS = {"close_command": [STOP, "west"], "open_command": [START, "west"]}


@pytest.fixture
def policies(tmp_path: Path) -> PolicyFiles:
    files = PolicyFiles(tmp_path / "conf")
    cluster = {
        "metastore": {"connection": "metastore"},
        "file_system": {"connection": "hdfs"},
        "job_tracker": {"connection": "spark"},
    }
    files.write("clusters.yaml", {"clusters": dict.fromkeys(("east", "west", "north"), cluster)})
    return files


def loaded(policies: PolicyFiles, **failover: Any) -> Configuration:
    policies.add("sales", failover=failover)
    return load_configuration(policies.directory)


def test_the_command_of_one_side_is_never_run_for_the_other(policies: PolicyFiles) -> None:
    configuration = loaded(policies, **OURS, reverse=THEIRS)
    there, back = (configuration.policy(name).usable().failover for name in ("sales", "sales_back"))
    assert (there.close_command, there.open_command) == ((STOP, "east"), (START, "east"))
    assert (back.close_command, back.open_command) == ((STOP, "west"), (START, "west"))
    assert back.rules.rungs == there.rules.rungs == ("command", "quota")


def test_a_way_back_without_a_command_of_its_own_is_refused(policies: PolicyFiles) -> None:
    configuration = loaded(policies, **OURS, reverse={})
    for name in ("sales", "sales_back"):
        with pytest.raises(InvalidSettings) as raised:
            configuration.policy(name).usable()
        said = str(raised.value)
        assert "failover.reverse.close_command: found none, expected the words of the command that keeps" in said
        assert "from west" in said and "correct sales.yaml" in said
    # What it says is enough.
    assert loaded(policies, **OURS, reverse={"close_command": [STOP, "west"]}).policy("sales_back").usable()


def test_a_command_that_nothing_runs_is_refused(policies: PolicyFiles) -> None:
    error = loaded(policies, fence=["quota"], reverse=THEIRS).policy("sales").error
    assert error is not None and "failover.fence: found no 'command', expected it, as failover.reverse has" in error


@pytest.mark.parametrize("failover", [{"reverse": {}}, {"fence": ["quota"], "reverse": {}}])
def test_without_a_command_nothing_has_to_be_said(policies: PolicyFiles, failover: dict[str, Any]) -> None:
    assert loaded(policies, **failover).policy("sales_back").usable().failover.rules.close == ()


def test_several_replicas_of_one_source_have_a_way_back_each(policies: PolicyFiles) -> None:
    policies.add("sales", failover={"reverse": {}})
    policies.write(
        "policies/sales_n.yaml",
        {
            "policy": "sales_n",
            "source": {"cluster": "east", "database": "sales"},
            "replica": {"cluster": "north", "database": "sales"},
            "failover": {"reverse": {}},
        },
    )
    configuration = load_configuration(policies.directory)
    assert {name: entry.error for name, entry in configuration.policies.items()} == dict.fromkeys(
        ("sales", "sales_back", "sales_n", "sales_n_back")
    )
    ways = [configuration.policy(name).usable() for name in ("sales_back", "sales_n_back")]
    assert {str(way.replica.cluster) for way in ways} == {"east"}
    assert {str(way.source.cluster) for way in ways} == {"west", "north"}


def test_policies_that_write_one_database_still_exclude_each_other(policies: PolicyFiles) -> None:
    policies.add("sales", failover={"reverse": {}})
    policies.add("stock", replica="sales", failover={"reverse": {}})
    configuration = load_configuration(policies.directory)
    for name in ("sales", "stock"):
        assert "the same replica database west/sales" in (configuration.policy(name).error or "")
