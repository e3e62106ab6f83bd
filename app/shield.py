"""What stands between the network and Streamlit: who is addressed, who asks, and what browsers may do with answers.

Streamlit itself looks at the host and the origin of websockets only, takes every origin named localhost for its own
whatever its port, asks a server of the Internet for the address of this machine before it refuses another origin, and
sets no security headers. The headers are those of the OWASP Secure Headers Project; the policy of content is CSP 3.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import math
import re
import time
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import streamlit
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# What the page of Streamlit loads before anybody can sign in; none of it holds data. The websocket shows the page that
# asks to sign in: app/door.py lets nothing else through.
OPEN: Final = frozenset({"/_stcore/health", "/_stcore/host-config", "/_stcore/stream"})
CLOSED: Final = ("/_stcore/", "/media/", "/component/")
NEVER: Final = "/_stcore/agent/"  # drives pages without a browser, and without a cookie
SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
RETURN: Final = "dropline_return"
RETURN_S: Final = 600
# Elements of Streamlit, as its scripts are named.
DRAWN_WITH: Final = (
    *("ArrowVegaLiteChart", "embed", "BidiComponent", "Checkbox", "DataFrame", "DownloadButton", "FileUploader"),
    *("Metric", "Multiselect", "NumberInput", "PageLink", "Selectbox", "TextArea", "TextInput"),
)
_LONGEST_RETURN: Final = 3000  # characters: a browser keeps no longer cookie than 4096 bytes


@dataclass(frozen=True, slots=True)
class Policy:
    """Whom the shield lets through.

    Attributes:
        hosts: the names under which the app may be addressed, in lower case.
        any_address: whether it may be addressed by any IP address; an attacker's page never has one for its name.
        origin: scheme, host and port behind a proxy; None without sign-in.
        until: for cookies, when the identity in them ends (s since 1970), or None if they may see nothing. None
            instead of a function means that there is no sign-in.
    """

    hosts: frozenset[str]
    any_address: bool = False
    origin: str | None = None
    until: Callable[[Mapping[str, str]], float | None] | None = None

    def addresses(self, host: str) -> bool:
        """Say whether a Host header means this app (RFC 9110, 7.2); another one is how DNS rebinding shows."""
        try:
            parts = urlsplit(f"//{host}")
            name, _ = (parts.hostname or "").rstrip("."), parts.port
        except ValueError:
            return False
        if parts.netloc != host or "@" in host:
            return False
        return name in self.hosts or (self.any_address and _is_address(name))

    def is_own(self, origin: str, host: str) -> bool:
        """Say whether a page of this app asks, by its Origin header (RFC 6454, 7)."""
        return origin == self.origin or (urlsplit(origin).scheme in ("http", "https") and _netloc(origin) == host)


def _netloc(origin: str) -> str:
    return origin.partition("://")[2]


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def scripts_within(page: Path) -> list[str]:
    """Return the hashes of the scripts that stand in a page, as a policy of content names them."""
    scripts = re.findall(r"<script>(.*?)</script>", page.read_text("utf-8"), re.DOTALL)
    return [f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in scripts]


def preloaded() -> str:
    """Return the Link header (RFC 8288) by which a browser fetches early what most pages draw with.

    Streamlit's page asks for the script of an element when the first such element comes; until it is there, the
    element is a narrow bar, and what is below it jumps.
    """
    scripts = Path(streamlit.__file__).parent / "static" / "static" / "js"
    found = sorted(file.name for name in DRAWN_WITH for file in scripts.glob(f"{name}.*.js"))
    return ", ".join(f'</static/js/{name}>; rel="modulepreload"; crossorigin' for name in found)


def headers() -> dict[str, str]:
    """Return the headers of every answer."""
    own = " ".join(scripts_within(Path(streamlit.__file__).parent / "static" / "index.html"))
    content = {
        "default-src": "'none'",
        "script-src": f"'self' blob: 'wasm-unsafe-eval' {own}",  # blob: is how Streamlit brings a component's script
        "style-src": "'self' 'unsafe-inline'",  # Streamlit styles its elements by what its script writes
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "worker-src": "'self' blob:",
        "media-src": "'self'",
        "manifest-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
    }
    unused = (
        *("accelerometer", "autoplay", "camera", "display-capture", "geolocation", "gyroscope", "magnetometer"),
        *("microphone", "midi", "payment", "usb"),
    )
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in content.items()),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "same-origin",
        "Permissions-Policy": ", ".join(f"{name}=()" for name in unused),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }


class Shield:
    """ASGI middleware around Streamlit."""

    def __init__(self, app: ASGIApp, policy: Policy) -> None:
        self.app = app
        self.policy = policy
        self.headers = headers()
        self.preloaded = preloaded()
        self.secure = (policy.origin or "").startswith("https://")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or let through and add the headers."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        asked = HTTPConnection(scope)
        if scope["type"] == "websocket":
            await self._websocket(asked, receive, send)
            return
        sender = self._adding_headers(asked, send)
        if refusal := self._refusal(asked, scope["method"]):
            await refusal(scope, receive, sender)
        else:
            await self.app(scope, receive, sender)

    def _refusal(self, asked: HTTPConnection, method: str) -> PlainTextResponse | None:
        host, origin = asked.headers.get("host", ""), asked.headers.get("origin")
        path = re.sub("/+", "/", asked.scope["path"])
        if not self.policy.addresses(host):
            return PlainTextResponse("This app is not known by that name; see docs/how-to/sign-in.md, --host.", 421)
        if method not in SAFE and not (origin and self.policy.is_own(origin, host)):
            return PlainTextResponse("Only pages of this app may send something to it.", 403)
        if path.startswith(NEVER):
            return PlainTextResponse("There is nothing here.", 404)
        if path.startswith(CLOSED) and path not in OPEN and self._until(asked) is None:
            return PlainTextResponse("Sign in first.", 401)
        return None

    def _until(self, asked: HTTPConnection) -> float | None:
        return self.policy.until(asked.cookies) if self.policy.until else math.inf

    async def _websocket(self, asked: HTTPConnection, receive: Receive, send: Send) -> None:
        host, origin = asked.headers.get("host", ""), asked.headers.get("origin")
        if not self.policy.addresses(host) or not origin or not self.policy.is_own(origin, host):
            await send({"type": "websocket.close", "code": 1008})
            return
        until = self._until(asked)
        limited = until is not None and math.isfinite(until)
        await self.app(asked.scope, _ending(receive, send, until or 0) if limited else receive, send)

    def _adding_headers(self, asked: HTTPConnection, send: Send) -> Send:
        path = asked.scope["path"]

        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                found = MutableHeaders(scope=message)
                found.update(self.headers)
                if found.get("content-type", "").startswith("text/html"):
                    found["Link"] = self.preloaded
                if path.startswith("/media/"):
                    found["Cache-Control"] = "private, no-store"
                if self.policy.origin:
                    self._return(asked, found)
                if self.secure:
                    self._secure(message)
            await send(message)

        return add

    def _return(self, asked: HTTPConnection, found: MutableHeaders) -> None:
        """Lead who signed in back to the page that he came for."""
        path = asked.scope["path"]
        if path == "/auth/login" and (page := self._own_page(asked.headers.get("referer", ""))):
            cookie = f"{RETURN}={page}; Path=/; Max-Age={RETURN_S}; HttpOnly; SameSite=Lax"
            found.append("Set-Cookie", cookie)
        elif path == "/oauth2callback" and found.get("location") == "/" and (page := asked.cookies.get(RETURN)):
            found["Location"] = self._own_page(f"{self.policy.origin}{page}") or "/"
            found.append("Set-Cookie", f"{RETURN}=; Path=/; Max-Age=0")

    def _own_page(self, address: str) -> str | None:
        """Return path and query of an address if it is a page of this app that a cookie can hold."""
        page = address.removeprefix(self.policy.origin or "")
        harmless = re.fullmatch(r"/[\w%.~=&?+*'()!@:$-][\w%.~=&?+*'()!@:$/-]*", page, re.ASCII)
        return page if harmless and len(page) <= _LONGEST_RETURN else None

    def _secure(self, message: Message) -> None:
        """Keep cookies off unencrypted connections; Streamlit, which does not know of the proxy, says nothing."""
        for place, (name, value) in enumerate(message["headers"]):
            if name == b"set-cookie" and b"secure" not in value.lower():
                message["headers"][place] = name, value + b"; Secure"


def _ending(receive: Receive, send: Send, until: float) -> Receive:
    """Return a `receive` that hangs up when the identity ends: the page connects anew and is asked to sign in."""

    async def get() -> Message:
        try:
            async with asyncio.timeout(until - time.time()):
                return await receive()
        except TimeoutError:
            await send({"type": "websocket.close", "code": 1001})
            return {"type": "websocket.disconnect", "code": 1001}

    return get
