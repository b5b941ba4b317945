"""Find settings of a metastore under which its log, or what it answers, does not say what replication takes it for."""

import re
from collections.abc import Iterator

from twinhive.core.model.errors import Refused, TwinhiveError
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Clear, Text
from twinhive.core.ports import MetastoreReader

_LISTENER = "org.apache.hive.hcatalog.listener.DbNotificationListener"
_LISTENERS = "metastore.transactional.event.listeners"
_EXCLUDED = "metastore.notification.parameters.exclude.patterns"
_CATALOG = "metastore.catalog.default"
_STORE = "metastore.rawstore.impl"
_CHANGE_MANAGER = "metastore.repl.cm.enabled"
_KEPT = "metastore.event.db.listener.timetolive"
_KEPT_WITH_FILES = "metastore.repl.event.db.listener.timetolive"
_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "msec": 1e-3, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3_600}
_UNITS |= {"hour": 3_600, "d": 86_400, "day": 86_400}

_OWN_CATALOG = "hive"
_OWN_STORE = "org.apache.hadoop.hive.metastore.ObjectStore"
_TELL_KINDS = (
    "EXTERNAL",
    "TRANSLATED_TO_EXTERNAL",
    "external.table.purge",
    "transactional",
    "transactional_properties",
    "storage_handler",
    "table_type",
    "metadata_location",
)
"""Parameters by which an event tells what kind of table it is about."""


def check_address(source: MetastoreReader, address: str, policy: Policy) -> Iterator[TwinhiveError]:
    """Find what one address of the source metastore has not switched on."""
    cluster = policy.source.cluster
    then = restarted(policy)
    yield from not_switched_on(source, address, f"the source metastore {address} of cluster {cluster}", then)
    yield from _wrong_in_log(source, address, cluster, then)
    yield from wrong_in_answers(source, address, cluster, then)


def not_switched_on(metastore: MetastoreReader, address: str, which: str, then: Text) -> Iterator[Refused]:
    """Yield what keeps an address of a metastore (`which`, for people) from being a source: its log, dropped files."""
    listeners = metastore.configuration(address, _LISTENERS)
    if _LISTENER not in listeners:
        yield Refused(
            f"{which} keeps no notification log",
            found=f"{_LISTENERS} = {listeners.strip() or '(not set)'}",
            expected=_LISTENER,
            next_step="add it in that server's metastore-site.xml " + then,
        )
    if not _keeps_files(metastore, address):
        yield Refused(
            f"{which} keeps no dropped files",
            found=f"{_CHANGE_MANAGER} is not true",
            expected=f"{_CHANGE_MANAGER} = true, with metastore.repl.cmrootdir on its file system",
            next_step="set both in that server's metastore-site.xml " + then,
        )


def log_is_kept_for(metastore: MetastoreReader, address: str) -> tuple[str, float | None]:
    """Return the setting that says how long an address keeps its log, and its seconds; None for what is no time."""
    key = _KEPT_WITH_FILES if _keeps_files(metastore, address) else _KEPT
    return key, seconds_of(metastore.configuration(address, key))


def _keeps_files(metastore: MetastoreReader, address: str) -> bool:
    return metastore.configuration(address, _CHANGE_MANAGER).strip().lower() == "true"


def seconds_of(said: str) -> float | None:
    """Return a time as Hive writes it (`86400s`, `10d`, `1h`; a bare number is seconds), None for another text."""
    match = re.fullmatch(r"\s*(\d+)\s*(ms|msec|us|ns|s|sec|m|min|h|hour|d|day)?s?\s*", said, re.IGNORECASE)
    return None if match is None else int(match[1]) * _UNITS[(match[2] or "s").lower()]


def keeps_log(metastore: MetastoreReader) -> bool:
    """True when every address of a metastore writes its changes into the notification log."""
    said = (metastore.configuration(address, _LISTENERS) for address in metastore.addresses())
    return all(_LISTENER in listeners for listeners in said)


def restarted(policy: Policy) -> Text:
    """Return what comes after a server's settings were corrected."""
    return "and restart it; then " + Clear(f"the task preflight of {policy.name}")


def _wrong_in_log(source: MetastoreReader, address: str, cluster: str, then: Text) -> Iterator[Refused]:
    """Yield what keeps parameters by which kinds of tables are told out of the events of one address of a source."""
    said = source.configuration(address, _EXCLUDED).strip()
    hidden = [name for name in _TELL_KINDS if any(_hides(one.strip(), name) for one in said.split(",") if one.strip())]
    if not hidden:
        return
    yield Refused(
        f"the source metastore {address} of cluster {cluster} leaves out of its events what tells kinds of tables",
        found=f"{_EXCLUDED} = {said}, which leaves out {', '.join(hidden)}",
        expected="patterns, if any, that none of these parameters matches: a transactional or external table would be "
        "taken for a managed one",
        next_step="correct it in that server's metastore-site.xml " + then,
    )


def wrong_in_answers(metastore: MetastoreReader, address: str, cluster: str, then: Text) -> Iterator[Refused]:
    """Yield what lets one address of a metastore answer of other objects, or of earlier ones, than are there."""
    catalog = metastore.configuration(address, _CATALOG).strip()
    if catalog not in ("", _OWN_CATALOG):
        yield Refused(
            f"the metastore {address} of cluster {cluster} takes names for those of another catalog",
            found=f"{_CATALOG} = {catalog}",
            expected=f"{_CATALOG} = {_OWN_CATALOG}: events and databases of other catalogs are not replicated",
            next_step="take it out of that server's metastore-site.xml " + then,
        )
    store = metastore.configuration(address, _STORE).strip()
    if store not in ("", _OWN_STORE):
        yield Refused(
            f"the metastore {address} of cluster {cluster} does not answer from its database alone",
            found=f"{_STORE} = {store}",
            expected=f"{_STORE} = {_OWN_STORE}: a cache answers what was there before, which copies would be made of",
            next_step="take it out of that server's metastore-site.xml (a metastore beside it, over the same database, "
            "will do) " + then,
        )


def _hides(pattern: str, name: str) -> bool:
    """True when Hive leaves a parameter out for a pattern, also when nobody can tell."""
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return True
