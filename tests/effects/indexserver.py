"""A package index on this machine for tests: the simple API over a folder, counting requests."""

import gzip
import hashlib
import html
import io
import tarfile
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def sdist(top, files, mode="w:gz"):
    """An sdist's bytes: `files` maps paths below `top` to bytes, or to a ready TarInfo."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as tar:
        for path, data in files.items():
            info = data if isinstance(data, tarfile.TarInfo) else tarfile.TarInfo(f"{top}/{path}")
            info.size = 0 if isinstance(data, tarfile.TarInfo) else len(data)
            tar.addfile(info, None if isinstance(data, tarfile.TarInfo) else io.BytesIO(data))
    return out.getvalue()


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Index:
    """`files`: project → {filename: bytes}; `stated`: filename → digest shown instead of the true one ("" = none)."""

    def __init__(self):
        self.files = {}
        self.stated = {}
        self.requests = []
        self.status = 200
        self.url = ""

    def page(self, project):
        rows = []
        for name, data in self.files[project].items():
            digest = self.stated.get(name, sha256(data))
            fragment = f"#sha256={digest}" if digest else ""
            rows.append(f'<a href="/files/{name}{fragment}">{html.escape(name)}</a>')
        return f"<!DOCTYPE html><html><body>{''.join(rows)}</body></html>".encode()


@contextmanager
def serve():
    """Yield a running `Index`; nothing of it is left afterwards."""
    index = Index()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            index.requests.append(self.path)
            kind, _, name = self.path.strip("/").partition("/")
            found = {n: d for files in index.files.values() for n, d in files.items()}
            if index.status != 200:
                self.send_error(index.status)
            elif kind == "simple" and name in index.files:
                self.reply(index.page(name), "text/html")
            elif kind == "files" and name in found:
                self.reply(found[name], "application/octet-stream")
            else:
                self.send_error(404)

        def reply(self, body, kind):
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        index.url = f"http://127.0.0.1:{server.server_port}/simple/"
        try:
            yield index
        finally:
            server.shutdown()
            thread.join()


def bomb(size):
    """A gzipped tar header that promises `size` bytes."""
    info = tarfile.TarInfo("p-1/bomb")
    info.size = size
    return gzip.compress(info.tobuf(tarfile.GNU_FORMAT))
