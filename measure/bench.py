"""Processes of a measurement: hooks with time limits, foreground servers, and counters around a trial."""

import os
import shlex
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, Self

from dropline.errors import DroplineError
from dropline.ingest.parallel import end_with_parent
from dropline.measure.plan import Server

PATIENCE_S: Final = 10.0  # between SIGTERM and SIGKILL
_LOOKS: Final = 100  # checks, 0.01 s apart, whether a killed process has ended
_SHOWN_LINES: Final = 8
SSH: Final = ("ssh", "-o", "BatchMode=yes")
UDP_COUNTERS_OF: Final = ("cat", "/proc/net/snmp", "/proc/net/snmp6")
_UDP_COUNTERS: Final = ("InDatagrams", "OutDatagrams", "NoPorts", "InErrors", "RcvbufErrors", "SndbufErrors")
STOPPING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")


class HookFailed(DroplineError):
    """A command of the plan failed or took too long; the message has the command and its last output."""


@dataclass(frozen=True, slots=True)
class Done:
    """A finished command: its exit code, None after a timeout, and all of its output."""

    exit_code: int | None
    output: bytes


def run(words: Sequence[str], limit_s: float) -> Done:
    """Run a command in its own process group; kill the group on timeout or interruption."""
    with _started(words, subprocess.PIPE) as process:
        try:
            output, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            _end(process)
            return Done(None, process.communicate()[0])
        except BaseException:
            _end(process)
            raise
    return Done(process.returncode, output)


def _started(words: Sequence[str], output: IO[bytes] | int) -> subprocess.Popen[bytes]:
    # Python swallows exceptions of a signal handler during a fork, so signals are held back until it is done.
    before, parent = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING), os.getpid()

    def begin() -> None:
        end_with_parent(signal.SIGTERM, parent)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    try:
        return subprocess.Popen(  # noqa: S603 - the user's own command
            words,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=begin,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def ended_by(end: Callable[[], object]) -> Iterator[None]:
    """Call `end` even if the block fails; if both fail, raise the first error."""
    try:
        yield
    except BaseException:
        with suppress(HookFailed):
            end()
        raise
    end()


class Hooks:
    """The commands around the runs of one configuration."""

    def __init__(self, server: Server, folder: Path) -> None:
        self._server = server
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The server's process, if it is our child on this machine."""
        return self._process.pid if self._process and not self._server.host else None

    def call(self, name: str) -> bytes:
        """Run a hook if the plan has it, and return its output; raise HookFailed if it fails."""
        command = getattr(self._server, name)
        return shell(name, self._filled(command), self._server.limit_s, self._server.host) if command else b""

    @contextmanager
    def serving(self, answers: Callable[[], bool]) -> Iterator[None]:
        """Start the server, wait until it answers, and stop it at the end."""
        self.call("stop")
        with ended_by(lambda: self.call("stop")), self._served():
            self.call("start")
            self._wait(answers)
            yield

    @contextmanager
    def _served(self) -> Iterator[None]:
        if not self._server.serve:
            yield
            return
        words = shlex.split(self._filled(self._server.serve))
        if self._server.host:  # with a terminal, so that closing the connection stops the server
            words = [*SSH, "-tt", self._server.host, shlex.join(words)]
        with self._log.open("wb") as log, _started(words, log) as process:
            self._process = process
            try:
                yield
            finally:
                _end(process)
                self._process = None

    def see_alive(self) -> None:
        """Raise HookFailed if the foreground server has exited."""
        if self._process and self._process.poll() is not None:
            how = f"the server exited with {self._process.returncode}: {self._server.serve}"
            raise HookFailed(f"serve: {how}{_last_lines(self._log.read_bytes())}")

    def _wait(self, answers: Callable[[], bool]) -> None:
        limit_s, ready = self._server.limit_s, self._filled(self._server.ready or "")
        deadline, words = time.monotonic() + limit_s, _words(ready, self._server.host)
        while not (run(words, limit_s).exit_code == 0 if ready else answers()):
            self.see_alive()
            if time.monotonic() > deadline:
                output = _last_lines(self._log.read_bytes()) if self._process else ""
                raise HookFailed(f"ready: the server did not answer within {limit_s:g} s{output}")
            time.sleep(0.2)
        self.see_alive()

    @property
    def _log(self) -> Path:
        return self._folder / ".server.log"

    def _filled(self, command: str) -> str:
        return command.replace("{folder}", shlex.quote(str(self._folder)))


def shell(name: str, command: str, limit_s: float, host: str | None = None) -> bytes:
    """Run a command of the plan in the shell and return its output; raise HookFailed if it fails."""
    done = run(_words(command, host), limit_s)
    if done.exit_code == 0:
        return done.output
    how = f"failed with {done.exit_code}" if done.exit_code is not None else f"took longer than {limit_s:g} s"
    raise HookFailed(f"{name}: {command!r} {how}{_last_lines(done.output)}")


def _words(command: str, host: str | None) -> list[str]:
    return [*SSH, host, command] if host else ["sh", "-c", command]


def _last_lines(output: bytes) -> str:
    lines = output.decode("utf-8", "replace").strip().splitlines()[-_SHOWN_LINES:]
    return "".join(f"\n    {line}" for line in lines)


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE_S)
            break
    with suppress(ProcessLookupError):  # end the rest of the group
        for _ in range(_LOOKS):
            os.killpg(process.pid, signal.SIGKILL)
            time.sleep(0.01)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The counters of this machine, and of a server on it, at one moment."""

    loadavg: str
    jiffies: dict[str, int]
    udp: dict[str, Counter[str]]
    of_server: dict[str, float]

    @classmethod
    def take(cls, server: int | None, generator: Sequence[str] = ()) -> Self:
        """Read /proc; `server` is a process in its network namespace and group, `generator` prints UDP counters."""
        network = Path(f"/proc/{server}/net")
        texts = {"server": text_of(network / "snmp") + text_of(network / "snmp6")} if server else {}
        if generator:
            texts["generator"] = run(generator, PATIENCE_S).output.decode("utf-8", "replace")
        jiffies = dict(zip(_CPU_STATES, map(int, text_of(Path("/proc/stat")).split("\n")[0].split()[1:]), strict=False))
        udp = {role: _udp_counters(text) for role, text in texts.items()}
        of_server: dict[str, float] = {}
        if server:
            sockets = (line for name in ("udp", "udp6") for line in text_of(network / name).splitlines()[1:])
            drops = sum(int(line.split()[-1]) for line in sockets)
            of_server = {"sk_drops": drops, "server_cpu_s": _cpu_s(server)}
        return cls(text_of(Path("/proc/loadavg")).strip(), jiffies, udp, of_server)

    def until(self, after: Self) -> dict[str, Any]:
        """Return the fields of a sidecar for the time between two snapshots."""
        cpus = text_of(Path("/proc/cpuinfo")).splitlines()
        clocks = [float(line.partition(":")[2]) for line in cpus if line.startswith("cpu MHz")]
        zones = [text_of(zone) for zone in Path("/sys/class/thermal").glob("thermal_zone*/temp")]
        fields: dict[str, Any] = {
            "loadavg_before": self.loadavg,
            "host_cpu_jiffies": {name: after.jiffies[name] - value for name, value in self.jiffies.items()},
            "udp_delta": {role: after.udp[role] - counters for role, counters in self.udp.items()} or None,
            "rmem_default": int(text_of(Path("/proc/sys/net/core/rmem_default")) or 0) or None,
            "cpu_mhz": round(sum(clocks) / len(clocks), 1) if clocks else None,
            "temperature_c": max((int(each) / 1000 for each in zones if each.strip().isdigit()), default=None),
        }
        fields |= {name: round(after.of_server[name] - value, 2) for name, value in self.of_server.items()}
        return {name: value for name, value in fields.items() if value is not None}


_CPU_STATES: Final = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


def text_of(path: Path) -> str:
    """Return the text of a file, empty if it cannot be read."""
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _udp_counters(text: str) -> Counter[str]:
    """Parse /proc/net/snmp (alternating lines of names and numbers) or snmp6 (a name and a number per line)."""
    rows = [line.split() for line in text.splitlines() if line.startswith("Udp")]
    pairs = [row for row in rows if len(row) == 2]
    if heads := [row for row in rows if row[0] == "Udp:"]:
        pairs += [[f"Udp{name}", value] for name, value in zip(heads[0][1:], heads[1][1:], strict=False)]
    return Counter({name: int(value) for name, value in pairs if name.endswith(_UDP_COUNTERS)})


def _cpu_s(server: int) -> float:
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        fields = text_of(stat).rpartition(")")[2].split()
        if fields and int(fields[2]) == server:
            total += int(fields[11]) + int(fields[12])
    return total / _TICKS_PER_S
