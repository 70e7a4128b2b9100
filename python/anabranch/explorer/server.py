"""The page on loopback: `anabranch explore`.

Whoever has the address has the page: a token in it keeps other users and other pages of the browser
out. Names that resolve to loopback (DNS rebinding) and requests of other origins are refused.
"""

from __future__ import annotations

import hmac
import json
import os
import re
import secrets
import select
import socket
import sys
import threading
from functools import cached_property
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any

from .. import _core
from .data import Opened, data, written
from .prediction import theory

LOOPBACK = "127.0.0.1"

MOST_BODY_BYTES = 16 << 20
"""Of a request; the engine takes no more either."""

IDLE_S = 60.0
"""A connection that sends nothing for so long is closed."""

LOOK_S = 0.2
"""While a run waits for a processor: how often to look whether the page still wants it."""

POLICY = re.compile(r'http-equiv="?Content-Security-Policy"? content="([^"]+)"', re.IGNORECASE)
"""The content security policy in the page, which knows the digests of its scripts."""

HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",  # the address has the token
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Of every response."""


def page() -> str:
    """The page. Raises OSError if it was not built."""
    return (resources.files("anabranch") / "explorer" / "page.html").read_text("utf-8")


class Refused(Exception):
    """A request is refused: its status and a sentence."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        """The status and the sentence."""
        super().__init__(why)
        self.status = status


class Server(ThreadingHTTPServer):
    """Serves the page, its data and the engine's answers; each connection has a thread."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port: int = 0, first: Opened | None = None) -> None:
        """Listens on `port`, or on a free one for 0. Raises OSError."""
        self.page = page().encode()
        self.first = first
        self.token = secrets.token_urlsafe(18)
        self.once = {secrets.token_urlsafe(18)}
        self.processors = threading.BoundedSemaphore(os.cpu_count() or 1)
        try:
            super().__init__((LOOPBACK, port), Handler)
        except OSError as error:
            raise OSError(error.errno, error.strerror, f"{LOOPBACK}:{port}") from None
        own = self.server_address[1]
        self.hosts = (f"{LOOPBACK}:{own}", f"localhost:{own}")

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{self.hosts[0]}/{self.token}/"

    @property
    def door(self) -> str:
        """An address that leads to the page once. A browser has it among its arguments, which other
        users can see.
        """
        return f"http://{self.hosts[0]}/{next(iter(self.once), '')}/"

    @cached_property
    def data(self) -> bytes:
        """The data of the page."""
        return written(data(first=self.first))

    @cached_property
    def policy(self) -> str:
        """The content security policy of the page, which nobody may frame."""
        found = POLICY.search(self.page.decode())
        own = found[1] if found else "default-src 'none'"
        return f"{own}; frame-ancestors 'none'"

    def handle_error(self, *about: Any) -> None:
        """Reports our own faults alone: a page may close its connection at any time."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(*about)


class Handler(BaseHTTPRequestHandler):
    """A connection."""

    protocol_version = "HTTP/1.1"
    timeout = IDLE_S
    server: Server

    def do_GET(self) -> None:
        """Sends the page or its data."""
        try:
            if self.path.strip("/") in self.server.once and self._local():
                self.server.once.clear()
                self._respond(HTTPStatus.FOUND, "text/plain", b"", {"Location": self.server.url})
                return
            match self._path():
                case "":
                    policy = {"Content-Security-Policy": self.server.policy}
                    self._send("text/html; charset=utf-8", self.server.page, policy)
                case "data.json":
                    self._send("application/json", self.server.data)
                case other:
                    raise Refused(HTTPStatus.NOT_FOUND, f"there is no {other!r:.80} here")
        except Refused as why:
            self._refuse(why)

    def do_POST(self) -> None:
        """Answers a request of the page."""
        try:
            match self._path():
                case "answer":
                    self._send("application/octet-stream", self._answer(self._body()))
                case "theory":
                    found = theory(self._body(), self._wanted)
                    self._send("application/json", json.dumps(found).encode())
                case other:
                    raise Refused(HTTPStatus.NOT_FOUND, f"nothing at {other!r:.80} takes requests")
        except ValueError as error:
            self._refuse(Refused(HTTPStatus.BAD_REQUEST, str(error)))
        except Refused as why:
            self._refuse(why)

    def _local(self) -> bool:
        """True. Raises Refused for a request to another name than the page's."""
        if self.headers.get("Host") not in self.server.hosts:
            why = f"the page is at {self.server.hosts[0]}, under no other name"
            raise Refused(HTTPStatus.MISDIRECTED_REQUEST, why)
        return True

    def _path(self) -> str:
        """The path below the token. Raises Refused for a request that is not the page's own."""
        self._local()
        origins = [f"http://{host}" for host in self.server.hosts]
        if self.headers.get("Origin", origins[0]) not in origins:
            raise Refused(HTTPStatus.FORBIDDEN, "the request comes from another page")
        _, token, path = f"{self.path.partition('?')[0]}//".split("/", 2)
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            why = "the address lacks the token; take the whole one that `anabranch explore` printed"
            raise Refused(HTTPStatus.FORBIDDEN, why)
        return path.removesuffix("//").removesuffix("/")

    def _body(self) -> str:
        """The body of a request. Raises Refused, and ValueError for one that is not text."""
        if self.headers.get_content_type() != "application/json":
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "requests are application/json")
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            raise Refused(HTTPStatus.LENGTH_REQUIRED, f"Content-Length is {length!r:.80}")
        if int(length[:20]) > MOST_BODY_BYTES:
            why = f"the request has {length:.20} bytes; it has at most {MOST_BODY_BYTES}"
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, why)
        return self.rfile.read(int(length)).decode()

    def _answer(self, request: str) -> bytes:
        """The engine's answer. Runs wait for a processor; all else takes no time."""
        if not is_run(request):
            return _core.page(request)
        while not self.server.processors.acquire(timeout=LOOK_S):
            self._wanted()
        try:
            return _core.page(request, self._wanted)
        finally:
            self.server.processors.release()

    def _wanted(self) -> bool:
        """True. Raises Refused if the page has closed the connection, as it does when a slider
        moves on.
        """
        readable, _, _ = select.select([self.connection], [], [], 0)
        if readable and not self.connection.recv(1, socket.MSG_PEEK):
            raise Refused(HTTPStatus.REQUEST_TIMEOUT, "the page no longer waits for this answer")
        return True

    def _send(self, kind: str, body: bytes, more: dict[str, str] | None = None) -> None:
        self._respond(HTTPStatus.OK, kind, body, more or {})

    def _refuse(self, why: Refused) -> None:
        self.close_connection = True  # what is left of the request is not read
        self._respond(why.status, "text/plain; charset=utf-8", str(why).encode(), {})

    def _respond(self, status: HTTPStatus, kind: str, body: bytes, more: dict[str, str]) -> None:
        self.send_response(status)
        own = {"Content-Type": kind, "Content-Length": str(len(body))}
        own |= {"Connection": "close"} if self.close_connection else {}
        for name, value in (HEADERS | own | more).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuses what is not HTTP, or another method, with a sentence."""
        status = HTTPStatus(code)
        self._refuse(Refused(status, message or explain or status.phrase))

    def version_string(self) -> str:
        """The name of the server; the version of Python is nobody's business."""
        return "anabranch"

    def log_message(self, *_: Any) -> None:
        """Logs nothing: the terminal has the address."""


def is_run(request: str) -> bool:
    """Whether a request is for a run."""
    try:
        found = json.loads(request)
    except (ValueError, RecursionError):
        return False  # the engine says what is wrong
    return isinstance(found, dict) and found.get("do") == "run"
