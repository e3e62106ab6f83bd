"""Sign-in and roles: the operator's configuration, the claims of an identity, and the page that refuses visitors.

OpenID Connect Core 1.0 defines the claims (2: exp; 5.1: email, email_verified). Streamlit signs users in (`st.login`).
"""

import os
import secrets
import stat
import time
import tomllib
from collections.abc import Mapping
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import Annotated, Any, Final, Literal, NamedTuple, NoReturn, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from dropline.errors import DroplineError
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
_OTHERS: Final = stat.S_IRWXO | stat.S_IWGRP  # the group may read a secret, as containers need that
_COOKIE_BYTES: Final = 32
_LOWER: Final = str.maketrans(ascii_uppercase, ascii_lowercase)
_STRICT: Final = ConfigDict(extra="forbid", frozen=True, strict=True)


class NotAdmitted(DroplineError):
    """The signed-in user has no role; the text says why and whom to ask."""


class Expired(NotAdmitted):
    """The identity has expired."""


class Person(NamedTuple):
    """A visitor of the dashboard, whose identity expires at `until` (s since 1970)."""

    email: str
    role: Role
    until: float


def is_loopback(host: str | None) -> bool:
    """Return whether a host name or address means this machine only."""
    try:
        return host == "localhost" or ip_address(host or "").is_loopback
    except ValueError:
        return False


def _folded(name: str) -> str:
    """Return an address with ASCII letters in lower case; `str.lower` would also turn the Kelvin sign into k."""
    return name.translate(_LOWER) if "@" in name else name


def _encrypted(address: str) -> str:
    parts = urlsplit(address)
    if not parts.hostname or parts.scheme not in (("https", "http") if is_loopback(parts.hostname) else ("https",)):
        raise ValueError("expected https://..., or http:// on this machine")
    return address


def _calling_back(address: str) -> str:
    if urlsplit(address).path != CALLBACK:
        raise ValueError(f"expected an address that ends with {CALLBACK} right after the host")
    return address


Text = Annotated[str, StringConstraints(min_length=1)]
Address = Annotated[str, AfterValidator(_encrypted)]
Names = list[Annotated[Text, AfterValidator(_folded)]]


class Provider(BaseModel):
    """Section [auth]: the identity provider, with the keys of Streamlit's secrets."""

    model_config = _STRICT
    client_id: Text
    client_secret: Text = Field(repr=False)
    server_metadata_url: Address
    redirect_uri: Annotated[Address, AfterValidator(_calling_back)]
    scope: Text = "openid email profile"


class Access(BaseModel):
    """Section [access]: who gets which role, by address, @domain or value of a claim."""

    model_config = _STRICT
    viewers: Names = []
    editors: Names = []
    claim: str = "groups"
    ask: str = "who runs it"

    @model_validator(mode="after")
    def _somebody(self) -> Self:
        if not self.viewers + self.editors:
            raise ValueError("expected at least one viewer or editor: otherwise nobody could sign in")
        return self


class SignIn(BaseModel):
    """How visitors sign in, and which role they get."""

    model_config = _STRICT
    auth: Provider
    access: Access

    @property
    def origin(self) -> str:
        """The scheme, host and port under which visitors reach the dashboard."""
        parts = urlsplit(self.auth.redirect_uri)
        return f"{parts.scheme}://{parts.netloc}"

    def person(self, claims: Mapping[str, Any], now: float) -> Person:
        """Return the person behind the claims of a verified identity, at `now` (s since 1970).

        Raise Expired if `exp` is past or missing, NotAdmitted if the address is not verified or has no role.
        """
        until, email = claims.get("exp"), claims.get("email")
        if not isinstance(until, int | float) or until <= now:
            raise Expired("Your sign-in has ended. Sign in again.")
        if not isinstance(email, str) or claims.get("email_verified") is not True:
            why = "The identity provider has not verified your e-mail address"
        elif email.count("@") != 1:
            why = f"{email} is not an e-mail address"
        elif role := self._role(_marks(_folded(email), _values(claims, self.access.claim))):
            return Person(email, role, until)
        else:
            why = f"{email} has no role in this Dropline"
        raise NotAdmitted(f"{why}. Ask {self.access.ask}.")

    def _role(self, marks: set[str]) -> Role | None:
        if not marks.isdisjoint(self.access.editors):
            return "editor"
        return None if marks.isdisjoint(self.access.viewers) else "viewer"

    def for_streamlit(self, cookie_secret: str) -> dict[str, Any]:
        """Return the section [auth] of Streamlit's secrets."""
        auth = self.auth.model_dump()
        return auth | {"client_kwargs": {"scope": auth.pop("scope")}, "cookie_secret": cookie_secret}


def _marks(email: str, values: set[str]) -> set[str]:
    """Return the entries of viewers or editors that match a person; a claim's value never counts as an address."""
    return {email, "@" + email.rpartition("@")[2]} | {value for value in values if "@" not in value}


def _values(claims: Mapping[str, Any], path: str) -> set[str]:
    found: Any = claims
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    found = [found] if isinstance(found, str) else found
    return {value for value in found if isinstance(value, str)} if isinstance(found, list) else set()


@cache
def configured(home: Home) -> SignIn | None:
    """Return the sign-in configuration of a home, read once at the first call, or None if there is none.

    Read the file that DROPLINE_SECRETS names, else `secrets.toml` of the home; variables of `ENVIRONMENT` override
    the file. Raise DroplineError if the configuration is invalid.
    """
    named = os.environ.get(FILE)
    file = Path(named) if named else home.root / "secrets.toml"
    found = _read(file) if named or file.exists() else {}
    for variable, (section, key) in ENVIRONMENT.items():
        if value := os.environ.get(variable):
            given = [each.strip() for each in value.split(",")] if key in ("viewers", "editors") else value
            found[section] = {**found.get(section, {}), key: given}
    if not found:
        return None
    try:
        return SignIn.model_validate({"auth": {}, "access": {}} | found)
    except ValidationError as error:
        # report a misspelt key first: it also causes the error about a missing key
        first = min(error.errors(include_input=False), key=lambda each: each["type"] != "extra_forbidden")
        section, *keys = map(str, first["loc"])
        reason = first["msg"].removeprefix("Value error, ")
        raise DroplineError(
            f"{file}: {' '.join([f'[{section}]', *keys])}: {reason}. See docs/how-to/sign-in.md."
        ) from None  # pydantic's message includes the value, which may be a secret


def _read(file: Path) -> dict[str, dict[str, Any]]:
    try:
        if file.stat().st_mode & _OTHERS:
            raise DroplineError(f"{file} contains a secret, but others may read or change it. Type `chmod 600 {file}`.")
        found = tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise DroplineError(
            f"{file} cannot be read ({error.strerror}). Set {FILE} to the file of secrets, or unset it."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DroplineError(f"{file} is not valid TOML ({error}). See docs/how-to/sign-in.md for an example.") from None
    if any(not isinstance(section, dict) for section in found.values()):
        raise DroplineError(f"{file}: expected sections [auth] and [access] only, as in docs/how-to/sign-in.md.")
    return found


def cookie_secret(home: Home) -> str:
    """Return the key that signs cookies, created once per home, readable by us only; deleting it ends all sign-ins.

    Raise DroplineError if others may read it, or it cannot be created.
    """
    file = home.root / "cookie-secret"
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as fresh:
            fresh.write(secrets.token_hex(_COOKIE_BYTES))
    except FileExistsError:
        pass
    except OSError as error:
        raise DroplineError(f"{file} cannot be created ({error.strerror}). Sign-in needs a writable home.") from None
    kept = file.read_text("utf-8").strip()
    if file.stat().st_mode & _OTHERS or len(kept) < 2 * _COOKIE_BYTES:
        raise DroplineError(
            f"{file} is too short, or others may read it. Remove it to get a new one; all must then sign in again."
        )
    return kept


def require_role() -> None:
    """Stop the page for a visitor without a role, and show the reason and what to do."""
    import streamlit as st

    sign_in = configured(Home.chosen())
    if sign_in is None:
        return
    claims = st.user.to_dict()
    if not claims.get("is_logged_in"):
        _stop("Sign in to see the measurements.", "Sign in")
    try:
        person = sign_in.person(claims, time.time())
    except NotAdmitted as error:
        _stop(str(error), "Sign in" if isinstance(error, Expired) else "Sign out")
    with st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
        st.text(f"{person.email}, {person.role}", width="content")
        st.button("Sign out", on_click=st.logout, type="tertiary", key="sign_out")


def may_store() -> bool:
    """Return whether the visitor may store files; without sign-in, all have the rights of who started the app."""
    import streamlit as st

    sign_in = configured(Home.chosen())
    try:
        return sign_in is None or sign_in.person(st.user.to_dict(), time.time()).role == "editor"
    except NotAdmitted:
        return False


def _stop(why: str, button: str) -> NoReturn:
    import streamlit as st

    st.title("Dropline")
    st.text(why)
    st.button(button, on_click=st.login if button == "Sign in" else st.logout, type="primary")
    st.stop()
