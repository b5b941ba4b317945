"""For programs that listen to a broker without Airflow, and look whether a set is done. See docs/consumers.md."""

from twinhive.core.model.names import TableName
from twinhive.publishing.messages.listening import LISTENING, listen_on
from twinhive.publishing.sets.done_sets import sets_there
from twinhive.publishing.sets.set_waiting import wanted_set
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.runtime.wiring.message_wiring import MessagesWiring

__all__ = [
    "LISTENING",
    "MessagesWiring",
    "TableName",
    "listen_on",
    "load_configuration",
    "resolve_from_environment",
    "sets_there",
    "wanted_set",
]
