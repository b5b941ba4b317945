"""Find out whether a copy of a batch may find anything staged: on its first try it need not look.

The staged copies of a policy are many, and to ask for each file whether it is there costs a call for each. So a copy
writes down that it has begun, beside its result; and the first one of a dump, whether staging had nothing before it.
"""

from twinhive.copying.staged import base_directory
from twinhive.domain.files import join, parent
from twinhive.ports import FileWriter

_NOTHING_BEFORE = "_nothing_before"
_BEGUN = ".begun"


def is_first_try(target: FileWriter, staging: str, result: str) -> bool:
    """True when nothing of the batch can be staged, neither by an earlier try nor by another dump; remembers it.

    `result` is where the result of this batch goes, in a directory of its dump. Staging is on `target`.
    """
    begun = result + _BEGUN
    if target.status(begun) is not None:
        return False
    had_nothing = _had_nothing(target, staging, join(parent(result), _NOTHING_BEFORE))
    target.write(begun, b"")
    return had_nothing


def _had_nothing(target: FileWriter, staging: str, mark: str) -> bool:
    if target.status(mark) is not None:
        return True
    if target.status(base_directory(staging)) is not None:
        return False
    target.write(mark, b"")
    return True
