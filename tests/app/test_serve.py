"""Starting the dashboard: on this machine only, on a free port, with a clear word when the port is taken."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from app import serve
from home import Home

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind((serve.ADDRESS, 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_taken_port_names_the_option(taken_port: int) -> None:
    with pytest.raises(serve.PortTaken, match=rf"Port {taken_port} on 127\.0\.0\.1 .*`--port {taken_port + 1}`"):
        serve.claim(taken_port)


def test_a_free_port_is_left_free() -> None:
    with socket.socket() as probe:
        probe.bind((serve.ADDRESS, 0))
        free = probe.getsockname()[1]
    serve.claim(free)
    serve.claim(free)


def test_the_dashboard_is_served_to_this_machine_without_statistics() -> None:
    command = " ".join(serve.command(8600, open_browser=False))
    assert "--server.address 127.0.0.1 --server.port 8600 --server.headless true" in command
    assert "--browser.gatherUsageStats false" in command
    assert "--server.headless false" in " ".join(serve.command(8600, open_browser=True))


def test_serving_hands_over_the_home_and_leaves_this_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    handed: dict[str, str] = {}
    monkeypatch.setattr(os, "chdir", lambda _path: None)
    monkeypatch.setattr(os, "execve", lambda _program, _command, environment: handed.update(environment))
    monkeypatch.setattr(serve, "claim", lambda _port: None)
    serve.serve(Home(tmp_path), 8600, open_browser=False)
    assert handed["DROPLINE_HOME"] == str(tmp_path)
    assert Path(handed["PYTHONPATH"].split(os.pathsep)[0], "app", "main.py").exists()
