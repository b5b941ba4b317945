"""A REST catalog of Iceberg on loopback: one namespace, one table."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@contextmanager
def iceberg_rest(namespace: str, table: str, location: str, metadata: dict[str, Any]) -> Iterator[str]:
    """Serve a table's metadata; yield the address."""
    answers: dict[str, Any] = {
        "/v1/config": {"defaults": {}, "overrides": {}},
        f"/v1/namespaces/{namespace}": {"namespace": [namespace], "properties": {"location": "s3://lake", "tier": "a"}},
        f"/v1/namespaces/{namespace}/tables": {"identifiers": [{"namespace": [namespace], "name": table}]},
        f"/v1/namespaces/{namespace}/tables/{table}": {
            "metadata-location": location,
            "metadata": metadata,
            "config": {},
        },
    }

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            there = answers.get(path)
            kind = "NoSuchTableException" if "/tables/" in path else "NoSuchNamespaceException"
            missing = {"error": {"message": f"{path} is not there", "type": kind, "code": 404}}
            body = json.dumps(missing if there is None else there).encode()
            self.send_response(404 if there is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Be silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
