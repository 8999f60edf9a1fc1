"""What stands before every request: is it for this machine, and not one too many? And what goes along with answers."""

import re
from collections.abc import Callable, Collection
from time import monotonic

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from genspp.app.serve.limits import BURST, MOST_CLIENTS, PER_SECOND
from genspp.errors import RequestError
from genspp.harmless import json_line

_PORT = re.compile(r":\d+$")


def said(error: RequestError) -> Response:
    """Return an error as an answer: one sentence in JSON."""
    headers = {"Retry-After": "1"} if error.status == 429 else None
    return Response(json_line({"error": str(error)}), error.status, headers, "application/json")


class Rates:
    """A bucket of tokens per client: a request takes one, and they come back at a steady rate."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}  # what was left, and when; the latest client last

    def take(self, client: str) -> bool:
        """Take a token; tell whether there was one."""
        now = self._clock()
        left, then = self._buckets.pop(client, (float(BURST), now))
        left = min(float(BURST), left + PER_SECOND * (now - then))
        self._buckets[client] = (left - 1 if left >= 1 else left, now)
        if len(self._buckets) > MOST_CLIENTS:
            del self._buckets[next(iter(self._buckets))]
        return left >= 1


class Guard:
    """An application behind its guard.

    hosts: the names that a request may call this machine by; None: any. A web site whose name is made to point here
    (DNS rebinding) calls it by its own. policy: what a page may do, for the browser.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str] | None, policy: str, rates: Rates | None = None) -> None:
        self._app, self._hosts, self._rates = app, hosts, rates or Rates()
        self._headers = {
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or have it answered."""

        async def send_along(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        try:
            self._check(scope)
        except RequestError as error:
            await said(error)(scope, receive, send_along)
        else:
            await self._app(scope, receive, send_along)

    def _check(self, scope: Scope) -> None:
        host = _PORT.sub("", Headers(scope=scope).get("host", "").lower())
        if self._hosts is not None and host not in self._hosts:
            raise RequestError(400, "the request calls this machine by a strange name; ask http://127.0.0.1 instead.")
        if not self._rates.take((scope.get("client") or ("",))[0]):
            raise RequestError(429, f"more than {PER_SECOND} requests per second come from there; wait a second.")
