import json

import pytest

from twinhive.core.model.errors import ActNow
from twinhive.core.model.printable import printable, printable_json

OBEYED = "\x1b]0;owned\x07\x9b31m\r\x08\u202e\u2066\u2028\x00\ud83d"


def test_what_a_terminal_would_obey_is_written_out() -> None:
    text = printable(f"a{OBEYED}b\n\tc é 日 \U0001f600")
    assert text == (r"a\x1b]0;owned\x07\x9b31m\r\x08\u202e\u2066\u2028\x00\ud83db" + "\n\tc é 日 \U0001f600")


def test_a_document_means_the_same() -> None:
    document = json.dumps({"table": OBEYED}, ensure_ascii=False)
    assert json.loads(printable_json(document)) == {"table": OBEYED}
    assert printable_json(document).isprintable()


@pytest.mark.parametrize("field", ["what", "found", "expected", "next_step"])
def test_an_error_is_printed_so(field: str) -> None:
    fields = {"what": "it is wrong", field: f"table {OBEYED}"}
    error = ActNow(fields.pop("what"), **fields)
    assert "".join(str(error).split("\n")).isprintable()
