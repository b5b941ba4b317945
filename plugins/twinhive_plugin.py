"""Register Twinhive with Airflow. The package itself is behind .airflowignore and is imported by name."""

from typing import Any

from airflow.plugins_manager import AirflowPlugin


class TwinhivePlugin(AirflowPlugin):
    """Add the page 'Replication' to Airflow's navigation."""

    name = "twinhive"
    external_views = [  # noqa: RUF012 (Airflow reads lists)
        {
            "name": "Replication",
            # Relative, so that Airflow may be mounted anywhere.
            "href": "replication/",
            "url_route": "replication",
            "destination": "nav",
            "nav_top_level": True,
        }
    ]

    @property
    def fastapi_apps(self) -> list[dict[str, Any]]:  # type: ignore[override]  # asked for late
        """Return the page; only the API server asks, and only it pays a second for the import."""
        from twinhive.page.app import app
        from twinhive.page.links import PREFIX

        return [{"app": app, "url_prefix": PREFIX, "name": "Replication"}]
