r"""JSON as found in configuration files (Kea Administrator Reference Manual, "JSON Syntax").

It has comments (`# ...`, `// ...`, `/* ... */`), a comma after the last item, and `<?include "file"?>`.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from dropline.ingest.servers.plain import decode, refuse

_STRING: Final = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"?'
_COMMENT: Final = r"\#[^\n]*|//[^\n]*|/\*[\s\S]*?\*/"
_REFUSED: Final = r'(?P<endless>/\*)|(?P<include><\?\s*include\s*(?:"(?P<file>[^"\n]*)")?)'
_TEXT: Final = re.compile(f"{_STRING}|(?P<comment>{_COMMENT})|{_REFUSED}")
_TOKEN: Final = re.compile(rf"{_TEXT.pattern}|[{{}}\[\],:]")
_OBJECT: Final = re.compile(rf"(?:\s|{_COMMENT})*+\{{")
_LAST_COMMA: Final = re.compile(rf"({_STRING})|,(?=\s*[}}\]])")
_WHOLE: Final = "check that the file is complete; `kea-dhcp4 -t FILE` (kea-dhcp6) names what is wrong in it"
_INCLUDED: Final = (
    "replace the include with that file's text, or take what the server wrote by "
    "`config-write`: without it, the configuration is not known"
)


def loads(data: bytes) -> Any:
    """Parse `data`; raise Rejected with the line if it is invalid."""
    text = decode(data)
    try:
        return json.loads(_plain(text), parse_constant=_not_json)
    except json.JSONDecodeError as error:
        refuse(f"not the JSON of a configuration: {error.msg} (column {error.colno})", _WHOLE, error.lineno)
    except RecursionError:
        refuse("nested too deeply for a configuration", _WHOLE)
    except ValueError as error:  # a number with too many digits
        refuse(f"not the JSON of a configuration: {error}", _WHOLE)


def top_level_keys(head: bytes) -> Iterator[str]:
    """Yield the keys of the outermost object in `head`, which may be truncated."""
    text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    depth, last = 0, ""
    for token in _TOKEN.finditer(text) if _OBJECT.match(text) else ():
        if token["comment"]:
            continue
        if token[0] == ":" and depth == 1 and last.startswith('"'):
            yield last[1:-1]
        last = token[0]
        depth += (last in {"{", "["}) - (last in {"}", "]"})
        if not depth:
            return


def _plain(text: str) -> str:
    """Return standard JSON with unchanged line numbers."""

    def bare(token: re.Match[str]) -> str:
        line = text.count("\n", 0, token.start()) + 1 if token["endless"] or token["include"] else 0
        if token["endless"]:
            refuse("a comment begins with /* and never ends", _WHOLE, line)
        if token["include"]:
            refuse(f"the configuration includes another file, {token['file'] or 'not named'!r:.200}", _INCLUDED, line)
        return "\n" * token[0].count("\n") or " " if token["comment"] else token[0]

    return _LAST_COMMA.sub(lambda found: found[1] or " ", _TEXT.sub(bare, text))


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a value in JSON")
