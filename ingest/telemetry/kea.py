"""Reader of Kea's counters: the answer to `statistic-get-all` (Kea Administrator Reference Manual, Statistics).

A server's control socket answers with one JSON object, the control agent with a list. Each statistic has its latest
samples, newest first, in local time without a zone, which is unusable. Kea counts from its start. `pkt4-receive-drop`
is the total of dropped packets, which since 3.2 is split by reason. The newest sample is `kea.<name>`; the label of
`subnet[1].pool[0].assigned-addresses` is `subnet[1].pool[0]`.
"""

import re
from functools import partial
from typing import Final

from dropline.ingest.formats import Reject
from dropline.ingest.formats.json_documents import Node, in_documents
from dropline.ingest.formats.text import in_head, items, quote, real, words
from dropline.ingest.telemetry import Found, Sample
from dropline.ingest.telemetry.samples import accounted

NAME = "kea"
IN_JSON = ('"arguments"',)

_EXPECTED: Final = "expected the JSON that Kea answers to `statistic-get-all`, unchanged"
_BEGIN: Final = re.compile(
    r'\s*(?:\[\s*)?\{\s*(?:"result"\s*:\s*0\s*,\s*)?"arguments"\s*:\s*\{\s*"[^"]+"\s*:\s*\[\s*\['
)
_COUNTED: Final = re.compile(r'"(?:pkt[46]-[a-z0-9-]+|subnet\[\d+\]\.[^"]+|cumulative-assigned-[a-z]+)"\s*:\s*\[\s*\[')
_OF_A_SUBNET: Final = re.compile(r"((?:subnet\[\d{1,10}\])(?:\.(?:pd-)?pool\[\d{1,10}\])?)\.(.+)", re.ASCII)


def _answers(line: int, document: Node) -> Found:
    for answer in document.items() if isinstance(document.value, list) else [document]:
        counted = answer.members("arguments")
        if answer.get("result") != 0 or not counted:
            yield Reject(line, f"no statistics: {quote(str(answer.get('text') or answer.value))}", _EXPECTED)
        for name, samples in counted.items():
            newest = [part for sample in items(samples.value)[:1] for part in items(sample)[:1]]
            if (value := real(newest[0]) if newest else None) is None:
                yield Reject(line, f"not a statistic: {quote(name)}", "expected [[number, time], ...]")
            else:
                place = _OF_A_SUBNET.fullmatch(full_name := str(words(name)))
                label, metric = (place[1], place[2]) if place else (None, full_name)
                yield Sample(None, f"kea.{metric}", value, "packets" if metric.startswith("pkt") else None, label)


sniff = in_head(lambda text: _BEGIN.match(text) and _COUNTED.search(text))
parse = accounted(partial(in_documents, read=_answers), _EXPECTED)
