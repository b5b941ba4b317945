"""Register Twinhive with Airflow. The package itself is behind .airflowignore and is imported by name."""

from airflow.plugins_manager import AirflowPlugin


class TwinhivePlugin(AirflowPlugin):
    """Make Twinhive show up among the installed plugins."""

    name = "twinhive"
