"""Decide where the sandbox keeps what it downloads and what its servers store."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
DEFAULT_NAME = "demo"


def cache_root(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the directory for downloads, shared by all instances."""
    if chosen := environment.get("TWINHIVE_CACHE"):
        return Path(chosen).expanduser().absolute()
    base = environment.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser().absolute() / "twinhive"


def state_root(environment: Mapping[str, str] = os.environ, user_id: int | None = None) -> Path:
    """Return the directory that holds one directory per instance."""
    if chosen := environment.get("TWINHIVE_STATE"):
        return Path(chosen).expanduser().absolute()
    # PostgreSQL does not run as root, and the user it runs as cannot enter root's home.
    if (os.geteuid() if user_id is None else user_id) == 0:
        return Path("/var/lib/twinhive")
    base = environment.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(base).expanduser().absolute() / "twinhive"


def instance_key(name: str, checkout: Path = CHECKOUT) -> str:
    """Return a directory name that differs between checkouts that use the same instance name."""
    return f"{name}-{hashlib.sha256(str(checkout).encode()).hexdigest()[:8]}"


def default_name(environment: Mapping[str, str] = os.environ) -> str:
    """Return the instance that is meant when none is named."""
    return environment.get("TWINHIVE_SANDBOX") or DEFAULT_NAME
