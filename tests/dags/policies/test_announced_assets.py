"""Who announces an asset and who waits for it mean the same one, however the names are typed."""

import pytest
from airflow.sdk import Asset

from twinhive import assets
from twinhive.core.model.names import TableName
from twinhive.runtime.settings import PolicySettings
from twinhive.surfaces.airflow.dags import policy_assets
from twinhive.surfaces.airflow.dags.set_assets import set_asset

POLICY = PolicySettings.model_validate(
    {
        "policy": "Nightly",
        "source": {"cluster": "East", "database": "Shop"},
        "replica": {"cluster": "West", "database": "Sales"},
    }
)


def test_a_consumer_starts_on_what_the_tasks_of_a_policy_announce() -> None:
    assert assets.database("west", "SALES") == policy_assets.replica_asset(POLICY)
    assert assets.table("West", "sales", "Orders") == policy_assets.table_asset(POLICY, "orders")
    assert assets.sets("WEST", "Sales", "orders") == set_asset("West", TableName("sales", "orders"))
    assert assets.verified("west", "sales", "Nightly") == policy_assets.verified_asset(POLICY)


@pytest.mark.parametrize(
    ("asset", "uri"),
    [
        (assets.database("West", "Sales"), "twinhive://west/sales"),
        (assets.table("west", "sales", "Orders"), "twinhive://west/sales/orders"),
        (assets.table("west", "sales", "50%/a?b#c"), "twinhive://west/sales/50%25%2Fa%3Fb%23c"),
        (assets.sets("west", "sales", "Orders"), "twinhive-set://west/sales/orders"),
        (assets.verified("West", "Sales", "Nightly"), "twinhive-verified://west/sales/Nightly"),
    ],
    ids=lambda value: str(getattr(value, "uri", value)),
)
def test_an_asset_is_named_by_its_uri_alone(asset: Asset, uri: str) -> None:
    """Airflow tells assets apart by name and URI: who writes the URI by hand gets the same one."""
    assert asset == Asset(uri)
    assert asset.uri == asset.name == uri
