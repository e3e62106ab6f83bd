"""The wheel: all that the program needs is in it, under one import name."""

import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.error
import urllib.request
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parent.parent
LEFT_OUT = shutil.ignore_patterns(".*", "build", "target", "data", "captures", "*.egg-info", "__pycache__")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, made from a copy: making it leaves files beside the sources."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, folder / "checkout", ignore=LEFT_OUT)
    shutil.copytree(ROOT / ".streamlit", folder / "checkout/.streamlit")
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index")
    command = [sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", folder, folder / "checkout"]
    subprocess.run(command, check=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """An environment with the wheel, and the packages of this one beside it but not the checkout."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    (packages / "beside.pth").write_text(sysconfig.get_path("purelib") + "\n")
    options = ("--quiet", "--no-deps", "--no-index", "--prefix", folder)
    subprocess.run([sys.executable, "-m", "pip", "install", "--ignore-installed", *options, wheel], check=True)
    return folder / "bin"


def page(port, shown):
    """The status of the dashboard's page, once it answers."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and shown.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as answer:
                return answer.status
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.2)
    pytest.fail(f"the dashboard does not answer on port {port}")


def test_there_is_one_import_name_with_the_plans_to_begin_with_and_small_examples(wheel):
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        packed = sum(each.compress_size for each in archive.infolist() if "/examples/" in each.filename)
    roots = {name.partition("/")[0] for name in names}
    assert {root for root in roots if not root.endswith(".dist-info")} == {"dropline"}
    assert 0 < packed < 2_000_000
    assert "dropline/compiled.json" in names
    plans = {f"dropline/{path.relative_to(ROOT)}" for path in (ROOT / "measure/plans").rglob("*") if path.is_file()}
    assert {name for name in names if name.startswith("dropline/measure/plans/")} == plans != set()


def test_from_elsewhere_it_ingests_builds_answers_and_shows(installed, tmp_path):
    home = tmp_path / "home"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    where = [installed / "python", "-c", "import dropline; print(dropline.__file__, end='')"]
    assert Path(subprocess.check_output(where, cwd=tmp_path, text=True)).is_relative_to(installed.parent)
    program = [installed / "dropline", "--home", home]
    environment = {name: value for name, value in os.environ.items() if name != "DROPLINE_HOME"}
    shown = subprocess.Popen([*program, "up", "--no-browser", "--port", str(port)], cwd=tmp_path, env=environment)
    try:
        assert page(port, shown) == 200
        query = "select count(*) > 300 as enough from trials"
        asked = [*program, "sql", query, "--format", "csv"]
        assert subprocess.check_output(asked, cwd=tmp_path, text=True).split()[-1] == "true"
    finally:
        shown.terminate()
        shown.wait(30)
