"""The example of docs/connectors.md, installed as a package and asked like a metastore."""

import asyncio
import re
import sys
from pathlib import Path

import pytest

from tests.bad_input.connector_cases import connectors
from twinhive.federation.connectors.registry import connector_name, offered
from twinhive.federation.gateway.struct_edits import error_text
from twinhive.hive.wire.stream_reader import MessageReader
from twinhive.hive.wire.thrift_message import STOP, call, struct_field, text_field

PAGE = Path(__file__).parents[4] / "docs" / "connectors.md"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install what the page shows, in a directory that Python looks for packages in."""
    text = PAGE.read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    (point,) = re.findall(r'^csv = "(.*)"$', text, re.MULTILINE)
    assert code is not None
    (tmp_path / f"{point.partition(':')[0]}.py").write_text(code[1], encoding="utf-8")
    about = tmp_path / "csv_directory-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: csv-directory\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[twinhive.connectors]\ncsv = {point}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    offered.cache_clear()
    yield tmp_path
    offered.cache_clear()
    sys.modules.pop("csv_directory", None)


def test_the_example_has_thirty_lines() -> None:
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None and len(code[1].splitlines()) <= 32, "blank ones before classes count"
    assert len([line for line in code[1].splitlines() if line.strip()]) <= 30


def test_the_example_answers(installed: Path) -> None:
    (installed / "data" / "planes").mkdir(parents=True)
    (installed / "data" / "planes" / "1.csv").write_text("tail,year\nN1,2001\n")
    (installed / "elsewhere").mkdir()
    (installed / "elsewhere" / "1.csv").write_text("secret\n")
    asked = text_field(1, "files") + text_field(2, "planes") + STOP
    above = text_field(1, "files") + text_field(2, "../elsewhere") + STOP

    async def ask() -> tuple[bytes, bytes]:
        there = connectors()
        assert there.of("csv_directory:CsvDirectory") is there.of("csv")
        properties = {"csv.directory": str(installed / "data")}
        assert there.of("csv").place(properties).addresses == (f"csv:{installed}/data",)
        link = await there.of("csv").open(properties)
        messages = MessageReader(link)
        link.write(call("get_all_tables", 1, text_field(1, "files") + STOP).raw)
        names = await messages.read()
        link.write(call("get_table_req", 2, struct_field(1, asked) + STOP).raw)
        table = await messages.read()
        link.write(call("get_table_req", 3, struct_field(1, above) + STOP).raw)
        nothing = await messages.read()
        link.close()
        assert nothing is not None and b"secret" not in nothing.body and error_text(nothing) is not None
        await there.close()
        assert names is not None and table is not None
        return names.body, table.body

    names, table = asyncio.run(ask())
    assert b"planes" in names
    assert all(
        part in table for part in (b"tail", b"year", b"OpenCSVSerde", f"file://{installed}/data/planes".encode())
    )


def test_its_name_is_that_of_the_entry_point(installed: Path) -> None:
    assert connector_name("csv") == connector_name("csv_directory:CsvDirectory") == "csv"
