"""Describe what REPL DUMP leaves: a directory that holds one dump, which any number of replicas may load.

<root>/<database>/_loaders/    a note of each replica that loads dumps of this database
<root>/<database>/<token>/
  repl.json                    what was dumped, from which cluster; written last: without it there is no dump
  consolidate-<begin>-<end>/   a whole database at event `end`, or
  incremental-<from>-<to>/     the events after `from`, up to and with `to`
"""

import json
from dataclasses import asdict, dataclass, replace

from twinhive.core.model.errors import ActNow, Missing, Unexplained
from twinhive.core.model.external.modes import COPY
from twinhive.core.model.files import base_name, join, parent
from twinhive.core.ports import FileReader, FileWriter, children, if_there
from twinhive.replication.dump.dump_layout import DumpKind, DumpLayout
from twinhive.replication.dump.dump_store import Dump, open_dump
from twinhive.replication.dump.json_files import as_json

FORMAT_VERSION = 1
_MOST_NAMED = 5


@dataclass(frozen=True)
class SealedDump:
    """One statement's dump.

    statement   the statement in its canonical form
    cluster     the source cluster's name in `clusters.yaml`
    dump        the name of the dump's own directory
    last_event  the event that a replica is at when it has loaded this
    made_at     epoch seconds
    external_*  what the dump says of external tables; base '' leaves their base directory to the load
    files, length  how many files and bytes the dump's own directory holds: what is gone or cut off is noticed
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
    files: int = 0
    length: int = 0

    def to_json(self) -> bytes:
        """Write the description as readable JSON."""
        return as_json({"format": FORMAT_VERSION, **asdict(self)})

    @classmethod
    def from_json(cls, content: bytes, directory: str) -> "SealedDump":
        """Read a description; raises ActNow for one that this version does not know."""
        try:
            fields = json.loads(content)
            if (said := fields.pop("format")) != FORMAT_VERSION:
                raise ValueError(f"format {said}")
            return cls(**fields)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ActNow(
                f"the dump {directory} was not written by this version of twinhive",
                found=f"repl.json: {error}",
                expected=f"a description of format {FORMAT_VERSION}",
                next_step="load it with the version that wrote it, or dump again with this one",
            ) from error


def description_path(directory: str) -> str:
    """Return where a dump's description lies."""
    return join(directory, "repl.json")


def seal(files: FileWriter, directory: str, sealed: SealedDump) -> None:
    """Finish a dump: from now on it can be loaded, and it never changes."""
    holds = files.usage(join(directory, sealed.dump))
    counted = replace(sealed, files=holds.files, length=holds.length)
    files.write(description_path(directory), counted.to_json())


def open_sealed(files: FileReader, directory: str) -> tuple[SealedDump, Dump]:
    """Read a finished dump. Raises Missing for a directory that holds none, or one that is not whole.

    Raises ActNow for a dump of another version.
    """
    try:
        sealed = SealedDump.from_json(files.read(description_path(directory)), directory)
    except Missing as error:
        raise _not_finished(files, directory) from error
    layout = DumpLayout(join(directory, sealed.dump))
    try:
        dump = open_dump(files, layout)
    except Missing as error:
        raise _not_whole(
            sealed, directory, f"no {sealed.dump}/dump.json in it", "the dump that repl.json names"
        ) from error
    except Unexplained:  # another dump would not help: another try may
        raise
    except ActNow as error:
        raise ActNow(error.what, found=error.found, expected=error.expected, next_step=_again(sealed)) from error
    holds = files.usage(layout.directory)
    if (holds.files, holds.length) != (sealed.files, sealed.length):
        lacks = "".join(f"; no {name}" for name in _lacking(files, dump))
        found = f"{holds.files} files of {holds.length} bytes{lacks}"
        raise _not_whole(sealed, directory, found, f"{sealed.files} files of {sealed.length} bytes")
    return sealed, dump


def newest_sealed(files: FileReader, dumps: str) -> str | None:
    """Return the directory of the newest finished dump of a database, None without one.

    Of those made within one second it is the one that reaches the latest event.

    Raises ActNow for a dump of another version: it may be the newest.
    """
    # Names of ours begin with _: notes of loaders, and dumps that are being removed.
    found = (child.path for child in children(files, dumps) if not base_name(child.path).startswith("_"))
    read = ((_read(files, path), path) for path in found)
    finished = [(sealed.made_at, sealed.last_event, path) for sealed, path in read if sealed is not None]
    return max(finished)[2] if finished else None


def _read(files: FileReader, directory: str) -> SealedDump | None:
    content = if_there(files.read, description_path(directory))
    return None if content is None else SealedDump.from_json(content, directory)


def _lacking(files: FileReader, dump: Dump) -> list[str]:
    """Return the first files that a dump names and does not have."""
    layout, batches = dump.layout, [batch.name for batch in dump.manifest.batches]
    named = [path for batch in batches for path in (layout.files(batch), layout.summary(batch))]
    if dump.manifest.kind is DumpKind.INCREMENTAL:
        named.append(layout.events)
    directories = sorted({parent(path) for path in named})
    there = {child.path for _, found in files.list_directories(directories) for child in found or ()}
    return [path.removeprefix(layout.directory + "/") for path in named if path not in there][:_MOST_NAMED]


def _again(sealed: SealedDump) -> str:
    return f"dump again: {sealed.statement}"


def _not_whole(sealed: SealedDump, directory: str, found: str, expected: str) -> Missing:
    return Missing(f"the dump {directory} is not whole", found=found, expected=expected, next_step=_again(sealed))


def _not_finished(files: FileReader, directory: str) -> Missing:
    there = files.status(directory)
    found = "no such directory" if there is None else "a file"
    return Missing(
        f"there is no finished dump in {directory}",
        found="a dump that was never finished" if there is not None and there.is_directory else found,
        expected="the directory that REPL DUMP returned, with repl.json in it",
        next_step="give the directory that REPL DUMP returned; if that was cut off, run it again",
    )
