"""Files that cannot grow, a home that may not be written: said in words, and nothing is lost."""

import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dropline.ingest.lake import Lake
from dropline.paths import Home
from tests.lakes import leftovers

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
IN_A_NAMESPACE = ["unshare", "--map-root-user", "--mount", "sh", "-eu", "-c"]
MAY_MOUNT = (
    subprocess.run([*IN_A_NAMESPACE, "mount -t tmpfs tmpfs /mnt"], capture_output=True).returncode == 0
    if shutil.which("unshare")
    else False
)

READ_ONLY = """
mount --bind "$1" "$1"
mount -o remount,ro,bind "$1"
"$2" -m dropline --home "$1" sql 'select count(*) as trials from trials' --format csv
"$2" -m dropline --home "$1" status
for command in "ingest $3" build rollback; do
    if "$2" -m dropline --home "$1" $command; then echo "$command wrote"; exit 3; fi
done
"""


def command(home, *rest):
    return [sys.executable, "-m", "dropline", "--home", str(home), *map(str, rest)]


def with_small_files():
    """For a child: no file may grow beyond 64 KiB, and that is an error, not the end of the process."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path / "home")
    done = subprocess.run(command(home.root, "ingest", EXAMPLES / "kea-2.2-ha"), cwd=ROOT, capture_output=True)
    assert done.returncode == 0
    return home


@pytest.mark.parametrize("rest", [("ingest", EXAMPLES / "powerdns-4.7"), ("build",)], ids=lambda rest: rest[0])
def test_what_cannot_be_written_is_said_and_leaves_the_home_as_it_was(home, rest):
    before = Lake(home.lake).batches()
    failed = subprocess.run(
        command(home.root, *rest), cwd=ROOT, capture_output=True, text=True, preexec_fn=with_small_files
    )
    assert failed.returncode == 1, failed.stdout
    assert "Traceback" not in failed.stderr
    assert "File too large" in failed.stderr
    assert "Make room" in failed.stderr or rest == ("build",)  # DuckDB says why, but not what to do
    assert Lake(home.lake).batches() == before
    assert not home.warehouse.exists()
    done = subprocess.run(command(home.root, *rest), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not leftovers(Lake(home.lake))


@pytest.mark.skipif(not MAY_MOUNT and os.getuid() == 0, reason="root may write anywhere, and cannot mount here")
def test_a_home_that_may_not_be_written_can_be_read(warehouse_home, tmp_path):
    shutil.copytree(warehouse_home, home := tmp_path / "home")
    arguments = [str(home), sys.executable, str(EXAMPLES / "powerdns-4.7")]
    script = READ_ONLY
    runner = IN_A_NAMESPACE
    if not MAY_MOUNT:
        script, runner = script.partition('\n"$2"')[1] + script.partition('\n"$2"')[2], ["sh", "-eu", "-c"]
        for path in (*home.rglob("*"), home):
            path.chmod(path.stat().st_mode & ~0o222)
    done = subprocess.run([*runner, script, "sh", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("The home must be writable") == 3
