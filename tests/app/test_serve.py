"""Starting the dashboard: on this machine only, on a free port, with a clear word when the port is taken."""

import ast
import asyncio
import http.client
import os
import signal
import socket
import subprocess
import sys

import pytest

from benchmarks import soak
from dropline.app import serve
from dropline.app.uploads import ALLOWED
from dropline.errors import DroplineError
from dropline.paths import Home


def test_a_taken_port_names_the_option_and_a_free_one_is_left_free():
    with socket.socket() as listener:
        listener.bind((serve.ADDRESS, 0))
        port = listener.getsockname()[1]
        listener.listen()
        with pytest.raises(DroplineError, match=rf"Port {port} on 127\.0\.0\.1 .*`--port {port + 1}`"):
            serve.claim(port)
    serve.claim(port)
    serve.claim(port)


def test_nothing_secret_is_among_the_arguments():
    command = serve.command(8600, open_browser=True, address="192.0.2.7", hosts=("bench.lan", "bench"))
    assert " ".join(command[3:]) == "--address 192.0.2.7 --port 8600 --host bench.lan --host bench --browser"
    assert "--browser" not in serve.command(8600, open_browser=False)


@pytest.fixture
def handed(monkeypatch):
    """What the process that serves is given; it is not started."""
    handed = {}
    monkeypatch.setattr(os, "chdir", lambda _path: None)
    monkeypatch.setattr(os, "execve", lambda _program, _command, environment: handed.update(environment))
    monkeypatch.setattr(serve, "claim", lambda _port, _address: None)
    monkeypatch.delenv(ALLOWED, raising=False)
    return handed


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", "::1", "127.8.9.10"])
def test_serving_this_machine_hands_over_the_home_and_needs_no_sign_in(handed, tmp_path, address):
    serve.serve(Home(tmp_path), 8600, open_browser=False, address=address)
    assert handed["DROPLINE_HOME"] == str(tmp_path)
    assert ALLOWED not in handed
    serve.serve(Home(tmp_path), 8600, open_browser=False, address=address, allow_upload=True)
    assert handed[ALLOWED] == "1"


@pytest.mark.parametrize("address", ["0.0.0.0", "192.0.2.7", "::", "bench.lan"])  # noqa: S104 - nothing is bound
def test_nobody_else_is_let_in_unasked(handed, tmp_path, address):
    with pytest.raises(DroplineError, match=rf"--address {address}: .*sign-in\.md.*`--no-sign-in`"):
        serve.serve(Home(tmp_path), 8600, open_browser=False, address=address)
    assert not handed
    serve.serve(Home(tmp_path), 8600, open_browser=False, address=address, no_sign_in=True)
    assert handed


def test_ctrl_c_ends_it_with_one_line_though_a_page_is_open(tmp_path):
    async def interrupt(port, server):
        async with soak.visiting(port) as visitor:
            await visitor.open("try_file", "")
            server.send_signal(signal.SIGINT)
            return (await asyncio.to_thread(server.communicate, timeout=20))[0]

    with socket.socket() as probe:
        probe.bind((serve.ADDRESS, 0))
        port = probe.getsockname()[1]
    program, given = serve.command(port, open_browser=False), serve.environment(Home(tmp_path))
    with subprocess.Popen(
        program, cwd=serve.ROOT, env=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as server:
        try:
            soak.wait_for(port)
            said = asyncio.run(interrupt(port, server))
        finally:
            server.kill()
    assert (server.returncode, said) == (serve.INTERRUPTED, b"Dropline is closed.\n")


def imported_by_pages():
    """Return the modules of ours that pages import when they run."""
    found = set()
    for page in (serve.ROOT / "app" / "views").glob("*.py"):
        for node in ast.parse(page.read_text("utf-8")).body:
            if isinstance(node, ast.ImportFrom) and (room := node.module or "").startswith("dropline"):
                parts = [f"{room}.{each.name}" for each in node.names]
                files = {part: serve.ROOT.joinpath(*part.split(".")[1:]).with_suffix(".py") for part in parts}
                found |= {part if file.exists() else room for part, file in files.items()}
    return found


def test_whatever_a_page_needs_is_imported_once_and_no_garbage_before_anybody_asks():
    code = "import gc, sys; from dropline.app import serve; serve.settle(); print(gc.get_freeze_count(), *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=serve.ROOT, capture_output=True, text=True, check=True)
    kept, *there = done.stdout.split()
    assert len(imported_by_pages()) > 20
    assert imported_by_pages() | {"altair", "duckdb", "pandas", "pyarrow"} <= {*there}
    assert int(kept) > 50_000


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """The port of the app over an empty home, and its log."""
    folder = tmp_path_factory.mktemp("served")
    with soak.served(folder, folder / "app.log") as (port, _):
        yield port, folder / "app.log"


def ask(port, method, path, body=None, **headers):
    asking = http.client.HTTPConnection(serve.ADDRESS, port, timeout=20)
    asking.request(method, path, body, headers, encode_chunked="Transfer-Encoding" in headers)
    answer = asking.getresponse()
    answer.read()
    return answer


STATUSES = {
    "GET /": 200,
    "HEAD /": 200,
    "GET /planner": 200,
    "GET /_stcore/health": 200,
    "GET /_stcore/metrics": 200,
    "OPTIONS /_stcore/upload_file/a/b": 204,
    "GET /static/nothing.js": 200,  # the page itself, which says that there is nothing
    "GET /media/nothing.csv": 404,
    "GET /component/nothing": 404,
    "GET /_stcore/agent/openapi.json": 404,
    "GET /auth/login": 302,
    "GET //evil.example/%2e%2e": 400,
    "PUT /_stcore/upload_file/a/b": 403,
}
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "server": None,  # nor what it is served by
}


@pytest.mark.parametrize(("asked", "status"), STATUSES.items())
def test_every_kind_of_answer_has_the_headers(running, asked, status):
    answer = ask(running[0], *asked.split())
    assert answer.status == status
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self' ")
    assert "frame-ancestors 'none'" in policy
    assert "camera=()" in answer.headers["permissions-policy"]


def test_a_file_that_is_too_large_is_refused_whatever_its_header_says(running):
    port, log = running

    async def upload():
        async with soak.visiting(port) as visitor:
            messages = await visitor.open("try_file", "")
            assert any(b"Try a file" in each.SerializeToString() for each in messages), "the page asked for"
            (opened, *_) = [each for each in messages if each.HasField("new_session")]
            path = f"/_stcore/upload_file/{opened.new_session.initialize.session_id}/file"
            token = soak.forgery_token(port)
            own = {"Origin": f"http://{serve.ADDRESS}:{port}", "Content-Type": "multipart/form-data; boundary=x"}
            trusted = own | {"Cookie": f"_streamlit_xsrf={token}", "X-Xsrftoken": token}
            chunked = trusted | {"Transfer-Encoding": "chunked"}
            foreign = trusted | {"Origin": "http://localhost:3000"}
            small, large = multipart(1000), multipart(18 * 2**20)
            sent = ((small, trusted), (large, trusted), (large, chunked), (small, own), (small, foreign))
            bodies = [iter([body]) if "Transfer-Encoding" in how else body for body, how in sent]
            answers = [ask(port, "PUT", path, body, **how) for body, (_, how) in zip(bodies, sent, strict=True)]
            return [answer.status for answer in answers]

    assert asyncio.run(upload()) == [204, 413, 413, 403, 403]
    assert "Traceback" not in log.read_text()


def multipart(size):
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
    return head + b"a" * size + b"\r\n--x--\r\n"
