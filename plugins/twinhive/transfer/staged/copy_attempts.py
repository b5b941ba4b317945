"""Find out whether a copy of a batch may find anything staged: on its first try it need not look.

The staged copies of a policy are many, and to ask for each file whether it is there costs a call for each. So a copy
writes down that it has begun, beside its result; and the first one of a dump, whether staging had nothing before it.
"""

from dataclasses import dataclass

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.files import join, parent
from twinhive.core.ports import FileReader, FileWriter
from twinhive.transfer.staged.staged_files import base_directory

_NOTHING_BEFORE = "_nothing_before"
_BEGUN = ".begun"


@dataclass(frozen=True)
class Tries:
    """The tries of one batch: staging, and where its result goes, in a directory of its dump."""

    staged: FileReader
    staging: str
    results: FileWriter
    result: str

    def is_first(self) -> bool:
        """True when nothing of the batch can be staged, neither by an earlier try nor by another dump; remembers it.

        False where that cannot be found out: the copy itself says of each file what is wrong.
        """
        begun = self.result + _BEGUN
        try:
            if self.results.status(begun) is not None:
                return False
            had_nothing = self._had_nothing()
            self.results.write(begun, b"")
        except TwinhiveError:
            return False
        return had_nothing

    def _had_nothing(self) -> bool:
        mark = join(parent(self.result), _NOTHING_BEFORE)
        if self.results.status(mark) is not None:
            return True
        if self.staged.status(base_directory(self.staging)) is not None:
            return False
        self.results.write(mark, b"")
        return True
