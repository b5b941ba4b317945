"""Make up a large installation: what the journal and Airflow's database hold after two weeks of many policies."""

# ruff: noqa: S311 (no secret is made here)

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from twinhive.core.model.table_status import TableStanding
from twinhive.operations.journal.records import IN_TROUBLE, Outcome

AREAS = ("sales", "stock", "web", "crm", "billing", "fleet", "search", "ads", "claims", "payroll")
PARTS = ("orders", "raw", "core", "mart", "daily", "events", "sessions", "history", "ledger", "returns")
REGIONS = ("", "_eu", "_us", "_apac", "_latam")
DAY = 86_400
_MAX_LAG = 900.0


@dataclass(frozen=True)
class Shape:
    """How large: tables in all, of which the first policy has half; samples of the lag each so many seconds."""

    policies: int = 500
    tables: int = 10_000
    days: int = 14
    sample_seconds: int = 600


def policy_names(shape: Shape) -> list[str]:
    """Return as many names as there are policies."""
    names = [f"{area}_{part}{region}" for region in REGIONS for area in AREAS for part in PARTS]
    return [names[number % len(names)] + "_" * (number // len(names)) for number in range(shape.policies)]


def states(names: Sequence[str], now: float) -> Iterator[dict[str, Any]]:
    """Yield the row of each policy: nearly all are well."""
    for number, name in enumerate(names):
        chance = random.Random(name)
        newest = 4_000_000 + chance.randrange(900_000)
        behind = chance.choice((0, 0, 0, 1, 3, 12, 40))
        row = {
            "policy": name,
            "at": now - chance.uniform(2, 55),
            "source": f"east/{name}",
            "replica": f"west/{name}",
            "phase": "following",
            "replicated": newest - behind * 3,
            "newest": newest,
            "lag_events": behind,
            "lag_seconds": behind * chance.uniform(2, 9),
            "max_lag": _MAX_LAG,
            "rpo_events": behind // 4,
            "rpo_seconds": behind * 0.5,
            "paused": None,
            "trouble": None,
        }
        yield row | _misfortune(number, row) | {"sampled_at": row["at"]}


def _misfortune(number: int, row: dict[str, Any]) -> dict[str, Any]:
    nothing = {"replicated": None, "lag_events": None, "lag_seconds": None}
    if number == 0:
        return {"lag_events": 1_284, "lag_seconds": 2_471.0, "replicated": row["newest"] - 4_410}
    if number % 167 == 13:
        trouble = "the metastore of cluster north does not answer: thrift://ms-north:9083 refused the connection"
        return {
            **nothing,
            "newest": None,
            "phase": "unreachable",
            "source": f"north/{row['policy']}",
            "trouble": trouble,
        }
    if number % 241 == 47:
        return {
            **nothing,
            "newest": None,
            "phase": "unusable",
            "trouble": f"{row['policy']}.yaml cannot be used: 1. options.copy_threads: found 'many'; "
            "Input should be a valid integer",
        }
    if number % 61 == 5:
        return {**nothing, "phase": "loading", "max_lag": None}
    if number % 97 == 7:
        return {"lag_events": 512, "lag_seconds": 1_190.0, "replicated": row["newest"] - 700}
    return {"paused": "warehouse move until Monday (ticket 4711)"} if number % 129 == 3 else {}


def samples(row: dict[str, Any], shape: Shape, now: float) -> Iterator[dict[str, Any]]:
    """Yield a policy's lag over the days: small, more at night when batches write, and one bad hour."""
    if row["lag_seconds"] is None:
        return
    chance = random.Random(row["policy"])
    bad = now - chance.uniform(0.1, shape.days) * DAY
    steps = int(shape.days * DAY / shape.sample_seconds)
    for step in range(steps, 0, -1):
        at = now - step * shape.sample_seconds
        night = 1 + math.cos((at % DAY) / DAY * 2 * math.pi)
        lag = max(0.0, chance.gauss(20, 15) * night + 900 * max(0.0, 1 - abs(at - bad) / 3_000))
        if row["lag_seconds"] > _MAX_LAG:
            lag += max(0.0, row["lag_seconds"] - (now - at) * 0.45)
        yield {
            "policy": row["policy"],
            "at": at,
            "replicated": row["replicated"] - step,
            "newest": row["newest"] - step,
            "lag_events": int(lag / 2),
            "lag_seconds": lag if lag > 6 else 0.0,
        }


def tables(policy: str, count: int, now: float, troubled: int = 0) -> Iterator[dict[str, Any]]:
    """Yield a policy's tables; the first `troubled` of them are in trouble, some are left out."""
    chance = random.Random(policy)
    for number in range(count):
        state, reason, kind = TableStanding.PUBLISHED, None, "managed"
        if number < troubled:
            state = IN_TROUBLE[number % 2]
            reason = "the file of event 4711902 is lost: part-00007 is neither at its path nor in the change manager"
        elif number % 41 == 7:
            state, reason = TableStanding.LEFT_OUT, "transactional tables are not replicated"
        elif number % 173 == 9:
            state, reason = TableStanding.LEFT_OUT, "excluded by the policy: .*_tmp"
        elif number % 11 == 3:
            kind = "external"
            state = TableStanding.PENDING if number % 3 == 0 else state
        yield {
            "policy": policy,
            "table": f"{chance.choice(PARTS)}_{number:05d}{'_tmp' if reason and 'tmp' in reason else ''}",
            "kind": kind,
            "state": str(state),
            "reason": reason,
            "files": chance.randrange(1, 4_000),
            "bytes": int(10 ** chance.uniform(4, 11.5)),
            "last_event": 4_000_000 + chance.randrange(700_000) if state != TableStanding.LEFT_OUT else None,
            "last_sync": now - chance.uniform(20, 600) if kind == "external" else None,
            "at": now - 300,
        }


def windows(row: dict[str, Any], count: int, now: float) -> Iterator[dict[str, Any]]:
    """Yield a policy's last windows, newest first; the newest one failed where the policy is late."""
    chance = random.Random(row["policy"])
    end, ended = row["replicated"] or 4_000_000, now - 60
    for number in range(count):
        took, events = chance.uniform(3, 240), chance.randrange(1, 600)
        failed = number == 0 and (row["lag_seconds"] or 0) > _MAX_LAG
        yield {
            "policy": row["policy"],
            "dump": f"incremental-{end - events}-{end}-{chance.randrange(16**8):08x}",
            "phase": "incremental",
            "dag_id": f"{row['policy']}.incremental",
            "run_id": f"scheduled__{number}",
            "began": ended - took,
            "ended": ended,
            "begin_event": end - events,
            "end_event": end,
            "events": events,
            "batches": 1 + events // 200,
            "files": events * 3,
            "bytes": events * chance.randrange(10**5, 10**8),
            "outcome": str(Outcome.FAILED if failed else Outcome.DONE),
        }
        end, ended = end - events, ended - took - chance.uniform(60, 3_000)


def batches(window: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the batches of a window."""
    share = window["batches"]
    for number in range(share):
        yield {
            "policy": window["policy"],
            "dump": window["dump"],
            "batch": f"w{number + 1:04d}",
            "label": f"{window['policy']}.{PARTS[number % len(PARTS)]} +{3 + number} tables",
            "dag_id": window["dag_id"],
            "run_id": window["run_id"],
            "task_id": "copy",
            "map_index": number,
            "ended": window["ended"],
            "seconds": (window["ended"] - window["began"]) / 2,
            "files": window["files"] // share,
            "bytes": window["bytes"] // share,
            "outcome": window["outcome"],
        }


def failures(row: dict[str, Any], now: float) -> Iterator[dict[str, Any]]:
    """Yield the open errors of a policy that is late or cannot be looked at."""
    policy = row["policy"]
    common = {"policy": policy, "run_id": "scheduled__0", "resolved": None}
    if (row["lag_seconds"] or 0) > _MAX_LAG:
        yield common | {
            "at": now - 1_310,
            "dag_id": f"{policy}.incremental",
            "task_id": "apply",
            "map_index": -1,
            "try_number": 1,
            "kind": "Missing",
            "act_now": True,
            "what": f"the file of event 4711902 is lost: {policy}.orders_00000, partition dt=2026-11-20",
            "found": "hdfs://east/warehouse/orders_00000/part-00007 is gone, and is not in the change manager",
            "expected": "the file that the event named, 18,204,417 bytes, at its path or under /cmroot",
            "next_step": f"bring the table over as it is now with: twinhive resync {policy} orders_00000",
        }
        yield common | {
            "at": now - 240,
            "dag_id": f"{policy}.external",
            "task_id": "sync",
            "map_index": 3,
            "try_number": 2,
            "kind": "Unreachable",
            "act_now": False,
            "what": "hdfs://west does not answer: 3 of 3 calls timed out after 60 s",
            "found": "java.net.SocketTimeoutException: 60000 millis timeout while waiting for channel",
            "expected": "an answer of the NameNode of west",
            "next_step": "see that the NameNode runs, then clear this task",
        }
    if row["phase"] == "unreachable":
        yield common | {
            "at": now - 95,
            "dag_id": f"{policy}.incremental",
            "task_id": "window",
            "map_index": -1,
            "try_number": 3,
            "kind": "Unreachable",
            "act_now": False,
            "what": "the metastore of cluster north does not answer",
            "found": "thrift://ms-north:9083 refused the connection",
            "expected": "a metastore that answers",
            "next_step": f"start the metastore, then clear this task; look with: twinhive status {policy}",
        }
