"""Be a small Thrift server in this process that speaks as a metastore does."""

import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hive_metastore import ThriftHiveMetastore
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport, TTransportException


class Server(socketserver.ThreadingTCPServer):
    """Hand every call to `behaviour`; what that raises without its being declared is an internal error."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, behaviour: Any) -> None:
        super().__init__(("127.0.0.1", 0), Conversation)
        self.behaviour = behaviour
        self.processor = ThriftHiveMetastore.Processor(behaviour)
        self.conversations: list[socket.socket] = []

    @property
    def address(self) -> tuple[str, int]:
        """Host and port."""
        return ("127.0.0.1", self.server_address[1])


class Conversation(socketserver.BaseRequestHandler):
    """Answer the calls of one connection until it ends."""

    server: Server

    def handle(self) -> None:
        """Answer."""
        self.server.conversations.append(self.request)
        channel = TSocket()
        channel.setHandle(self.request)
        protocol = TBinaryProtocol(TBufferedTransport(channel))
        try:
            while True:
                self.server.processor.process(protocol, protocol)
        except (TTransportException, EOFError, OSError):
            return


@contextmanager
def serving(behaviour: Any) -> Iterator[Server]:
    """Run a server as long as the block lasts."""
    with Server(behaviour) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()
