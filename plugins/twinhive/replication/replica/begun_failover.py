"""Keep the token of a failover that has begun: a small file in the replica's staging.

It is written when nobody may write the source any more, and is the first thing to go when writers are let in again. Who
reads it before he looks at the source finds all that was written there before: so before and after are told without any
clock. Each failover that begins has a token of its own.
"""

import uuid

from twinhive.core.model.files import join
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter
from twinhive.replication.dump.json_files import read_json, write_json


def token_path(policy: Policy) -> str:
    """Return where the token is kept."""
    return join(policy.staging, "control", "failover.json")


def token_of(files: FileReader, policy: Policy) -> str:
    """Return the token of the failover that has begun; '' where none has, which proves nothing."""
    try:
        found = read_json(files, token_path(policy))
    except ValueError:
        return ""
    token = found.get("token") if isinstance(found, dict) else None
    return token if isinstance(token, str) else ""


def begin_failover(files: FileWriter, policy: Policy) -> None:
    """Write a token that nobody has seen yet, in the place of any other."""
    write_json(files, token_path(policy), {"token": uuid.uuid4().hex[:12]})


def void_token(files: FileWriter, policy: Policy) -> None:
    """Take the token away: nothing that was proved by it counts any more."""
    files.delete_file(token_path(policy))
