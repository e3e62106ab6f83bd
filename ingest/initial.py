"""First campaign.yaml for a folder: its name, and everything else as comments."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from dropline.ingest.campaign import FILE_NAME, Campaign
from dropline.ingest.change_detection import Known
from dropline.ingest.files import Found, IntakeError, Kind, survey
from dropline.ingest.formats.text import plural
from dropline.ingest.identity import Identities
from dropline.ingest.lake import Lake
from dropline.ingest.synonyms import CLOSED

_NOUNS: Final = {
    Kind.SIDECAR: ("sidecar", ""),
    Kind.SERVER: ("server configuration", ""),
    Kind.WATCHED: ("file", " of counters or probes"),
}
_TEMPLATE: Final = Path(__file__).with_suffix(".txt")


def begin(folder: Path, lake: Lake) -> Path:
    """Write a campaign.yaml into `folder`; raise IntakeError if there is one, or no output of a traffic generator."""
    file = folder / FILE_NAME
    if file.exists():
        raise IntakeError(f"{file} already exists; it was not changed")
    found = [item for item in survey([folder]) if item.scope.folder == folder.resolve()]
    example = next((item.path for item in found if item.kind is Kind.OUTPUT), None)
    if not example:
        raise IntakeError(f"{folder}: there is no output of a traffic generator; `dropline show FILE` explains a file")
    with lake.reading():
        (named,) = Identities(Known(lake)).named([found])
    closed = {column: ", ".join(words) for column, words in CLOSED.items()}
    text = _TEMPLATE.read_text("utf-8").format(
        found=_described(found), name=named[0].scope.name, path=example, **closed
    )
    Campaign.parse(text.encode(), str(file))
    with file.open("x", encoding="utf-8") as written:
        written.write(text)
    return file


def _described(found: Sequence[Found]) -> str:
    """Return the contents of a folder by kind, as text."""
    tools = Counter(item.reader.NAME for item in found if item.kind is Kind.OUTPUT)
    kinds = Counter(item.kind for item in found)
    machines = len({item.folder for item in found if item.kind is Kind.MACHINE})
    parts = [f"{plural(count, 'output')} of {tool}" for tool, count in tools.most_common()]
    parts += [plural(kinds[kind], noun) + rest for kind, (noun, rest) in _NOUNS.items() if kinds[kind]]
    return ", ".join(parts + ([f"{plural(machines, 'folder')} of machine facts"] if machines else []))
