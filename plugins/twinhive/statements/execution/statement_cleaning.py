"""Remove by age what no statement needs any more: after a statement in earnest, for its plan over pretended files."""

import time

from twinhive.core.model.files import parent
from twinhive.core.ports import FileWriter, WritePorts
from twinhive.core.step.step_base import Report, Work
from twinhive.statements.execution.dumping import Dumping
from twinhive.statements.execution.hive_clean import clean_hive_dumps
from twinhive.statements.execution.loader_replicas import NotedReplicas
from twinhive.statements.execution.repl_loading import Loading
from twinhive.statements.execution.statement_cluster import StatementPlace
from twinhive.statements.steps.abandoned_loads import StagingCleaner
from twinhive.statements.steps.repl_clean import DumpCleaner


def clean_dumps(dumping: Dumping, place: StatementPlace, files: FileWriter, report: Report, keep: str) -> list[str]:
    """Remove old dumps of the database, unless the statement keeps them; return their directories."""
    policy, settings = dumping.order.policy, dumping.settings
    if settings.retain_previous_dumps:
        return []
    replicas = NotedReplicas(place)
    cleaner = DumpCleaner(
        files=files,
        dumps=parent(policy.dumps),
        ttl_seconds=settings.dump_ttl_seconds,
        now=time.time(),
        is_gone=replicas.is_gone,
        report=report,
        reached=replicas.reached,
    )
    removed = cleaner.run(keep)
    for_hive = clean_hive_dumps(files, policy.dump_root, policy.source.database, cleaner.oldest, report, keep)
    return [*removed, *for_hive]


def clean_given_up(loading: Loading, work: Work, ports: WritePorts) -> list[str]:
    """Remove the staging of loads beside this one that were given up; return the directories."""
    return StagingCleaner(work, loading.settings.dump_ttl_seconds, time.time()).run(ports)
