"""The page 'Replication' in a running Airflow: only for those who are signed in, and in its navigation."""

import httpx
import pytest

from sandbox.plain_http import NO_TLS
from tests.integration.airflow_fixtures import FIRST, RunningAirflow

pytestmark = [pytest.mark.sandbox, pytest.mark.airflow]


def get(airflow: RunningAirflow, path: str, **headers: str) -> httpx.Response:
    """Ask the running Airflow for a page."""
    return httpx.get(f"{airflow.api.url}{path}", headers=headers, timeout=30, verify=NO_TLS)


@pytest.fixture
def token(airflow: RunningAirflow) -> str:
    """What Airflow gives to a user who signs in."""
    credentials = {"username": airflow.api.username, "password": airflow.api.password}
    answer = httpx.post(f"{airflow.api.url}/auth/token", json=credentials, timeout=30, verify=NO_TLS)
    return str(answer.raise_for_status().json()["access_token"])


@pytest.mark.parametrize("path", ["/", f"/policies/{FIRST}", "/static/page.css", "/docs", "/openapi.json"])
def test_the_anonymous_see_nothing(airflow: RunningAirflow, path: str) -> None:
    assert get(airflow, f"/replication{path}").status_code == 401


def test_a_user_sees_the_policies_with_the_cookie_of_the_pages_and_with_a_token(
    airflow: RunningAirflow, token: str
) -> None:
    for headers in ({"Cookie": f"_token={token}"}, {"Authorization": f"Bearer {token}"}):
        answer = get(airflow, "/replication/", **headers)
        assert answer.status_code == 200
        assert f'href="/replication/policies/{FIRST}"' in answer.text


def test_a_policy_shows_its_dags_with_links_to_them(airflow: RunningAirflow, token: str) -> None:
    html = get(airflow, f"/replication/policies/{FIRST}", Authorization=f"Bearer {token}").text
    for phase in ("bootstrap", "consolidate", "incremental", "external", "scan", "verify", "operate", "give_up"):
        assert f'href="/dags/{FIRST}.{phase}" target="_top"' in html


def test_the_page_is_in_the_navigation_and_nothing_failed_to_load(airflow: RunningAirflow, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    plugins = get(airflow, "/api/v2/plugins", **headers).json()["plugins"]
    views = [view for plugin in plugins if plugin["name"] == "twinhive" for view in plugin["external_views"]]
    assert [(view["name"], view["href"], view["destination"]) for view in views] == [
        ("Replication", "replication/", "nav")
    ]
    assert get(airflow, "/api/v2/plugins/importErrors", **headers).json()["import_errors"] == []
    assert airflow.api.import_errors() == {}
