"""The middleware between the network and Streamlit, before an application that answers everything."""

from __future__ import annotations

import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse
from starlette.routing import Router
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from dropline.app import auth, serve
from dropline.app.middleware import DRAWN_WITH, Guard, Policy, content_policy, page, preloaded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import Receive, Scope, Send

HERE = "http://127.0.0.1:8501"
PUBLIC = "https://bench.example"


async def streamlit(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer everything, as if there were data everywhere."""
    if scope["type"] == "websocket":
        websocket = WebSocket(scope, receive, send)
        await websocket.accept()
        await websocket.send_text("data")
        await websocket.receive()
        return
    if scope["path"] == "/oauth2callback":
        answer: Any = RedirectResponse("/", 302)
        answer.set_cookie("_streamlit_user", "signed")
    else:
        answer = PlainTextResponse("data")
    await answer(scope, receive, send)


def client(policy: Policy, base: str = HERE) -> TestClient:
    return TestClient(Guard(streamlit, policy), base, follow_redirects=False)


def until(cookies: Mapping[str, str]) -> float | None:
    return float(cookies["until"]) if "until" in cookies else None


LOCAL = serve.policy("127.0.0.1", (), None)
SIGNED = Policy(frozenset({"bench.example"}), origin=PUBLIC, until=until)


OPEN_TO_ALL = serve.policy("::", ("Bench.Lan",), None)


@pytest.mark.parametrize(
    ("policy", "hosts"),
    [
        (LOCAL, ("127.0.0.1:8501", "127.0.0.1", "localhost:8501", "localhost:1", "LOCALHOST.", "[::1]:8501")),
        (OPEN_TO_ALL, ("192.0.2.7:8501", "[2001:db8::1]", "bench.lan")),
    ],
    ids=["this machine", "beyond it"],
)
def test_a_machine_is_addressed_by_its_own_names(policy, hosts):
    assert {host: client(policy).get("/", headers={"Host": host}).status_code for host in hosts} == dict.fromkeys(
        hosts, 200
    )
    assert client(policy).get("/", headers={"Host": "evil.example"}).status_code == 421


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:8501", "127.0.0.1.evil.example", "127.0.0.1@evil.example", "a@127.0.0.1"),
        *("127.0.0.1/x", "127.0.0.1:x", "127.0.0.1:99999", "[::1", "10.0.0.1", "", " ", "localhost:8501,evil.example"),
    ],
)
@pytest.mark.parametrize("path", ["/", "/sql?sql=select+1", "/media/x.csv", "/_stcore/health", "/static/x.js"])
def test_another_name_is_refused_so_that_no_page_can_rebind_its_own(host, path):
    answer = client(LOCAL).get(path, headers={"Host": host})
    assert answer.status_code == 421
    assert "data" not in answer.text
    assert "content-security-policy" in answer.headers, "with which the others come: test_serve"
    with (
        pytest.raises(WebSocketDisconnect),
        client(LOCAL).websocket_connect("/_stcore/stream", headers={"Host": host, "Origin": f"http://{host}"}),
    ):
        pass


FOREIGN = ("http://localhost:3000", "http://127.0.0.1:3000", "http://127.0.0.1", "http://evil.example", "null", "")


@pytest.mark.parametrize("origin", [HERE, *FOREIGN, "file://127.0.0.1:8501", None])
def test_only_pages_of_this_app_send_something(origin):
    sent = {"Host": "127.0.0.1:8501"} | ({} if origin is None else {"Origin": origin})
    for method in ("PUT", "POST", "DELETE", "PATCH"):
        answer = client(LOCAL).request(method, "/_stcore/upload_file/session/file", headers=sent)
        assert answer.status_code == (200 if origin == HERE else 403), method
    with nullcontext() if origin == HERE else pytest.raises(WebSocketDisconnect):  # noqa: SIM117
        with client(LOCAL).websocket_connect("/_stcore/stream", headers=sent) as websocket:
            assert websocket.receive_text() == "data"


def test_behind_a_proxy_that_changes_the_host_the_public_origin_counts():
    provider = {
        "client_id": "x",
        "client_secret": "x",
        "server_metadata_url": PUBLIC,
        "redirect_uri": f"{PUBLIC}/oauth2callback",
    }
    sign_in = auth.SignIn.model_validate({"auth": provider, "access": {"viewers": ["x"]}})
    guard = serve.policy("127.0.0.1", (), sign_in)
    sent = {"Origin": PUBLIC, "Host": "127.0.0.1:8501"}
    with client(guard).websocket_connect("/_stcore/stream", headers=sent) as websocket:
        assert websocket.receive_text() == "data"


@pytest.mark.parametrize(
    "path",
    [
        *("/media/abc.csv", "//media/abc.csv", "/_stcore/metrics", "/_stcore/upload_file/a/b", "/component/x/y.html"),
        *("/_stcore/bidi-components/x", "/_stcore/script-health-check", "/_stcore/what-comes-next"),
        "/_stcore//metrics",
    ],
)
def test_what_may_hold_data_wants_an_identity_that_has_not_ended(path):
    asking = client(SIGNED, PUBLIC)
    answer = asking.get(PUBLIC + path)
    assert (answer.status_code, answer.text) == (401, "Sign in first.")
    assert "content-security-policy" in answer.headers, "with which the others come: test_serve"
    assert asking.get(PUBLIC + path, headers={"Cookie": f"until={time.time() + 60}"}).text == "data"


def test_the_page_that_asks_to_sign_in_is_open_and_the_api_that_needs_no_browser_never_there():
    for path in ("/", "/explore", "/static/js/index.js", "/_stcore/health", "/auth/login"):
        assert client(SIGNED, PUBLIC).get(path).status_code == 200, path
    for path in ("/_stcore/agent/interact", "/_stcore/agent/openapi.json", "/_stcore//agent/mcp"):
        assert client(LOCAL).post(path, headers={"Origin": HERE}).status_code == 404
        assert client(LOCAL).get(path).status_code == 404


def test_a_page_is_cut_off_when_its_identity_ends():
    sent = {"Host": "bench.example", "Origin": PUBLIC, "Cookie": f"until={time.time() + 0.3}"}
    began = time.monotonic()
    with client(SIGNED, PUBLIC).websocket_connect("/_stcore/stream", headers=sent) as websocket:
        assert websocket.receive_text() == "data"
        with pytest.raises(WebSocketDisconnect):
            websocket.receive_text()
    assert 0.2 < time.monotonic() - began < 5


def test_whoever_signs_in_comes_back_to_the_page_he_asked_for():
    asking = client(SIGNED, PUBLIC)
    page = "/compare?a=Kea+2.2%2C%20memfile&b=x&b=y"
    assert asking.get("/auth/login", headers={"Referer": PUBLIC + page}).status_code == 200
    assert asking.get("/oauth2callback").headers["location"] == page
    assert "dropline_return" not in asking.cookies, "once"
    assert asking.get("/oauth2callback").headers["location"] == "/"


@pytest.mark.parametrize(
    "place",
    [
        *("https://evil.example/x", "//evil.example", "/\\evil.example", "/x y", "/é", "", "/", "x", "/" + "a" * 4000),
        *("javascript:alert(1)", f"{PUBLIC}//evil.example", f"{PUBLIC}.evil.example/x", f"{PUBLIC}@evil.example/x"),
    ],
)
def test_nobody_is_led_elsewhere_after_signing_in(place):
    asking = client(SIGNED, PUBLIC)
    asking.get("/auth/login", headers={"Referer": place.encode()})
    assert asking.get("/oauth2callback").headers["location"] == "/"
    answer = asking.get("/oauth2callback", headers={"Cookie": f"dropline_return={place}".encode()})
    assert answer.headers["location"] == "/"


def test_cookies_stay_off_unencrypted_connections_behind_tls_and_downloads_out_of_caches():
    for policy, base, secure in ((SIGNED, PUBLIC, True), (LOCAL, HERE, False)):
        assert ("Secure" in client(policy, base).get("/oauth2callback").headers["set-cookie"]) is secure
    assert client(LOCAL).get("/media/x.csv").headers["cache-control"] == "private, no-store"


def test_the_policy_of_content_names_the_scripts_of_the_page():
    # echo -n 'alert(1)' | openssl dgst -sha256 -binary | base64
    hashed = "script-src 'self' blob: 'wasm-unsafe-eval' 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='; "
    assert hashed in content_policy("<script>alert(1)</script><script src='x'></script>")
    policy = content_policy(page())
    assert policy.count("'sha256-") == page().count("<script>") == 2, "Streamlit's and the address of the server"
    assert "'unsafe-eval'" not in policy
    assert "http" not in policy, "nothing comes from elsewhere"


def test_the_scripts_that_pages_are_drawn_with_are_fetched_with_the_page():
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await HTMLResponse("<html>")(scope, receive, send)

    link = TestClient(Guard(answer, LOCAL), HERE).get("/").headers["link"]
    assert link == preloaded()
    for name in DRAWN_WITH:
        assert link.count(f"</static/js/{name}.") == 1, f"Streamlit calls its script otherwise now: {name}"
    assert "link" not in client(LOCAL).get("/media/x.csv").headers


def test_the_name_of_the_first_page_leads_to_it_with_what_was_asked():
    answer = TestClient(Router(serve.page_routes()), follow_redirects=False).get("/results?goal=ndr")
    assert (answer.status_code, answer.headers["location"]) == (307, "/?goal=ndr")
