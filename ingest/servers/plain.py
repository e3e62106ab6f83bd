"""Helpers for all servers: decoding, rejecting, settings without secrets."""

import hashlib
import json
import re
from typing import Any, Final, NoReturn

from dropline.ingest.formats import Rejected

MAX_BYTES: Final = 8 * 1024 * 1024  # parsing may take fifty times as much memory
_MASK: Final = "***"
_SECRET: Final = re.compile(
    r"passw|passphrase|secret|token|credential|basic-auth|^authentication$|^(?:(?:auth|api)[-_])?key$", re.IGNORECASE
)
_CREDENTIALS: Final = re.compile(r"(?<=://)[^\s\"]{0,500}@")
_CONNECTION_STRING: Final = re.compile(r"\b(passw(?:or)?d|pwd|secret)(\s{0,9}=\s{0,9})[^\s;,&]+", re.IGNORECASE)


def refuse(reason: str, hint: str, line: int = 1) -> NoReturn:
    """Raise Rejected."""
    raise Rejected(reason, hint, line) from None


def decode(data: bytes) -> str:
    """Decode a configuration; raise Rejected if it exceeds MAX_BYTES or, with the line, has invalid UTF-8."""
    if len(data) > MAX_BYTES:
        hint = "keep host reservations in a database: without them, a configuration says as much about the server"
        refuse(f"more than {MAX_BYTES // 1024**2} MiB for a configuration", hint)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        hint = "save the file as UTF-8, or check that it is a configuration at all"
        refuse(f"expected UTF-8, found the byte 0x{data[error.start]:02x}", hint, line)


def unicode(text: str) -> str:
    """Return a text without lone surrogates, which JSON can contain but UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode()


def settings_json(document: Any) -> str:
    """Return a configuration as sorted JSON with masked secrets; raise ValueError, or RecursionError if too deep."""
    return unicode(json.dumps(_masked(document), sort_keys=True, ensure_ascii=False, allow_nan=False))


def identity(settings: str) -> str:
    """Return the `server_config_id` of a result of `settings_json`."""
    return hashlib.sha256(settings.encode()).hexdigest()[:16]


def _masked(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _MASK if _SECRET.search(key) and item is not None else _masked(item) for key, item in value.items()
        }
    if isinstance(value, list):
        return [_masked(item) for item in value]
    if not isinstance(value, str):
        return value
    return _CONNECTION_STRING.sub(rf"\1\2{_MASK}", _CREDENTIALS.sub(f"{_MASK}@", value))
