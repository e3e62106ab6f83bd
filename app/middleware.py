"""ASGI middleware around Streamlit: trusted hosts, same-origin requests, identities on downloads, security headers.

Streamlit checks the host and the origin of websockets only, accepts localhost on any port as an origin, asks an
Internet server for this machine's address before it refuses another origin, and sets no security headers. The headers
here follow the OWASP Secure Headers Project; the Content-Security-Policy is level 3.
"""

import asyncio
import base64
import hashlib
import math
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import streamlit
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Streamlit's page loads these before sign-in; none of them holds data. The websocket draws the sign-in page: before
# sign-in, app/auth.py shows nothing else.
OPEN: Final = frozenset({"/_stcore/health", "/_stcore/host-config", "/_stcore/stream"})
CLOSED: Final = ("/_stcore/", "/media/", "/component/")
NEVER: Final = "/_stcore/agent/"  # would run pages without a browser or a cookie
SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
RETURN: Final = "dropline_return"  # cookie: the page that a visitor requested before signing in
# Streamlit elements, by script name. Their scripts are preloaded: until its script arrives, an element is a thin bar,
# and everything below it jumps when it is drawn.
DRAWN_WITH: Final = (
    *("ArrowVegaLiteChart", "embed", "Checkbox", "DataFrame", "DownloadButton", "FileUploader", "Html"),
    *("Multiselect", "NumberInput", "PageLink", "purify", "Selectbox", "TextArea", "TextInput"),
)
# Tells Streamlit's page where its server is (streamlit/streamlit#11537). Otherwise a page first asks below its own
# address, where there is no server, and waits 0.1 s before it asks again.
CONNECTS: Final = """
const base = new URL(".", location.href).href
window.__streamlit = { BACKEND_BASE_URL: base, MAIN_PAGE_BASE_URL: base }
"""
HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "accelerometer=(), autoplay=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), "
    "magnetometer=(), microphone=(), midi=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_STATIC: Final = Path(streamlit.__file__).parent / "static"
_LONGEST_RETURN: Final = 3000  # characters: browsers limit a cookie to 4096 bytes


@dataclass(frozen=True, slots=True)
class Policy:
    """The requests that are allowed."""

    hosts: frozenset[str]  # the app's allowed host names, in lower case
    any_address: bool = False  # whether any IP address is allowed as host; DNS rebinding needs a host name
    origin: str | None = None  # scheme, host and port behind a proxy; None without sign-in
    # returns the time when the identity in the cookies expires (s since 1970), None if they grant no access; there is
    # no function if there is no sign-in
    until: Callable[[Mapping[str, str]], float | None] | None = None

    def trusts(self, host: str) -> bool:
        """Return whether a Host header means this app (RFC 9110, 7.2); DNS rebinding sends another one."""
        try:
            parts = urlsplit(f"//{host}")
            name, _ = (parts.hostname or "").rstrip("."), parts.port
        except ValueError:
            return False
        known = name in self.hosts or (self.any_address and _is_address(name))
        return known and parts.netloc == host and "@" not in host

    def is_own(self, origin: str, host: str) -> bool:
        """Return whether an Origin header (RFC 6454, 7) names a page of this app."""
        return bool(origin) and origin in (self.origin, f"http://{host}", f"https://{host}")

    def identified_until(self, asked: HTTPConnection) -> float | None:
        """Return when the identity in a request expires; None if it has none, infinity without sign-in."""
        return self.until(asked.cookies) if self.until else math.inf


def _is_address(name: str) -> bool:
    try:
        return bool(ip_address(name))
    except ValueError:
        return False


def page() -> str:
    """Return Streamlit's page with `CONNECTS` and our style sheet, which as an element would arrive too late."""
    style = f"<style>{Path(__file__).with_name('style.css').read_text('utf-8')}</style></body>"
    html = (_STATIC / "index.html").read_text("utf-8").replace("</head>", f"<script>{CONNECTS}</script></head>")
    return html.replace("</body>", style)  # after Streamlit's own styles, which are in the head


def content_policy(page: str) -> str:
    """Return a Content-Security-Policy that allows the page's own inline scripts and no others."""
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    own = " ".join(f"'sha256-{each}'" for each in hashes)
    # Streamlit styles its elements inline, and loads a component's script from a blob.
    return (
        "default-src 'none'; "
        f"script-src 'self' blob: 'wasm-unsafe-eval' {own}; "
        "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; "
        "worker-src 'self' blob:; media-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    )


def preloaded() -> str:
    """Return the Link header (RFC 8288) that makes a browser preload the scripts of `DRAWN_WITH`."""
    found = sorted(file.name for name in DRAWN_WITH for file in (_STATIC / "static" / "js").glob(f"{name}.*.js"))
    return ", ".join(f'</static/js/{name}>; rel="modulepreload"; crossorigin' for name in found)


class Guard:
    """Refuse a request, or pass it on and add the headers to the response."""

    def __init__(self, app: ASGIApp, policy: Policy) -> None:
        self.app = app
        self.policy = policy
        self.headers = HEADERS | {"Content-Security-Policy": content_policy(page())}
        self.preloaded = preloaded()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or one websocket until its identity expires."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        asked = HTTPConnection(scope)
        refusal = self._refusal(asked)
        if scope["type"] == "http":
            await (refusal or self.app)(scope, receive, self._adding_headers(asked, send))
        elif refusal:
            await send({"type": "websocket.close", "code": 1008})
        else:
            until = self.policy.identified_until(asked)
            # without an identity the websocket stays open: it shows the sign-in page
            await self.app(scope, _ending(receive, send, until) if until else receive, send)

    def _refusal(self, asked: HTTPConnection) -> PlainTextResponse | None:
        host, origin = asked.headers.get("host", ""), asked.headers.get("origin", "")
        path = re.sub("/+", "/", asked.scope["path"])
        if not self.policy.trusts(host):
            return PlainTextResponse("This app does not have that host name; see docs/how-to/sign-in.md, --host.", 421)
        if asked.scope.get("method") not in SAFE and not self.policy.is_own(origin, host):
            return PlainTextResponse("Only pages of this app may send requests to it.", 403)
        if path.startswith(NEVER):
            return PlainTextResponse("Not found.", 404)
        if path.startswith(CLOSED) and path not in OPEN and self.policy.identified_until(asked) is None:
            return PlainTextResponse("Sign in first.", 401)
        return None

    def _adding_headers(self, asked: HTTPConnection, send: Send) -> Send:
        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(self.headers)
                if headers.get("content-type", "").startswith("text/html"):
                    headers["Link"] = self.preloaded
                if asked.scope["path"].startswith("/media/"):
                    headers["Cache-Control"] = "private, no-store"
                if self.policy.origin:
                    self._return(asked, headers)
                    _secure(message, self.policy.origin)
            await send(message)

        return add

    def _return(self, asked: HTTPConnection, headers: MutableHeaders) -> None:
        """Redirect a visitor who signed in to the page requested before."""
        path = asked.scope["path"]
        if path == "/auth/login" and (page := self._own_page(asked.headers.get("referer", ""))):
            headers.append("Set-Cookie", f"{RETURN}={page}; Path=/; Max-Age=600; HttpOnly; SameSite=Lax")
        elif path == "/oauth2callback" and headers.get("location") == "/" and (page := asked.cookies.get(RETURN)):
            headers["Location"] = self._own_page(f"{self.policy.origin}{page}") or "/"
            headers.append("Set-Cookie", f"{RETURN}=; Path=/; Max-Age=0")

    def _own_page(self, address: str) -> str | None:
        """Return path and query of an address if it is a page of this app and fits into a cookie."""
        page = address.removeprefix(self.policy.origin or "")
        harmless = re.fullmatch(r"/[\w%.~=&?+*'()!@:$-][\w%.~=&?+*'()!@:$/-]*", page, re.ASCII)
        return page if harmless and len(page) <= _LONGEST_RETURN else None


def _secure(message: Message, origin: str) -> None:
    """Mark cookies Secure; Streamlit, unaware of the TLS proxy, does not."""
    if origin.startswith("https://"):
        message["headers"] = [
            (name, value + b"; Secure" if name == b"set-cookie" and b"secure" not in value.lower() else value)
            for name, value in message["headers"]
        ]


def _ending(receive: Receive, send: Send, until: float) -> Receive:
    """Return a `receive` that disconnects when the identity expires; the page reconnects and asks to sign in."""

    async def get() -> Message:
        try:
            async with asyncio.timeout(None if until == math.inf else until - time.time()):
                return await receive()
        except TimeoutError:
            await send({"type": "websocket.close", "code": 1001})
            return {"type": "websocket.disconnect", "code": 1001}

    return get
