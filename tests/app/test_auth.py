"""Who may come in: the configuration that the operator writes, and the claims that a provider sends."""

import pytest

from dropline.app import auth
from dropline.app.auth import Expired, NotAdmitted
from dropline.errors import DroplineError
from dropline.paths import Home

NOW = 1_800_000_000.0
FILE = """
[auth]
redirect_uri = "https://bench.example/oauth2callback"
client_id = "dropline"
client_secret = "top-secret-4711"
server_metadata_url = "https://login.example/.well-known/openid-configuration"

[access]
viewers = ["@example.org", "readers", "boss@example.net", "strasse@example.net", "@kea.example"]
editors = ["Anna@Example.org", "bench-editors"]
ask = "Anna, anna@example.org"
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Return a function that writes secrets.toml into a fresh home."""
    for variable in (auth.FILE, *auth.ENVIRONMENT):
        monkeypatch.delenv(variable, raising=False)
    auth.configured.cache_clear()

    def write(text=FILE, mode=0o600):
        if text is not None:
            file = tmp_path / "secrets.toml"
            file.write_text(text)
            file.chmod(mode)
        return Home(tmp_path)

    return write


@pytest.fixture
def guarded(written):
    found = auth.configured(written())
    assert "4711" not in repr(found), "the secret is not printed"
    return found


def claims(email="eve@example.net", **others):
    return {"email": email, "email_verified": True, "exp": NOW + 60} | others


@pytest.mark.parametrize(
    ("given", "role"),
    [
        (claims("anna@example.org"), "editor"),
        (claims("ANNA@EXAMPLE.ORG"), "editor"),
        (claims("bob@example.org"), "viewer"),
        (claims("BOSS@example.net"), "viewer"),
        (claims("eve@KEA.example"), "viewer"),
        (claims(groups=["readers", "others"]), "viewer"),
        (claims(groups="readers"), "viewer"),
        (claims(groups=["readers", "bench-editors"]), "editor"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_role_comes_from_the_address_its_domain_or_the_claim(guarded, given, role):
    assert guarded.person(given, NOW).role == role


@pytest.mark.parametrize(
    "given",
    [
        claims("eve@example.net"),
        claims("eve@example.net", groups=["Readers", 7, None]),
        claims("eve@example.net", groups=["anna@example.org", "@example.org"]),
        claims("eve@notexample.org"),
        claims("anna@example.org@evil.example"),
        claims("eve@evil.example@example.org"),
        claims("example.org"),
        claims("bo\u017f\u017f@example.net"),
        claims("stra\u00dfe@example.net"),
        claims("eve@\u212aea.example"),
        claims("eve@sub.example.org"),
        claims("anna@example.org", email_verified=False),
        claims("anna@example.org", email_verified="true"),
        claims(None, groups=["readers"]),
        {"exp": NOW + 60},
    ],
    ids=lambda value: str(value)[:90],
)
def test_who_has_no_role_is_told_whom_to_ask(guarded, given):
    with pytest.raises(NotAdmitted, match=r"Ask Anna, anna@example\.org\.") as refused:
        guarded.person(given, NOW)
    assert not isinstance(refused.value, Expired)


@pytest.mark.parametrize("exp", [NOW, NOW - 1, None, "never"])
def test_an_identity_ends_when_its_provider_says_so(guarded, exp):
    assert guarded.person(claims("bob@example.org", exp=NOW + 0.1), NOW).until == NOW + 0.1
    with pytest.raises(Expired, match="Sign in again"):
        guarded.person(claims("bob@example.org", exp=exp), NOW)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('client_id = "dropline"\n', "", r"\[auth\] client_id: Field required"),
        ('"top-secret-4711"', '""', r"\[auth\] client_secret: String should have at least 1 character"),
        ("https://bench", "http://bench", r"redirect_uri: expected https"),
        ("https://login", "ftp://login", r"server_metadata_url: expected https"),
        ("/oauth2callback", "/callback", r"redirect_uri: expected an address that ends with /oauth2callback"),
        ("example/oauth2callback", "example/below/oauth2callback", r"right after the host"),
        ("viewers = [", 'viewers = "@example.org" # [', r"\[access\] viewers: Input should be a valid list"),
        ("viewers =", "viewer =", r"\[access\] viewer: Extra inputs are not permitted"),
        ("[access]", "[acess]", r"\[acess\]: Extra inputs are not permitted"),
        ("[auth]", "[auth", r"is not valid TOML"),
        (FILE.partition("[access]")[2], "", "nobody could sign in"),
    ],
)
def test_a_mistake_is_named_with_its_file_and_key(written, before, after, said):
    assert before in FILE
    with pytest.raises(DroplineError, match=rf"secrets\.toml.*{said}") as refused:
        auth.configured(written(FILE.replace(before, after)))
    assert "4711" not in str(refused.value)


@pytest.mark.parametrize("mode", [0o604, 0o644, 0o660, 0o602])
def test_a_secret_that_others_may_read_is_not_used(written, mode):
    with pytest.raises(DroplineError, match=r"Type `chmod 600 .*secrets\.toml`"):
        auth.configured(written(mode=mode))


def test_a_claim_may_lie_within_others(written):
    found = auth.configured(written(FILE + 'claim = "realm_access.roles"\n'))
    assert found.person(claims(realm_access={"roles": ["readers"]}), NOW).role == "viewer"
    with pytest.raises(NotAdmitted):
        found.person(claims(realm_access=["readers"]), NOW)


def test_a_file_that_is_named_must_be_there(written, monkeypatch):
    home = written(None)
    assert auth.configured(home) is None, "there is no sign-in"
    auth.configured.cache_clear()
    monkeypatch.setenv(auth.FILE, str(home.root / "elsewhere.toml"))
    with pytest.raises(DroplineError, match=r"elsewhere\.toml cannot be read \(No such file"):
        auth.configured(home)


def test_variables_alone_are_enough_and_go_before_the_file(written, monkeypatch):
    given = {
        "CLIENT_ID": "other",
        "CLIENT_SECRET": "hidden",
        "METADATA_URL": "http://127.0.0.1:9400/.well-known/openid-configuration",
        "REDIRECT_URI": "http://localhost:8501/oauth2callback",
    }
    for name, value in given.items():
        monkeypatch.setenv(f"DROPLINE_OIDC_{name}", value)
    monkeypatch.setenv("DROPLINE_EDITORS", "carl@example.org, crew")
    found = auth.configured(written(None))
    assert (found.access.editors, found.access.viewers) == (["carl@example.org", "crew"], [])
    assert found.origin == "http://localhost:8501"
    auth.configured.cache_clear()
    found = auth.configured(written())
    assert found.auth.client_id == "other"
    assert "readers" in found.access.viewers, "what no variable says comes from the file"


def test_the_key_of_the_cookies_is_made_once_for_our_user_only(tmp_path):
    key = auth.cookie_secret(Home(tmp_path))
    assert len(key) == 64
    assert (tmp_path / "cookie-secret").stat().st_mode & 0o777 == 0o600
    assert auth.cookie_secret(Home(tmp_path)) == key
    with pytest.raises(DroplineError, match=r"cookie-secret cannot be created \(No such file"):
        auth.cookie_secret(Home(tmp_path / "missing"))


@pytest.mark.parametrize(("text", "mode"), [("", 0o600), ("short", 0o600), ("a" * 64, 0o644)])
def test_a_weak_key_of_cookies_is_refused(tmp_path, text, mode):
    file = tmp_path / "cookie-secret"
    file.write_text(text)
    file.chmod(mode)
    with pytest.raises(DroplineError, match=r"cookie-secret is too short, or others may read it\. Remove it"):
        auth.cookie_secret(Home(tmp_path))
