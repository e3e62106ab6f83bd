"""Signing in with an identity provider of this machine, in a real Chromium, and what must not get around it."""

import asyncio
import http.client
import re
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import expect

from benchmarks import soak
from dropline.app.serve import ADDRESS, ROOT, command, environment
from dropline.paths import Home

SECRET = "the-client-secret-4711"  # noqa: S105 - of this test
PEOPLE = {
    "vera": {"email": "vera@example.org", "email_verified": True, "groups": ["readers"]},
    "eddie": {"email": "eddie@example.org", "email_verified": True, "groups": ["writers"]},
    "eve": {"email": "eve@example.net", "email_verified": True, "groups": ["others"]},
}
CAPTURE = ROOT / "tests/captures/perfdhcp/odd/013_v6_t1.txt"


@dataclass
class Guarded:
    """An app that asks who comes."""

    home: Path
    port: int
    log: Path

    @property
    def address(self):
        return f"http://{ADDRESS}:{self.port}"

    def get(self, path, **headers):
        asking = http.client.HTTPConnection(ADDRESS, self.port, timeout=20)
        asking.request("GET", path, headers=headers)
        answer = asking.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace"), dict(answer.headers)


def free_port():
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return int(probe.getsockname()[1])


@contextmanager
def guarded_app(home, warehouse, lasting):
    provider = pytest.importorskip("oidc_provider_mock")
    people = [provider.User(sub=name, claims=claims) for name, claims in PEOPLE.items()]
    app = Guarded(home, free_port(), home / "app.log")
    (home / "warehouse.duckdb").symlink_to(warehouse)
    with provider.run_server_in_thread(user_claims=people, access_token_max_age=lasting) as identities:
        secrets = home / "secrets.toml"
        secrets.touch(0o600)
        secrets.write_text(
            f"""
            [auth]
            redirect_uri = "{app.address}/oauth2callback"
            client_id = "dropline"
            client_secret = "{SECRET}"
            server_metadata_url = "http://localhost:{identities.server_port}/.well-known/openid-configuration"
            [access]
            viewers = ["readers"]
            editors = ["writers"]
            ask = "Ada, ada@example.org"
            """
        )
        program, given = command(app.port, open_browser=False), environment(Home(home))
        given["DROPLINE_ALLOW_UPLOADS"] = "1"
        with (
            app.log.open("wb") as out,
            subprocess.Popen(program, cwd=ROOT, env=given, stdout=out, stderr=out) as server,
        ):
            soak.wait_for(app.port)
            try:
                yield app
            finally:
                server.terminate()
    said = app.log.read_text()
    assert "Traceback" not in said
    assert SECRET not in said
    assert "code=" not in said, "nor a code of a sign-in"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory, warehouse_home):
    home = tmp_path_factory.mktemp("guarded")
    with guarded_app(home, warehouse_home / "warehouse.duckdb", timedelta(hours=1)) as app:
        yield app


@pytest.fixture
def context(chromium):
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    yield context
    context.close()


def sign_in(context, app, who, path="/"):
    page = context.new_page()
    page.goto(app.address + path)
    page.get_by_role("button", name="Sign in").click()
    page.fill("input[name=sub]", who)
    page.get_by_role("button", name="Authorize").click()
    return page


def cookies(context):
    return {each["name"]: each["value"] for each in context.cookies()}


def everything(port, sent):
    """All that the websocket tells whoever has these cookies, on every page."""

    async def ask():
        found = b""
        async with soak.visiting(port, sent) as visitor:
            for page, query in soak.PAGES:
                found += b"".join(each.SerializeToString() for each in await visitor.open(page, query))
        return found

    with ThreadPoolExecutor(1) as aside:  # this thread has a loop: that of Playwright
        return aside.submit(asyncio.run, ask()).result()


def test_a_viewer_sees_the_page_that_he_asked_for_and_stores_nothing(context, guarded):
    page = sign_in(context, guarded, "vera", "/planner?clients=4711")
    expect(page.get_by_role("heading", name="Plan")).to_be_visible(timeout=30_000)
    assert page.url == f"{guarded.address}/planner?clients=4711"
    expect(page.get_by_text("vera@example.org, viewer")).to_be_visible()
    page.goto(f"{guarded.address}/try_file")
    page.set_input_files("input[type=file]", CAPTURE)
    expect(page.get_by_text("It is not stored: only editors can store files.")).to_be_visible(timeout=30_000)
    expect(page.get_by_role("button", name="Keep it")).to_have_count(0)
    assert SECRET not in page.content()
    assert not (guarded.home / "uploads").exists()


def test_an_editor_brings_a_file_into_the_lake(context, guarded):
    page = sign_in(context, guarded, "eddie", "/try_file")
    expect(page.get_by_role("heading", name="Add results")).to_be_visible(timeout=30_000)
    page.set_input_files("input[type=file]", CAPTURE)
    page.get_by_role("button", name="Keep it").click(timeout=30_000)
    expect(page.get_by_text("The file is in the lake")).to_be_visible(timeout=60_000)
    assert list((guarded.home / "lake" / "log").glob("0*"))


def test_a_stranger_is_told_whom_to_ask(context, guarded):
    page = sign_in(context, guarded, "eve")
    why = "eve@example.net has no role in this Dropline. Ask Ada, ada@example.org."
    expect(page.get_by_text(why)).to_be_visible(timeout=30_000)
    assert b"kea" not in everything(guarded.port, cookies(context)).lower()
    page.get_by_role("button", name="Sign out").click()


def test_signing_out_ends_it(context, guarded):
    page = sign_in(context, guarded, "vera")
    expect(page.get_by_role("heading", name="Results")).to_be_visible(timeout=30_000)
    assert b"kea" in everything(guarded.port, cookies(context)).lower()
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(re.compile("/oauth2/end_session"), timeout=30_000)  # the provider's own sign-out
    assert "_streamlit_user" not in cookies(context)
    page.goto(guarded.address)
    expect(page.get_by_role("button", name="Sign in")).to_be_visible(timeout=30_000)


def test_a_cookie_that_was_changed_or_made_up_opens_nothing(context, guarded):
    page = sign_in(context, guarded, "eddie")
    expect(page.get_by_text("eddie@example.org, editor")).to_be_visible(timeout=30_000)
    good = cookies(context)["_streamlit_user"]
    assert b"kea" in everything(guarded.port, {"_streamlit_user": good}).lower()
    middle = len(good) // 3
    for bad in (good[:middle] + ("A" if good[middle] != "A" else "B") + good[middle + 1 :], good[:-2], "e30.x.y", ""):
        found = everything(guarded.port, {"_streamlit_user": bad})
        assert b"kea" not in found.lower()
        assert b"Sign in to see the measurements" in found
        assert guarded.get("/_stcore/metrics", Cookie=f"_streamlit_user={bad}")[0] == 401
    assert guarded.get("/_stcore/metrics", Cookie=f"_streamlit_user={good}")[0] == 200


def test_without_an_identity_no_door_gives_data(context, guarded):
    found = everything(guarded.port, {})
    assert b"kea" not in found.lower()
    assert SECRET.encode() not in found
    page = sign_in(context, guarded, "vera", "/planner?clients=4711")
    page.get_by_role("button", name="Data and SQL").first.click(timeout=30_000)
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV", exact=True).first.click(timeout=30_000)
    media = download.value.url.removeprefix(guarded.address)
    assert media.startswith("/media/")
    own = "; ".join(f"{name}={value}" for name, value in cookies(context).items())
    status, rows, _ = guarded.get(media, Cookie=own)
    assert (status, rows.count("\n") > 1) == (200, True)
    for path in (media, "/" + media, "/_stcore/metrics", "/_stcore/agent/openapi.json", "/_stcore/script-health-check"):
        status, text, headers = guarded.get(path)
        assert status in (401, 404), path
        assert text != rows
        assert "default-src 'none'" in headers["content-security-policy"]
    for path in ("/", "/sql", "/app/static/main.py", "/static/../secrets.toml", "/secrets.toml", "/main.py"):
        assert SECRET not in guarded.get(path)[1], path


def test_a_page_is_closed_when_the_identity_ends(context, tmp_path, warehouse_home):
    with guarded_app(tmp_path, warehouse_home / "warehouse.duckdb", timedelta(seconds=8)) as app:
        page = sign_in(context, app, "vera")
        expect(page.get_by_role("heading", name="Results")).to_be_visible(timeout=30_000)
        # nobody touches it
        expect(page.get_by_text("Your sign-in has ended. Sign in again.")).to_be_visible(timeout=30_000)
        expect(page.get_by_role("heading", name="Results")).to_have_count(0)
        assert b"kea" not in everything(app.port, cookies(context)).lower()
