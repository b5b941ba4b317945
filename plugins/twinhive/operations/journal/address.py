"""Where the journal is: an address of its own, because Airflow hides its metadata database from tasks."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote

from twinhive.core.model.errors import InvalidSettings

VARIABLE = "TWINHIVE_JOURNAL"
_CONNECTION = "airflow://"
_FILE = "sqlite:"

AddressOf = Callable[[str], str]
_of_connections: list[AddressOf] = []


def find_connections_with(address_of: AddressOf) -> None:
    """Let addresses `airflow://<connection>` be looked up from now on: by Airflow's edge, and its page."""
    _of_connections[:] = [address_of]


def journal_address(environment: Mapping[str, str] | None = None) -> str:
    """Return what names the journal: `TWINHIVE_JOURNAL`, else a file beside Airflow's own.

    `airflow://<connection>` names a connection, so that its password is in no environment: see `resolved`.
    """
    environment = os.environ if environment is None else environment
    home = Path(environment.get("AIRFLOW_HOME") or "~/airflow").expanduser()
    return environment.get(VARIABLE) or f"{_FILE}///{home / 'twinhive-journal.db'}"


def resolved(address: str) -> str:
    """Return the SQLAlchemy URL of an address. Raises InvalidSettings for a connection that cannot be used."""
    connection_id = address.removeprefix(_CONNECTION)
    if connection_id == address:
        return address
    if not _of_connections:
        raise InvalidSettings(
            f"the journal cannot be opened ({VARIABLE})",
            found=f"{address}, where nobody asks Airflow",
            expected="a task, or the page, of Airflow",
            next_step=f"set {VARIABLE} to an address such as postgresql+psycopg2://user@host/database",
        )
    return _of_connections[0](connection_id)


def is_shared(address: str) -> bool:
    """False for a file, which tasks on other machines do not see."""
    return not address.startswith(_FILE)


def postgresql_address(host: str, port: int | None, database: str, login: str | None, password: str | None) -> str:
    """Return the address of a PostgreSQL database."""
    who = quote(login or "", safe="") + (f":{quote(password, safe='')}" if password else "")
    return f"postgresql+psycopg2://{f'{who}@' if who else ''}{host}:{port or 5432}/{quote(database, safe='')}"
