"""A small metastore as a process of its own, behind a proxy: it can be killed, frozen, and cut off in an answer."""

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

from tests.support.servers.loopback_server import with_no_error
from tests.support.wire.wire_metastore import Contents, WireMetastore

PARTITIONS = 3_000
_ROOT = Path(__file__).parents[3]


def contents_of(name: str) -> Contents:
    """Return what the metastore of this name has: one table, whose partitions bear its name."""
    contents = Contents(name)
    contents.add("sales", "orders", name, tuple(f"day={name}-{day:05}" for day in range(PARTITIONS)))
    return contents


class MetastoreProcess:
    """Serve at one port for ever, whatever becomes of the process behind it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.cut_after: int | None = None
        """So many bytes of an answer, then the connection is cut; once."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._start()
        threading.Thread(target=self._accept, daemon=True).start()

    def _start(self) -> None:
        command = [sys.executable, "-m", "tests.support.servers.metastore_process", self.name]
        environment = {**os.environ, "PYTHONPATH": f"{_ROOT / 'plugins'}{os.pathsep}{_ROOT}"}
        self._process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, cwd=_ROOT)
        assert self._process.stdout is not None
        self._behind = int(self._process.stdout.readline())

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        """Let it take connections and do nothing more."""
        self._process.send_signal(signal.SIGSTOP)

    def heal(self) -> None:
        """Undo whatever was done to it."""
        self.cut_after = None
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGCONT)
        else:
            self._start()

    def close(self) -> None:
        """End it, and the proxy."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.kill()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self._behind))
        except OSError:
            with_no_error(client)
            return
        threading.Thread(target=self._pump, args=(client, server), daemon=True).start()
        self._pump(server, client, is_answer=True)

    def _pump(self, source: socket.socket, target: socket.socket, *, is_answer: bool = False) -> None:
        try:
            while data := source.recv(1 << 14):
                if is_answer and (left := self.cut_after) is not None:
                    self.cut_after = left - len(data) if left > len(data) else None
                    target.sendall(data[:left])
                    if left <= len(data):
                        break
                else:
                    target.sendall(data)
        except OSError:
            pass
        finally:
            with_no_error(source)
            with_no_error(target)


if __name__ == "__main__":
    print(WireMetastore(contents_of(sys.argv[1])).port, flush=True)
    threading.Event().wait()
