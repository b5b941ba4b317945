"""Let Airflow's own `MessageQueueTrigger` know the scheme `stomp`."""

from airflow.providers.common.messaging.providers.base_provider import BaseMessageQueueProvider
from airflow.triggers.base import BaseEventTrigger

from twinhive.surfaces.airflow.triggers.message_trigger import StompTrigger


class StompQueueProvider(BaseMessageQueueProvider):
    """Topics of a broker that speaks STOMP: `MessageQueueTrigger(scheme="stomp", connection=..., topics=[...])`."""

    scheme = "stomp"

    def trigger_class(self) -> type[BaseEventTrigger]:
        """Return what listens."""
        return StompTrigger
