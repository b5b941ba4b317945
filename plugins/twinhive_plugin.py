"""Register Twinhive with Airflow. The package itself is behind .airflowignore and is imported by name."""

import logging
import sys
from importlib import import_module
from typing import Any

from airflow.plugins_manager import AirflowPlugin

_FORKING = ({"scheduler"}, {"dag-processor"}, {"celery", "worker"})
"""Commands of Airflow whose process forks tasks (the scheduler: those of LocalExecutor), or parses of DAG files."""


class TwinhivePlugin(AirflowPlugin):
    """Add the page 'Replication' to Airflow's navigation; let processes that are forked find our modules loaded."""

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

    @classmethod
    def on_load(cls, *_: Any, **__: Any) -> None:
        """Import once what each task and each parse of a DAG file would import anew, for more than a second.

        Airflow loads plugins before it forks only with `[core] lazy_load_plugins = False`. A mistake in our modules is
        for the DAG file to say: it must not keep Airflow from starting.
        """
        if not any(words <= set(sys.argv[1:3]) for words in _FORKING):
            return
        try:
            import_module("airflow.sdk.execution_time.task_runner")
            import_module("twinhive.surfaces.airflow.dag_factory")
        except Exception:
            logging.getLogger(__name__).exception("Twinhive's modules were not loaded ahead")

    @property
    def fastapi_apps(self) -> list[dict[str, Any]]:  # type: ignore[override]  # asked for late
        """Return the page; only the API server asks, and only it pays a second for the import."""
        from twinhive.surfaces.page.airflow_links import PREFIX
        from twinhive.surfaces.page.page_app import app

        return [{"app": app, "url_prefix": PREFIX, "name": "Replication"}]
