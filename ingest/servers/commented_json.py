r"""JSON as found in configuration files: with comments, trailing commas and includes.

The extensions are Kea's (Administrator Reference Manual, "JSON Syntax"): `# ...`, `// ...`, `/* ... */`, a comma after
the last item, and `<?include "file"?>`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, NoReturn

from dropline.ingest.servers.plain import ConfigError, decode

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN: Final = re.compile(
    r"""
      (?P<string>  "[^"\\\n]*(?:\\.[^"\\\n]*)*"? )
    | (?P<comment> \#[^\n]* | //[^\n]* | /\*[\s\S]*?\*/ )
    | (?P<endless> /\* )
    | (?P<include> <\?\s*include\s*(?:"(?P<file>[^"\n]*)")? )
    | (?P<mark>    [{}\[\],:] )
    | (?P<space>   \s+ )
    | (?P<other>   [^\s"\#/<{}\[\],:]+ | . )
    """,
    re.VERBOSE,
)
_WHOLE: Final = "check that the file is complete; `kea-dhcp4 -t FILE` (kea-dhcp6) names what is wrong in it"


def loads(data: bytes) -> Any:
    """Parse `data`; raise ConfigError with the line if it is invalid."""
    text = decode(data)
    try:
        return json.loads(_plain(text), parse_constant=_refuse)
    except json.JSONDecodeError as error:
        message = f"not the JSON of a configuration: {error.msg} (column {error.colno})"
        raise ConfigError(message, _WHOLE, error.lineno) from None
    except RecursionError:
        message = "nested too deeply for a configuration"
        raise ConfigError(message, _WHOLE) from None
    except ConfigError:
        raise
    except ValueError as error:  # a number with too many digits
        message = f"not the JSON of a configuration: {error}"
        raise ConfigError(message, _WHOLE) from None


def top_level_keys(head: bytes) -> Iterator[str]:
    """Yield the keys of the outermost object as far as `head` goes; it may be truncated."""
    depth, last = 0, ""
    for token in _TOKEN.finditer(head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")):
        text = token[0]
        if token.lastgroup in {"comment", "space"}:
            continue
        if depth == 0 and text != "{":
            return
        if text == ":" and depth == 1 and last.startswith('"'):
            yield last[1:-1]
        if text in {"{", "["}:
            depth += 1
        elif text in {"}", "]"}:
            depth -= 1
        last = text


def _plain(text: str) -> str:
    """Convert to standard JSON with unchanged line numbers."""
    pieces: list[str] = []
    comma = None
    for token in _TOKEN.finditer(text):
        piece, kind = token[0], token.lastgroup
        if kind in {"endless", "include"}:
            _refuse_token(token, text.count("\n", 0, token.start()) + 1)
        if kind == "comment":
            piece = "\n" * piece.count("\n") or " "
        elif kind != "space":
            if comma is not None and piece in {"}", "]"}:
                pieces[comma] = " "
            comma = len(pieces) if piece == "," else None
        pieces.append(piece)
    return "".join(pieces)


def _refuse_token(token: re.Match[str], line: int) -> NoReturn:
    if token["endless"]:
        message = "a comment begins with /* and never ends"
        raise ConfigError(message, _WHOLE, line)
    message = f"the configuration includes another file, {token['file'] or 'not named'!r:.200}"
    hint = (
        "replace the include with that file's text, or take what the server wrote by "
        "`config-write`: without it, the configuration is not known"
    )
    raise ConfigError(message, hint, line)


def _refuse(constant: str) -> NoReturn:
    message = f"{constant} is not a value in JSON"
    raise ValueError(message)
