"""Describe what REPL DUMP leaves: a directory that holds one dump, which any number of replicas may load.

<root>/<database>/_loaders/    a note of each replica that loads dumps of this database
<root>/<database>/<token>/
  repl.json                    what was dumped, from which cluster; written last: without it there is no dump
  consolidate-<begin>-<end>/   a whole database at event `end`, or
  incremental-<from>-<to>/     the events after `from`, up to and with `to`
"""

import json
from dataclasses import asdict, dataclass

from twinhive.domain.errors import ActNow, Missing
from twinhive.domain.external import COPY
from twinhive.domain.files import join
from twinhive.dump.layout import DumpLayout
from twinhive.dump.store import Dump, open_dump, read_json
from twinhive.ports import FileReader, FileWriter

FORMAT_VERSION = 1


@dataclass(frozen=True)
class SealedDump:
    """One statement's dump.

    statement   the statement in its canonical form
    cluster     the source cluster's name in `clusters.yaml`
    dump        the name of the dump's own directory
    last_event  the event that a replica is at when it has loaded this
    made_at     epoch seconds
    external_*  what the dump says of external tables; base '' leaves their base directory to the load
    """

    statement: str
    cluster: str
    database: str
    dump: str
    last_event: int
    made_at: int
    external_included: bool = True
    external_data: str = COPY
    external_base: str = ""

    def to_json(self) -> bytes:
        """Write the description as readable JSON."""
        return json.dumps({"format": FORMAT_VERSION, **asdict(self)}, indent=1, ensure_ascii=False).encode()

    @classmethod
    def from_json(cls, content: bytes, directory: str) -> "SealedDump":
        """Read a description; raises ActNow for one that this version does not know."""
        try:
            fields = json.loads(content)
            if fields.pop("format") != FORMAT_VERSION:
                raise ValueError("another format")
            return cls(**fields)
        except (ValueError, KeyError, TypeError) as error:
            raise ActNow(
                f"the dump {directory} was not written by this version of twinhive",
                found=f"repl.json: {error}",
                expected=f"a description of format {FORMAT_VERSION}",
                next_step='dump again with this version: twinhive sql "REPL DUMP ..."',
            ) from error


def description_path(directory: str) -> str:
    """Return where a dump's description lies."""
    return join(directory, "repl.json")


def seal(files: FileWriter, directory: str, sealed: SealedDump) -> None:
    """Finish a dump: from now on it can be loaded, and it never changes."""
    files.write(description_path(directory), sealed.to_json())


def open_sealed(files: FileReader, directory: str) -> tuple[SealedDump, Dump]:
    """Read a finished dump. Raises Missing for a directory that holds none, ActNow for one of another version."""
    try:
        sealed = SealedDump.from_json(files.read(description_path(directory)), directory)
    except Missing as error:
        raise _not_finished(files, directory) from error
    try:
        return sealed, open_dump(files, DumpLayout(join(directory, sealed.dump)))
    except Missing as error:
        raise Missing(
            f"the dump {directory} is not whole",
            found=f"no {sealed.dump}/dump.json in it",
            expected="the dump that repl.json names",
            next_step=f"dump again: twinhive sql '{sealed.statement}'",
        ) from error


def newest_sealed(files: FileReader, dumps: str) -> str | None:
    """Return the directory of the newest finished dump of a database, None without one."""
    ((_, children),) = files.list_directories([dumps])
    found = [(child.path, read_json(files, description_path(child.path))) for child in children or ()]
    finished = [(said["made_at"], path) for path, said in found if said is not None]
    return max(finished)[1] if finished else None


def _not_finished(files: FileReader, directory: str) -> Missing:
    there = files.status(directory)
    found = "no such directory" if there is None else "a file"
    return Missing(
        f"there is no finished dump in {directory}",
        found="a dump that was never finished" if there is not None and there.is_directory else found,
        expected="the directory that REPL DUMP returned, with repl.json in it",
        next_step="give the directory that REPL DUMP returned; if that was cut off, run it again",
    )
