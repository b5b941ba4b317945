"""Name what can go wrong with the sandbox."""


class SandboxError(Exception):
    """Say what failed, what was found and what to do next."""
