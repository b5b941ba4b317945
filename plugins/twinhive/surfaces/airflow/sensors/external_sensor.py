"""Let other DAGs wait until a replica's external tables hold what was written at the source."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from airflow.sdk import BaseSensorOperator, timezone

from twinhive.core.model.errors import InvalidSettings
from twinhive.replication.external_tables.sync_status import why_not_in_sync
from twinhive.runtime.settings import load_configuration
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.airflow.config_directory import config_directory
from twinhive.surfaces.airflow.connections.airflow_connections import resolve_from_airflow
from twinhive.surfaces.airflow.monitor.task_failures import RETRY_RULES, as_airflow_failures


class ExternalTablesInSync(BaseSensorOperator):
    """Wait until the external tables of a policy, or one of them, hold all that was there at a point in time.

    Files of external tables come and go without an event, so the replica's position says nothing of them. This says:
    each directory was copied completely by a sync that began after that time, and nothing waits for its data.

        written = BashOperator(task_id="write", ...)    # puts files into the table's directory at the source
        there = ExternalTablesInSync(task_id="there", policy="sales", table="clicks")
        written >> there >> report_on_the_replica

    policy   a policy's name
    table    a table of the source; None: all external tables of the policy
    since    a time, or a template of one (ISO 8601, UTC without a zone); None: when this sensor was started first, so
             that whatever the tasks before it have written counts
    config   directory of clusters.yaml and policies/; None: $TWINHIVE_CONFIG, else the DAG folder

    It looks every minute, and takes no worker in between. It reads files that the copies have left and the position of
    the replica, nothing of the source's tables. The log says what is missing.
    """

    template_fields: Sequence[str] = ("policy", "table", "since")
    ui_color = "#e6f4ea"

    def __init__(
        self,
        *,
        policy: str,
        table: str | None = None,
        since: datetime | str | None = None,
        config: str | None = None,
        mode: str = "reschedule",
        **kwargs: Any,
    ) -> None:
        super().__init__(mode=mode, **{"retry_policy": RETRY_RULES, **kwargs})
        self.policy = policy
        self.table = table
        self.since = since
        self.config = config

    def poke(self, context: Any) -> bool:
        """Look once."""
        with as_airflow_failures():
            configuration = load_configuration(config_directory(self.config))
            wiring = Wiring.of(configuration, self.policy, resolve_from_airflow)
            missing = why_not_in_sync(wiring.read_ports(), wiring.policy, self._since(context).timestamp(), self.table)
        if missing:
            self.log.info(missing)
        return missing is None

    def _since(self, context: Any) -> datetime:
        if self.since is None:
            instance = context["ti"]
            first: datetime = instance.get_first_reschedule_date(context) or instance.start_date
            return first
        if isinstance(self.since, datetime):
            return self.since
        try:
            return timezone.parse(self.since)
        except ValueError as error:
            raise InvalidSettings(
                f"since of {self.task_id} is no time",
                found=self.since,
                expected="ISO 8601, such as 2030-05-17T12:00:00+02:00",
                next_step="correct the DAG, then clear this task",
            ) from error
