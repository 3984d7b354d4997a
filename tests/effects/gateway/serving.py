"""A server on loopback for the time of a context, whose handlers know the object that it belongs to."""

from __future__ import annotations

import http.server
import threading
from typing import Self


class Serving:
    """Use as a context. `handler` is a class of handlers; each has this object as its `owner`."""

    def __init__(self, handler: type[http.server.BaseHTTPRequestHandler]) -> None:
        self._handler = handler

    def __enter__(self) -> Self:
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (self._handler,), {"owner": self}))
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
