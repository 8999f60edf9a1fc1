"""The server: a page, what its requests are answered with, and how both are had at an address of this machine."""

import asyncio
import errno
import logging
import socket
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from genspp.app.predict import open_explainer
from genspp.app.serve.guard import Guard, said
from genspp.app.serve.limits import (
    MOST_BYTES,
    MOST_CHARACTERS,
    MOST_REMEMBERED,
    MOST_TEXTS,
    MOST_WAITING,
    SECONDS_TO_END,
)
from genspp.app.serve.question import answer, schema
from genspp.errors import GenSPPError, RequestError, SettingsError
from genspp.harmless import json_line
from genspp.model.explainer import Explainer
from genspp.report.served import serve_page

logger = logging.getLogger("genspp")

Say = Callable[[str], None]


class Desk:
    """A model that is asked by one thread, one request at a time, with some more in line."""

    def __init__(self, model: Explainer) -> None:
        self._model, self._thread = model, ThreadPoolExecutor(1)
        self._waiting = self._remembered = 0

    async def ask(self, body: bytes) -> list[dict[str, Any]]:
        """Return the answer to a request, once it is its turn."""
        if self._waiting >= MOST_WAITING:
            raise RequestError(429, f"{MOST_WAITING} requests are waiting for the model already; wait a second.")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._answer, body)
        finally:
            self._waiting -= 1

    def _answer(self, body: bytes) -> list[dict[str, Any]]:
        self._remembered += len(body)
        if self._remembered > MOST_REMEMBERED:
            self._model.forget()
            self._remembered = len(body)
        return answer(self._model, body)


def make_app(model: Explainer, name: str, hosts: Collection[str] | None) -> ASGIApp:
    """Return the application that serves a model. hosts: what requests may call this machine; None: anything."""
    classes, desk = model.classes_.tolist(), Desk(model)
    limits = {"texts": MOST_TEXTS, "characters": MOST_CHARACTERS}
    page, policy = serve_page(name, model.method, classes, limits)

    async def show_page(_: Request) -> Response:
        return HTMLResponse(page)

    async def show_schema(_: Request) -> Response:
        return _json(schema(classes))

    async def explain(request: Request) -> Response:
        return _json(await desk.ask(await _body(request)))

    async def refuse(_: Request, error: Exception) -> Response:
        return said(_as_request_error(error))

    app = Starlette(
        routes=[Route("/", show_page), Route("/schema", show_schema), Route("/explain", explain, methods=["POST"])],
        exception_handlers={GenSPPError: refuse, HTTPException: refuse, Exception: refuse},
    )
    return Guard(app, hosts, policy)


def _json(content: Any) -> Response:
    return Response(json_line(content), media_type="application/json")


async def _body(request: Request) -> bytes:
    """Return what was sent. Since it must be JSON by name, no other web site can have a browser send it unasked."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise RequestError(400, "the request is not called JSON; send it with Content-Type: application/json.")
    body = b""
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MOST_BYTES:
                raise RequestError(413, f"the request has more than {MOST_BYTES:,} bytes; ask for fewer texts at once.")
    except ClientDisconnect:
        raise RequestError(400, "the request was broken off.") from None
    return body


def _as_request_error(error: Exception) -> RequestError:
    if isinstance(error, RequestError):
        return error
    if isinstance(error, GenSPPError):
        return RequestError(400, str(error))
    if isinstance(error, HTTPException):
        return RequestError(error.status_code, "there is nothing here for this request; see GET / and GET /schema.")
    logger.error("a request failed for no fault of its own: %r", error)
    return RequestError(500, "the request failed for no fault of its own; the terminal says why.")


# ---------------------------------------------------------------------- at an address


def serve(folder: Path, host: str, port: int, say: Say, warn: Say) -> None:
    """Serve the model of a folder until Ctrl-C is typed. say, warn: how the one who started it is told where it is."""
    with _listen(host, port) as listening:
        address, port = listening.getsockname()[:2]
        own, anywhere = ip_address(address).is_loopback, ip_address(address).is_unspecified
        hosts = {"localhost", "127.0.0.1", "[::1]", _in_url(address), host.lower()} if own else None
        model, _ = open_explainer(folder)
        model.explain(["a"])  # the kernels are loaded before anyone waits for them
        app = make_app(model, folder.resolve().name, hosts)
        # No name of a client, no text and no trace reaches the terminal; a proxy's word is not taken for who asks.
        config = uvicorn.Config(
            app, http="h11", ws="none", loop="asyncio", lifespan="off", log_config=None, log_level="critical",
            access_log=False, proxy_headers=False, server_header=False, timeout_graceful_shutdown=SECONDS_TO_END,
        )  # fmt: skip
        if not own:
            warn("whoever can reach this machine can use the model; without --host, nobody but this machine can.")
        say(f"open http://{'localhost' if anywhere else _in_url(address)}:{port} in a browser; Ctrl-C ends it")
        uvicorn.Server(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket at the address, or say why there is none."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address, family=family)
    except (socket.gaierror, UnicodeError):
        raise SettingsError(f"--host is {host!r}, which is no address of this machine; try 127.0.0.1.") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise SettingsError(f"port {port} of {host} is taken; give another with --port.") from None
        raise SettingsError(
            f"port {port} of {host} cannot be used ({error.strerror}); give another with --port or --host."
        ) from None


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
