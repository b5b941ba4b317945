"""A connection that Airflow cannot decrypt is an error of its own, and takes no other out of sight."""

from typing import Any

import pytest

from twinhive.core.model.errors import InvalidSettings
from twinhive.surfaces.airflow.connections.airflow_connections import as_airflow_has_it


class Sealed:
    conn_type, host, port, login = "hive_metastore", "m1", 9083, "hive"

    def __init__(self, sealed: str) -> None:
        self._sealed = sealed

    def __getattr__(self, name: str) -> Any:
        if name == self._sealed:
            raise LookupError("another key: secret")
        return {} if name == "extra_dejson" else None


@pytest.mark.parametrize("sealed", ["password", "extra_dejson"])
def test_what_cannot_be_decrypted_is_said_without_what_it_holds(sealed: str) -> None:
    with pytest.raises(InvalidSettings, match="connection east cannot be read") as told:
        as_airflow_has_it("east", Sealed(sealed))
    assert "FERNET_KEY" in str(told.value) and "secret" not in str(told.value)


def test_one_that_can_be_read_is_read() -> None:
    assert as_airflow_has_it("east", Sealed("nothing")).host == "m1"
