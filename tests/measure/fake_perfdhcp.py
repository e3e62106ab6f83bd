"""A perfdhcp without network: prints its report of a server that answers as many a second as the file `knee` says."""

import sys
from pathlib import Path

REPORT = """Running: {command}
Scenario: basic.
***Rate statistics***
Rate: {rate:.2f} 4-way exchanges/second, expected rate: {offered}

***Malformed Packets***
Malformed packets: 0
***Statistics for: DISCOVER-OFFER***
sent packets: {sent}
received packets: {answered}
drops: {lost}
drops ratio: {ratio:.5f} %
orphans: 0
rejected leases: 0
non unique addresses: 0

min delay: 0.068 ms
avg delay: 1.943 ms
max delay: 7.139 ms
std deviation: 1.252 ms
collected packets: 0

***Statistics for: REQUEST-ACK***
sent packets: {answered}
received packets: {answered}
drops: 0
drops ratio: 0 %
orphans: 0
rejected leases: 0
non unique addresses: 0

min delay: 0.092 ms
avg delay: 1.224 ms
max delay: 7.131 ms
std deviation: 1.160 ms
collected packets: 0

"""


def main() -> None:
    folder, words = Path(__file__).parent, sys.argv[1:]
    offered, period = (int(words[words.index(option) + 1]) for option in ("-r", "-p"))
    knee = float((folder / "knee").read_text())
    burst = folder / "burst"  # the rate at which a neighbour takes half of the server, once
    if burst.exists() and burst.read_text() == str(offered):
        burst.unlink()
        knee = offered / 2
    breaks = folder / "breaks"
    if breaks.exists():
        breaks.unlink()
        print(f"Running: {' '.join(words)}\nScenario: basic.")
        return
    most = folder / "most"  # what the generator itself can send a second
    sent = (min(offered, int(most.read_text())) if most.exists() else offered) * period - 1
    lost = max(0, round(sent - knee * period))
    print(
        REPORT.format(
            command=" ".join(words),
            rate=(sent - lost) / period,
            offered=offered,
            sent=sent,
            answered=sent - lost,
            lost=lost,
            ratio=100 * lost / sent,
        ),
        end="",
    )


if __name__ == "__main__":
    main()
