"""Keep a window's dump beside its copies in staging: the source, where dumps lie by default, may be gone tomorrow.

An event that was half applied when its source died can be ended by nobody who does not know what it was to bring.
"""

from collections.abc import Iterator
from dataclasses import replace

from twinhive.core.model.files import join, relative_to
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter, WritePorts, children
from twinhive.replication.dump.dump_layout import DumpKind
from twinhive.replication.dump.dump_store import Dump, dump_of_key, dumps_of, open_dump

DIRECTORY = "windows"
_INSIDE = ("events", "files", "objects", "batches", "plans")


def keep_window(ports: WritePorts, policy: Policy, dump: Dump) -> None:
    """Write a copy of a window's dump into staging, its manifest last; one that is there is left.

    Of a window that is planned again the earlier copy stays until the window's end is applied: it may be half applied.
    Raises DumpReplaced for one that is planned again meanwhile: what was read may be of both.
    """
    kept = replace(dump.layout, directory=join(_place(policy, dump), dump.layout.name))
    files: FileWriter = ports.replica_files
    if files.status(kept.manifest) is not None:
        return
    manifest = ports.dump_files.read(dump.layout.manifest)
    directories = [join(dump.layout.directory, name) for name in _INSIDE]
    for _, found in ports.dump_files.list_directories(directories):
        for one in found or ():
            place = join(kept.directory, relative_to(one.path, dump.layout.directory))
            files.write(place, ports.dump_files.read(one.path))
    dump_of_key(ports.dump_files, policy, dump.key)
    files.write(kept.manifest, manifest)


def kept_windows(files: FileReader, policy: Policy) -> Iterator[tuple[Policy, Dump]]:
    """Yield the windows that staging keeps, by their ends, each with the policy whose dumps it is among."""
    found = []
    for place in children(files, join(policy.staging, DIRECTORY)):
        as_kept = replace(policy, dump_directory=place.path)
        for layout in dumps_of(files, as_kept, DumpKind.INCREMENTAL):
            if files.status(layout.manifest) is not None:
                found.append((as_kept, open_dump(files, layout)))
    yield from sorted(found, key=lambda one: one[1].layout.bounds[::-1])


def _place(policy: Policy, dump: Dump) -> str:
    return join(policy.staging, DIRECTORY, dump.manifest.token[:8])
