"""Share policies out among several DAG files: Airflow parses files beside each other, and never a part of one."""

from hashlib import sha256

Share = tuple[int, int]
"""Which of how many: (1, 4) is the first of four."""
WHOLE: Share = (1, 1)


def is_in(share: Share, policy: str) -> bool:
    """Tell whether the file with a share makes a policy's DAGs: of all shares exactly one does, in every process."""
    number, of = share
    return int.from_bytes(sha256(policy.encode()).digest()[:8]) % of == number - 1


def makes_the_rest(share: Share) -> bool:
    """Tell whether the file with a share makes the DAGs that are nobody's: the first one."""
    return share[0] == 1


def refuse_unusable(share: Share) -> None:
    """Raise ValueError, which is the file's import error in Airflow, for what is no share."""
    number, of = share
    if not 1 <= number <= of:
        raise ValueError(
            f"share={share!r} is none: expected (number, of) from (1, {max(of, 1)}) to ({max(of, 1)}, {max(of, 1)})"
        )
