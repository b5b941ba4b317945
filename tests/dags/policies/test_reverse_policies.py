"""The policy of the opposite direction is made from the policy's own file, and nobody's until it is used."""

import json

import pytest

from tests.dags.airflow_home import parse_dags
from tests.dags.policies.test_broken_policies import assert_red, ids_of
from tests.support.policies import PolicyFiles
from twinhive.core.model.errors import Foreign, TwinhiveError, Unreachable
from twinhive.operations.monitoring.lag import PolicyLag
from twinhive.runtime.settings import load_configuration
from twinhive.runtime.settings.policies import PolicySettings
from twinhive.runtime.wiring import lag_wiring
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.airflow.connections.airflow_connections import resolve_from_airflow


@pytest.fixture
def reversed_policies(policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch) -> PolicyFiles:
    for cluster in ("east", "west"):
        hdfs = {"conn_type": "hdfs", "extra": {"uri": f"hdfs://{cluster}"}}
        monkeypatch.setenv(f"AIRFLOW_CONN_{cluster.upper()}_HDFS", json.dumps(hdfs))
    policies.add(
        "sales",
        failover={"reverse": {"staging_root": "/back/staging"}, "fence": ["quota"]},
        external_tables={"base_directory": "hdfs://west/ext", "stay": ["s3a://lake/.*"]},
    )
    return policies


def test_it_is_the_same_policy_the_other_way_round(reversed_policies: PolicyFiles) -> None:
    configuration = load_configuration(reversed_policies.directory)
    there, back = configuration.policy("sales"), configuration.policy("sales_back")
    assert (there.reverse_of, back.reverse_of) == (None, "sales")
    assert (back.usable().source, back.usable().replica) == (there.usable().replica, there.usable().source)
    assert back.usable().failover.reverse is None
    policy = Wiring.of(configuration, "sales_back", resolve_from_airflow).policy
    assert policy.dumps == "hdfs://west/twinhive/dumps/sales_back"
    assert policy.staging == "hdfs://east/back/staging/sales_back"
    assert policy.fence.rungs == ("quota",)
    assert policy.external.place("hdfs://west/ext/data/t", "t") == "hdfs://east/data/t"
    assert policy.external.place("hdfs://west/made/t", "t") == "hdfs://east/made/t"
    assert policy.external.place("s3a://lake/t", "t") == "s3a://lake/t"
    assert policy.external.origins("hdfs://east/x") == ("hdfs://west/x", "hdfs://west/ext/x")
    assert (
        policy.external.undone_mark == Wiring.of(configuration, "sales", resolve_from_airflow).policy.external.base_mark
    )
    # It would be read from a file as it is.
    assert PolicySettings.model_validate(back.usable().model_dump()) == back.usable()


def test_without_being_asked_for_there_is_none(policies: PolicyFiles) -> None:
    policies.add("sales")
    assert set(load_configuration(policies.directory).policies) == {"sales"}


def test_a_file_of_its_name_is_not_replaced(reversed_policies: PolicyFiles) -> None:
    reversed_policies.add("sales_back", replica={"cluster": "west", "database": "other"})
    entry = load_configuration(reversed_policies.directory).policy("sales_back")
    assert entry.error is not None and "several policies have the same name sales_back" in entry.error


def test_nobody_watches_it_until_it_is_used(reversed_policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    configuration = load_configuration(reversed_policies.directory)
    said: dict[str, TwinhiveError | None] = {"sales": None, "sales_back": Foreign("the database is nobody's")}
    monkeypatch.setattr(lag_wiring, "start_clients", lambda opened: None)
    monkeypatch.setattr(Wiring, "write_ports", lambda wiring: None)
    monkeypatch.setattr(
        lag_wiring,
        "measure",
        lambda followers, *_: [PolicyLag(one.policy.name, 1.0, error=said[one.policy.name]) for one in followers],
    )

    def watched() -> list[str]:
        return [one.policy for one in lag_wiring.measure_policies(configuration, resolve_from_airflow)]

    assert watched() == ["sales"]
    said["sales_back"] = Unreachable("no answer")
    assert watched() == ["sales", "sales_back"]
    said |= {"sales_back": None, "sales": Foreign("somebody else's")}
    assert watched() == ["sales", "sales_back"]


def test_each_replica_of_one_source_has_the_dags_of_its_way_back(policies: PolicyFiles) -> None:
    policies.add("sales", failover={"reverse": {}})
    policies.write(
        "policies/sales_n.yaml",
        {
            "policy": "sales_n",
            "source": {"cluster": "east", "database": "sales"},
            "replica": {"cluster": "west", "database": "sales_n"},
            "failover": {"reverse": {}},
        },
    )
    dags = parse_dags(policies.directory)
    assert set(dags) == ids_of("sales", "sales_back", "sales_n", "sales_n_back")
    assert not any("invalid" in dag.tags for dag in dags.values())
    assert dags["sales_back.incremental"].is_paused_upon_creation
    assert dags["sales_n_back.incremental"].is_paused_upon_creation


def test_where_the_file_is_wrong_both_directions_say_so(policies: PolicyFiles) -> None:
    policies.add("sales", failover={"reverse": {}, "fence": ["command"], "close_command": ["stop", "east"]})
    dags = parse_dags(policies.directory)
    for policy in ("sales", "sales_back"):
        assert_red(dags, policy, "sales.yaml cannot be used", "failover.reverse.close_command: found none")


def test_a_way_back_has_no_base_directory_of_its_own(policies: PolicyFiles) -> None:
    policies.add("sales", external_tables={"base_directory": "hdfs://west/ext", "return_from": "hdfs://east/ext"})
    entry = load_configuration(policies.directory).policy("sales")
    assert entry.error is not None and "exclude each other" in entry.error


def test_the_new_key_leaves_the_dumps_of_others_as_they_are(policies: PolicyFiles) -> None:
    policies.add("sales", external_tables={"base_directory": "hdfs://west/ext"})
    said = load_configuration(policies.directory).policy("sales").usable()
    assert "return_from" not in str(said.fingerprint)
    back = said.model_copy(update={"external_tables": said.external_tables.model_copy(update={"return_from": "x"})})
    assert said.fingerprint != back.fingerprint
