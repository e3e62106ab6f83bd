"""Start the dashboard for the command line."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from errors import DroplineError

if TYPE_CHECKING:
    from home import Home

ROOT: Final = Path(__file__).parent.parent
ADDRESS: Final = "127.0.0.1"


class PortTaken(DroplineError):
    """Something else listens where the dashboard was to."""


def serve(home: Home, port: int, *, open_browser: bool) -> NoReturn:
    """Become the dashboard of `home` at http://127.0.0.1:`port`, until Ctrl-C; this process is replaced.

    Raises:
        PortTaken: another program listens on the port.
    """
    claim(port)
    print(f"Dropline is at http://{ADDRESS}:{port}; Ctrl-C ends it.", flush=True)
    os.chdir(ROOT)  # where .streamlit/config.toml lies
    environment = os.environ | {"DROPLINE_HOME": str(home.root), "PYTHONPATH": _python_path()}
    os.execve(sys.executable, command(port, open_browser=open_browser), environment)  # noqa: S606 - no shell is meant


def command(port: int, *, open_browser: bool) -> list[str]:
    """Return the command that serves the app on this machine only."""
    return [
        sys.executable,
        *("-m", "streamlit", "run", str(ROOT / "app" / "main.py")),
        *("--server.address", ADDRESS, "--server.port", str(port)),
        *("--server.headless", "false" if open_browser else "true"),
        *("--server.showEmailPrompt", "false", "--browser.gatherUsageStats", "false"),
    ]


def claim(port: int) -> None:
    """Make sure that the port is free.

    Raises:
        PortTaken: it is not, or we may not have it.
    """
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((ADDRESS, port))
        except OSError as error:
            message = (
                f"Port {port} on {ADDRESS} cannot be used ({error.strerror}). Is Dropline open already? "
                f"Otherwise name another port, e.g. `--port {port + 1 if port < 65535 else 8501}`."
            )
            raise PortTaken(message) from error


def _python_path() -> str:
    return os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
