"""A dnsblast without network: its status lines of a server that answers as many a second as the file `knee` says."""

import ctypes
import json
import signal
import sys
import time
from pathlib import Path

STATUS = "Sent: [{}] - Received: [{}] - Reply rate: [{} pps] - Ratio: [{:.2f}%]  \r"


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    lab = Path(__file__).parent
    _, count, pps, _ = (int(word) if word.isdigit() else word for word in sys.argv[1:])
    seconds = count / pps

    def tell(sent, received):
        elapsed_s = 3 * seconds if pps > 10 and (lab / "late").exists() else max(0.001, seconds - 1)
        print(STATUS.format(sent, received, min(pps, int(received / elapsed_s)), 100 * received / sent), end="")
        sys.stdout.flush()

    wait_ms = ctypes.c_int((2**64 - 1) // pps * 1000).value
    most = int((lab / "most").read_text()) if (lab / "most").exists() else pps
    if wait_ms > 0 or pps > most:
        tell(count // 2, count // 2)
        time.sleep(1000)
    answered = min(count, round(float((lab / "knee").read_text()) * seconds))
    count_datagrams(lab / "udp.json", count, answered)
    tell(count, max(0, answered - pps // 10))  # the last answers come after the last query
    if answered < count:
        time.sleep(1000)
    tell(count, count)
    print()


def count_datagrams(path, out, read):
    """Add to the counters that a stand-in for `cat /proc/net/snmp` prints."""
    before = json.loads(path.read_text()) if path.exists() else [0, 0]
    path.write_text(json.dumps([before[0] + out, before[1] + read]))
    text = f"Udp: InDatagrams OutDatagrams\nUdp: {before[1] + read} {before[0] + out}\n"
    path.with_name("snmp").write_text(text)


if __name__ == "__main__":
    main()
