"""The built book as a static host serves it."""

import gzip
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_PACKED = (".html", ".css", ".js", ".svg", ".json", ".txt", ".xml")


@lru_cache(maxsize=512)
def _packed(path: str, changed: float) -> bytes:
    return gzip.compress(Path(path).read_bytes(), 6, mtime=0)


class StaticHost(SimpleHTTPRequestHandler):
    """Serves files as a static host does: text compressed, and to be kept for ten minutes."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        accepted = "gzip" in self.headers.get("Accept-Encoding", "")
        if not (accepted and path.is_file() and path.suffix in _PACKED):
            super().do_GET()
            return
        body = _packed(str(path), path.stat().st_mtime)
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle(self) -> None:
        with suppress(ConnectionError):  # the browser has had enough
            super().handle()

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "max-age=600")
        super().end_headers()

    def guess_type(self, path: str | os.PathLike[str]) -> str:
        kind = super().guess_type(path)
        return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine while the context lasts; yield its address."""
    handler = partial(StaticHost, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_port}/"
        listening.shutdown()
