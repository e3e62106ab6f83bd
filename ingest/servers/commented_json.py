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

_STRING: Final = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"?'
_COMMENT: Final = r"\#[^\n]*|//[^\n]*|/\*[\s\S]*?\*/"
_REFUSED: Final = r'(?P<endless>/\*)|(?P<include><\?\s*include\s*(?:"(?P<file>[^"\n]*)")?)'
_TOKEN: Final = re.compile(f"(?P<string>{_STRING})|(?P<comment>{_COMMENT})|{_REFUSED}|(?P<mark>[{{}}\\[\\],:])")
_OBJECT: Final = re.compile(rf"(?:\s|{_COMMENT})*+\{{")
_LAST_COMMA: Final = re.compile(rf"({_STRING})|,(?=\s*[}}\]])")
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
    """Convert to standard JSON with unchanged line numbers."""

    def bare(token: re.Match[str]) -> str:
        if token["endless"] or token["include"]:
            _refuse_token(token, text.count("\n", 0, token.start()) + 1)
        return "\n" * token[0].count("\n") or " " if token["comment"] else token[0]

    return _LAST_COMMA.sub(lambda found: found[1] or " ", _TOKEN.sub(bare, text))


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
