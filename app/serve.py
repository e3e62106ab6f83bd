"""Server of the dashboard, which replaces the command line's process."""

from __future__ import annotations

import gc
import json
import os
import pkgutil
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn
from urllib.parse import urlsplit

from dropline.app import auth
from dropline.app.auth import SignIn
from dropline.app.uploads import ALLOWED
from dropline.errors import DroplineError
from dropline.paths import Home

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.routing import Route
    from streamlit.starlette import App

    from dropline.app.middleware import Policy

ROOT: Final = Path(__file__).parent.parent
ADDRESS: Final = "127.0.0.1"
MOST_CONNECTIONS: Final = 1000  # each visitor keeps one open, and uses several while a page loads
GRACE_S: Final = 3
INTERRUPTED: Final = 130  # exit code of shells: 128 + SIGINT


def serve(
    home: Home,
    port: int,
    *,
    open_browser: bool,
    address: str = ADDRESS,
    hosts: Sequence[str] = (),
    secrets: Path | None = None,
    no_sign_in: bool = False,
    allow_upload: bool = False,
) -> NoReturn:
    """Replace this process by the dashboard of `home` at http://`address`:`port`, until Ctrl-C.

    0.0.0.0 means every address of this machine. `hosts` are allowed host names besides `address` and that of the
    redirect_uri; `secrets` configures sign-in, by default the file that the environment names, or that of the home;
    `no_sign_in` lets other machines connect without it; `allow_upload` lets editors (without sign-in: all) store files.

    Raises:
        DroplineError: another program listens on the port, or the sign-in configuration is invalid; or there is none,
            other machines can reach the address, and `no_sign_in` is false.
    """
    if secrets:
        os.environ[auth.FILE] = str(secrets.absolute())
    sign_in = auth.configured(home)
    if sign_in is None and not auth.is_loopback(address) and not no_sign_in:
        raise DroplineError(
            f"--address {address}: anyone who can reach it could read everything. Set up sign-in (see "
            "docs/how-to/sign-in.md), or add `--no-sign-in` if that is what you want."
        )
    claim(port, address)
    print(f"Dropline is at {shown(address, port, sign_in)}; Ctrl-C stops it.", flush=True)
    os.chdir(ROOT)  # the folder of .streamlit/config.toml
    given = environment(home) | ({ALLOWED: "1"} if allow_upload else {})
    program = command(port, open_browser=open_browser, address=address, hosts=hosts)
    os.execve(sys.executable, program, given)  # noqa: S606 - without a shell on purpose


def command(port: int, *, open_browser: bool, address: str = ADDRESS, hosts: Sequence[str] = ()) -> list[str]:
    """Return the command that serves the app, without secrets."""
    browser = ["--browser"] if open_browser else []
    named = [part for host in hosts for part in ("--host", host)]
    return [sys.executable, "-m", "dropline.app.serve", "--address", address, "--port", str(port), *named, *browser]


def environment(home: Home) -> dict[str, str]:
    """Return the environment of the process that serves a home: ours, with the home's settings.

    Each page runs in its own thread. By default malloc uses up to eight arenas per core (mallopt(3)), over which freed
    memory fragments; two arenas save memory at no measurable cost.
    """
    return {"MALLOC_ARENA_MAX": "2", **os.environ, "DROPLINE_HOME": str(home.root)}


def shown(address: str, port: int, sign_in: SignIn | None) -> str:
    """Return the address to type into a browser."""
    if sign_in:
        return sign_in.origin
    everywhere = address in ("0.0.0.0", "::")  # noqa: S104 - compared, not bound to
    return f"http://{'localhost' if everywhere else f'[{address}]' if ':' in address else address}:{port}"


def claim(port: int, address: str = ADDRESS) -> None:
    """Check that the port is free; raise DroplineError if it is in use or forbidden."""
    try:
        listen(port, address).close()
    except OSError as error:
        raise DroplineError(
            f"Port {port} on {address} cannot be used ({error.strerror}). Is Dropline already running? "
            f"Otherwise choose another port, e.g. `--port {port + 1 if port < 65535 else 8501}`."
        ) from error


def listen(port: int, address: str) -> socket.socket:
    """Return a listening socket; connections wait in its queue until the server accepts them."""
    return socket.create_server((address, port), family=socket.AF_INET6 if ":" in address else socket.AF_INET)


def policy(address: str, hosts: Sequence[str], sign_in: SignIn | None) -> Policy:
    """Return the middleware's policy for an address."""
    from dropline.app.middleware import Policy

    origin = sign_in.origin if sign_in else None
    own = {"localhost", ADDRESS, "::1", address, urlsplit(origin or "").hostname or "", *hosts}
    return Policy(
        hosts=frozenset(name.lower() for name in own if name),
        any_address=not auth.is_loopback(address),
        origin=origin,
        until=partial(_identified_until, sign_in) if sign_in else None,
    )


def _identified_until(sign_in: SignIn, cookies: Mapping[str, str]) -> float | None:
    # No public function reads the cookie outside a page; Streamlit's version is pinned, and a test covers this.
    from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME
    from streamlit.web.server.starlette.starlette_websocket import _get_signed_cookie_with_chunks

    try:
        claims = json.loads(_get_signed_cookie_with_chunks(dict(cookies), USER_COOKIE_NAME) or b"{}")
        return sign_in.person(claims, time.time()).until if claims.get("origin") == sign_in.origin else None
    except (auth.NotAdmitted, ValueError):
        return None


def application(
    home: Home, address: str = ADDRESS, hosts: Sequence[str] = (), when_ready: Callable[[], Any] = bool
) -> App:
    """Return the dashboard of a home as an ASGI application."""
    sign_in = auth.configured(home)
    os.environ["STREAMLIT_SECRETS_FILES"] = "[]"  # only the secrets passed here, not those in the user's home directory

    import streamlit as st
    from starlette.middleware import Middleware
    from streamlit.components.v2 import manifest_scanner

    from dropline.app import editor
    from dropline.app.middleware import Guard

    # Streamlit searches all packages for components, which takes a fifth of the start; there are none.
    manifest_scanner.scan_component_manifests = list  # type: ignore[assignment]

    @asynccontextmanager
    async def ready(_: App) -> AsyncIterator[None]:
        settle()
        when_ready()
        yield
        gc.unfreeze()  # at exit, DuckDB complains about objects left over

    return st.App(
        ROOT / "app" / "main.py",
        secrets={"auth": sign_in.for_streamlit(auth.cookie_secret(home))} if sign_in else None,
        routes=[*editor.routes(), *page_routes()],
        middleware=[Middleware(Guard, policy=policy(address, hosts, sign_in))],
        lifespan=ready,
    )


def page_routes() -> list[Route]:
    """Return routes that serve our HTML at each page's address; /results redirects to /, its address in Streamlit."""
    from starlette.responses import HTMLResponse, RedirectResponse
    from starlette.routing import Route

    from dropline.app.middleware import page

    html = page()

    async def serve_page(_: Request) -> HTMLResponse:  # a new one per request, as compression changes its headers
        return HTMLResponse(html, headers={"Cache-Control": "no-cache"})

    async def to_results(request: Request) -> RedirectResponse:
        return RedirectResponse(str(request.url.replace(scheme="", netloc="", path="/")))

    names = ["", *(file.stem for file in (ROOT / "app" / "views").glob("*.py") if file.stem != "results")]
    return [Route("/results", to_results), *(Route(f"/{name}", serve_page) for name in names)]


def settle() -> None:
    """Import the pages' modules before the first request, and exempt them from garbage collection.

    Pages run in threads, which would see each other's half-imported modules. Streamlit collects garbage after every
    run; scanning all imported objects, which stay alive anyway, took longer than many pages.
    """
    from dropline import app
    from dropline.measure import progress  # noqa: F401 - main.py imports it, and a page

    for part in pkgutil.walk_packages(app.__path__, f"{app.__name__}."):
        if part.name != f"{app.__name__}.main":  # a script for Streamlit, not a module
            import_module(part.name)
    gc.collect()
    gc.freeze()


def main(address: str = ADDRESS, port: int = 8501, host: list[str] | None = None, browser: bool = False) -> None:
    """Serve the home that DROPLINE_HOME names until a signal arrives."""
    import webbrowser

    import uvicorn

    home, hosts = Home.chosen(), host or ()
    page = shown(address, port, auth.configured(home))
    settings = uvicorn.Config(
        application(home, address, hosts, partial(webbrowser.open, page) if browser else bool),
        ws="websockets-sansio",  # as in Streamlit's own server
        ws_max_size=2**24,
        ws_per_message_deflate=False,  # as in Streamlit's own server: compression takes longer than it saves
        access_log=False,
        log_level="warning",
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=GRACE_S,
    )
    try:
        uvicorn.Server(settings).run([listen(port, address)])
    except KeyboardInterrupt:  # uvicorn raises it again after it has closed everything
        print("Dropline is closed.", file=sys.stderr)
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    import typer

    typer.run(main)
