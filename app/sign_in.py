"""Who may come in: the operator's configuration of sign-in, and the role of whom an identity provider names.

OpenID Connect Core 1.0 defines the claims (2: exp; 5.1: email, email_verified). Nothing here knows Streamlit.
"""

from __future__ import annotations

import os
import secrets
import stat
import tomllib
from dataclasses import dataclass, field
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple
from urllib.parse import urlsplit

from dropline.errors import DroplineError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dropline.paths import Home

Role = Literal["viewer", "editor"]
FILE: Final = "DROPLINE_SECRETS"
CALLBACK: Final = "/oauth2callback"
ENVIRONMENT: Final = {
    "DROPLINE_OIDC_CLIENT_ID": ("auth", "client_id"),
    "DROPLINE_OIDC_CLIENT_SECRET": ("auth", "client_secret"),
    "DROPLINE_OIDC_METADATA_URL": ("auth", "server_metadata_url"),
    "DROPLINE_OIDC_REDIRECT_URI": ("auth", "redirect_uri"),
    "DROPLINE_OIDC_SCOPE": ("auth", "scope"),
    "DROPLINE_VIEWERS": ("access", "viewers"),
    "DROPLINE_EDITORS": ("access", "editors"),
    "DROPLINE_ROLE_CLAIM": ("access", "claim"),
    "DROPLINE_ASK": ("access", "ask"),
}
_NEEDED: Final = ("client_id", "client_secret", "server_metadata_url", "redirect_uri")
_KNOWN: Final = {"auth": {*_NEEDED, "scope"}, "access": {"viewers", "editors", "claim", "ask"}}
_LISTS: Final = ("viewers", "editors")
_OTHERS: Final = stat.S_IRWXO | stat.S_IWGRP  # a secret may be read by its owner and, in a container, by his group
_COOKIE_BYTES: Final = 32
_LOWER: Final = str.maketrans(ascii_uppercase, ascii_lowercase)


class Misconfigured(DroplineError):
    """The configuration of sign-in cannot be used; the text says which file and key, and what is expected."""


class NotAdmitted(DroplineError):
    """Who signed in may not come in; the text says why and whom to ask."""


class Expired(NotAdmitted):
    """The identity is older than its provider vouches for."""


class Person(NamedTuple):
    """Who looks at the dashboard."""

    email: str
    role: Role
    until: float  # the end of the identity, in s since 1970


@dataclass(frozen=True, slots=True)
class SignIn:
    """How visitors sign in, and which role they get."""

    auth: Mapping[str, str] = field(repr=False)  # has the client secret
    viewers: frozenset[str]
    editors: frozenset[str]
    claim: str
    ask: str

    @property
    def origin(self) -> str:
        """The scheme, host and port under which visitors reach the dashboard."""
        parts = urlsplit(self.auth["redirect_uri"])
        return f"{parts.scheme}://{parts.netloc}"

    def person(self, claims: Mapping[str, Any], now: float) -> Person:
        """Return who the claims of a verified identity are.

        Args:
            claims: what the provider says in the identity token.
            now: in s since 1970.

        Raises:
            Expired: `exp` is over, or missing.
            NotAdmitted: the address is not verified, or nobody gave it a role.
        """
        until = claims.get("exp")
        if not isinstance(until, int | float) or until <= now:
            message = "Your sign-in has ended. Sign in again."
            raise Expired(message)
        email = claims.get("email")
        if not isinstance(email, str) or claims.get("email_verified") is not True:
            message = f"The identity provider does not vouch for your e-mail address. Ask {self.ask}."
            raise NotAdmitted(message)
        if email.count("@") != 1:
            message = f"{email} is no e-mail address. Ask {self.ask}."
            raise NotAdmitted(message)
        marks = _marks(_folded(email), _values(claims, self.claim))
        if marks & self.editors:
            return Person(email, "editor", until)
        if marks & self.viewers:
            return Person(email, "viewer", until)
        message = f"{email} has no role in this Dropline. Ask {self.ask}."
        raise NotAdmitted(message)


def _marks(email: str, values: set[str]) -> set[str]:
    """Return what a list of viewers or editors may name a person by; a claim's value is never taken for an address."""
    return {email, "@" + email.rpartition("@")[2]} | {value for value in values if "@" not in value}


def _values(claims: Mapping[str, Any], path: str) -> set[str]:
    found: Any = claims
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    found = [found] if isinstance(found, str) else found
    return {value for value in found if isinstance(value, str)} if isinstance(found, list) else set()


@cache
def configured(home: Home) -> SignIn | None:
    """Return the configuration of a home as it was at the first call, or None if there is none.

    It stands in the file that DROPLINE_SECRETS names, else in `secrets.toml` of the home; a variable of `ENVIRONMENT`
    goes before the file.

    Raises:
        Misconfigured: there is one, but it cannot be used.
    """
    named = os.environ.get(FILE)
    file = Path(named) if named else home.root / "secrets.toml"
    found = _read(file) if named or file.exists() else {}
    for variable, (section, key) in ENVIRONMENT.items():
        if value := os.environ.get(variable):
            given = [each.strip() for each in value.split(",")] if key in _LISTS else value
            found.setdefault(section, {})[key] = given
    return _checked(found, file) if found else None


def _read(file: Path) -> dict[str, dict[str, Any]]:
    try:
        if file.stat().st_mode & _OTHERS:
            message = f"{file} holds a secret, but others may read or change it. Type `chmod 600 {file}`."
            raise Misconfigured(message)
        found = tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        message = f"{file} cannot be read ({error.strerror}). Name the file of secrets with {FILE}, or unset it."
        raise Misconfigured(message) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        message = f"{file} is no TOML ({error}). See docs/how-to/sign-in.md for one that is."
        raise Misconfigured(message) from None
    for section, keys in found.items():
        known = _KNOWN.get(section)
        if known is None or not isinstance(keys, dict) or (unknown := sorted(keys.keys() - known)):
            named = f"[{section}]" if known is None or not isinstance(keys, dict) else f"[{section}] {unknown[0]}"
            message = f"{file}: {named} is not known; expected [auth] and [access] as in docs/how-to/sign-in.md."
            raise Misconfigured(message)
    return found


def _checked(found: Mapping[str, Mapping[str, Any]], file: Path) -> SignIn:
    auth, access = found.get("auth", {}), found.get("access", {})
    for key in (*_NEEDED, *(auth.keys() - _NEEDED)):
        _require(isinstance(auth.get(key), str) and auth[key] != "", file, f"[auth] {key}", "a text")
    for key in ("redirect_uri", "server_metadata_url"):
        _require(_is_safe(auth[key]), file, f"[auth] {key}", "https://..., or http:// on this machine")
    callback = urlsplit(auth["redirect_uri"]).path == CALLBACK
    _require(callback, file, "[auth] redirect_uri", f"an address that ends with {CALLBACK} right after the host")
    for key in _LISTS:
        names = access.get(key, [])
        texts = isinstance(names, list) and all(isinstance(name, str) and name for name in names)
        _require(texts, file, f"[access] {key}", "a list of e-mail addresses, @domains or values of the claim")
    claim, ask = access.get("claim", "groups"), access.get("ask", "who runs it")
    _require(isinstance(claim, str) and isinstance(ask, str), file, "[access] claim and ask", "texts")
    viewers, editors = (frozenset(map(_folded, access.get(key, []))) for key in _LISTS)
    _require(bool(viewers | editors), file, "[access] viewers or editors", "somebody: nobody could come in")
    return SignIn(auth, viewers, editors, claim, ask)


def _require(holds: bool, file: Path, key: str, expected: str) -> None:
    if not holds:
        message = f"{file}: {key}: expected {expected}. See docs/how-to/sign-in.md."
        raise Misconfigured(message)


def _folded(name: str) -> str:
    """Return an address in one case; of ASCII only, for others' letters fold into it: the Kelvin sign into k."""
    return name.translate(_LOWER) if "@" in name else name


def _is_safe(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme in (("https", "http") if is_loopback(parts.hostname) else ("https",)) and bool(parts.hostname)


def is_loopback(host: str | None) -> bool:
    """Say whether a host name or address means this machine only."""
    if host == "localhost":
        return True
    try:
        return ip_address(host or "").is_loopback
    except ValueError:
        return False


def cookie_secret(home: Home) -> str:
    """Return the key that signs cookies: made once for a home, for our user only; who removes it ends all sign-ins.

    Raises:
        Misconfigured: others may read it, or it cannot be made.
    """
    file = home.root / "cookie-secret"
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as fresh:
            fresh.write(secrets.token_hex(_COOKIE_BYTES))
    except FileExistsError:
        pass
    except OSError as error:
        message = f"{file} cannot be made ({error.strerror}). Sign-in needs a home that may be written to."
        raise Misconfigured(message) from None
    kept = file.read_text("utf-8").strip()
    if file.stat().st_mode & _OTHERS or len(kept) < 2 * _COOKIE_BYTES:
        message = f"{file} is too short, or others may read it. Remove it: a new one is made, and all sign in again."
        raise Misconfigured(message)
    return kept
