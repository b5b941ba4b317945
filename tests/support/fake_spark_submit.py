"""Stand for spark-submit: a small program that does what a test has told it."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

# Leaves what it was given for the test to see, says and does what the test has told it.
_PROGRAM = """import json, os, shutil, sys, time
home = {home!r}
told = json.load(open(home + "/told.json"))
json.dump(dict(words=sys.argv, mode=os.stat(sys.argv[-1]).st_mode), open(home + "/given.json", "w"))
shutil.copy(sys.argv[-1], home + "/settings.json")
print(told["says"], flush=True)
if told["result"] is not None:
    json.dump(told["result"], open(os.path.dirname(sys.argv[-1]) + "/result.json", "w"))
time.sleep(told["seconds"])
sys.exit(told["code"])
"""


class Submit:
    """Stand for spark-submit."""

    def __init__(self, home: Path) -> None:
        self.home = home
        program = home / "bin" / "spark-submit"
        program.parent.mkdir()
        script = home / "spark_submit.py"
        script.write_text(_PROGRAM.format(home=str(home)))
        # Not the interpreter in the first line: its path may hold a blank.
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(script))} "$@"\n')
        program.chmod(0o755)
        self.tell()

    def tell(self, *, code: int = 0, says: str = "", result: Any = None, seconds: float = 0.0) -> None:
        told = {"code": code, "says": says, "result": result, "seconds": seconds}
        (self.home / "told.json").write_text(json.dumps(told))

    def was_called(self) -> bool:
        return (self.home / "given.json").exists()

    def given(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.home / "given.json").read_text())
        return content

    def settings(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.home / "settings.json").read_text())
        return content
