"""A dump for Hive leaves no function out for an answer that nobody knows: it would be missing wherever it is loaded."""

from typing import Any

import pytest

from tests.unit.statements.interop.hive_world import HiveWorld
from twinhive.core.model.errors import Unexplained

JAR = "hdfs://east/jars/a.jar"


@pytest.mark.parametrize("call", ["status", "checksum"])
def test_the_dump_fails_and_says_how_to_do_without_it(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hive = HiveWorld()
    hive.users.files.write(JAR, b"jar")
    hive.users.create_function("shout", [JAR])
    asked = getattr(hive.files, call)

    def oddly(path: str, *given: Any) -> Any:
        if path == JAR:
            raise Unexplained(f"{path}: refused", found="RemoteException: Odd")
        return asked(path, *given)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(hive.files, call, oddly)
        with pytest.raises(Unexplained, match=r"(?s)a\.jar could not be looked at.*options\.function_directories"):
            hive.for_hive()
    hive.for_hive()
    assert hive.left_out == ()
