"""Run a program where loopback is the only network: what listens on all interfaces is reached by nobody."""

import fcntl
import os
import shutil
import socket
import struct
import sys
from collections.abc import Sequence

from sandbox.errors import SandboxError

_ENTERED = "TWINHIVE_OWN_NETWORK"
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1  # SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP: netdevice(7)


def is_alone() -> bool:
    """True when this process sees no interface but loopback."""
    return {name for _, name in socket.if_nameindex()} == {"lo"}


def enter(module: str, arguments: Sequence[str]) -> None:
    """Start `python -m module` anew in a network of its own, in place of this process; return when it is there already.

    It takes the right to make one (root, or user namespaces). Raises SandboxError without it.
    """
    if is_alone():
        _raise_loopback()
        return
    unshare = shutil.which("unshare")
    if os.environ.get(_ENTERED) or unshare is None:
        raise SandboxError("a network of its own cannot be made: install unshare (util-linux) and run as root")
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    command = [unshare, "--net", *as_root, sys.executable, "-m", module, *arguments]
    os.execve(unshare, command, {**os.environ, _ENTERED: "1"})  # noqa: S606 (no shell is what is wanted)


def _raise_loopback() -> None:
    """Switch the interface on: it is off in a new network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14s", b"lo", 0, b"")
        (flags,) = struct.unpack_from("16xH", fcntl.ioctl(any_socket, _GET_FLAGS, request))
        if not flags & _UP:
            fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH14s", b"lo", flags | _UP, b""))
