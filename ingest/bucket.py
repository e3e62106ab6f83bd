"""Lake in an S3 bucket: the same files and log as on disk, with entries created by conditional puts.

Every machine keeps a local copy of the entries in force. Credentials come from the environment, a profile or the
machine's role.
"""

from __future__ import annotations

import configparser
import hashlib
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import obstore
from obstore import exceptions
from obstore.store import S3Store
from pyarrow import fs

from dropline.errors import DroplineError
from dropline.ingest.log import DamagedEntry, Entry, Part
from dropline.ingest.parquet import replacing
from dropline.paths import ENDPOINT

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig, S3Config

_ABANDONED: Final = timedelta(days=1)  # no push takes that long: older files without an entry were left by a crash
_LOG: Final = "lake/log"
_CHUNK: Final = 8 * 1024 * 1024
_KEYS: Final = (
    "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give this machine a role, that may list the "
    "bucket, and get, put and delete objects in the folder"
)
_WORDS: Final = {
    "169.254.169.254": f"no keys were found. {_KEYS}",
    "NoSuchBucket": "there is no such bucket. Create it, or correct the address",
    "AccessDenied": f"access is denied. {_KEYS}",
    "InvalidAccessKeyId": f"the access key is not known there. {_KEYS}",
    "SignatureDoesNotMatch": f"the secret key does not belong to the access key. {_KEYS}",
    "error sending request": f"it cannot be reached. Check the network, and {ENDPOINT} for a server of your own",
}
_ADVICE: Final = "Put the object back from the copy of a machine that has it: docs/how-to/object-storage.md"


class DamagedObject(DroplineError):
    """An object of the bucket differs from what was put."""


class Bucket:
    """The folder `address` of a bucket (s3://bucket/folder); object keys are relative to it."""

    def __init__(self, address: str) -> None:
        self.address = address
        name, _, folder = address.removeprefix("s3://").partition("/")
        client: ClientConfig = {"connect_timeout": "5s"}
        config: S3Config = _keys()
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
        if endpoint := os.environ.get(ENDPOINT):
            parts = urlsplit(endpoint)
            if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.path.strip("/"):
                message = f"{ENDPOINT}: expected http://host:port or https://host, without a path and without keys"
                raise DroplineError(message)
            config["endpoint"], client["allow_http"] = endpoint, parts.scheme == "http"
        try:
            config["region"] = region or ("us-east-1" if endpoint else str(fs.resolve_s3_region(name)))
        except OSError:
            message = f"s3://{name}: its region cannot be determined. Correct the address, or set AWS_REGION."
            raise DroplineError(message) from None
        retries: RetryConfig = {"max_retries": 3, "retry_timeout": timedelta(seconds=20)}
        with self._in_words():
            self._store = S3Store(
                name, prefix=folder or None, config=config, client_options=client, retry_config=retries
            )

    def log(self) -> set[str]:
        """Return the names of the entries."""
        names = {key.removeprefix(f"{_LOG}/") for key in self._listing(_LOG)}
        if not names and self._listing("lake/batches"):
            raise DroplineError(
                f"{self.address} was written by a version without a log: move its lake to a new folder of the bucket, "
                "as docs/how-to/object-storage.md says"
            )
        return names

    def entry(self, name: str) -> Entry:
        """Return an entry; raise DamagedObject if it is damaged."""
        with self._in_words():
            data = bytes(obstore.get(self._store, f"{_LOG}/{name}").bytes())
        try:
            return Entry.read(name, data)
        except DamagedEntry as error:
            raise DamagedObject(f"{self.address}/{_LOG}/{name}: it differs from what was put. {_ADVICE}") from error

    def commit(self, root: Path, entry: Entry) -> bool:
        """Put the files of an entry of the lake at `root`, then the entry; return False if its number is taken."""
        key = f"{_LOG}/{entry.name}"
        with self._in_words():
            for part in entry.files.values():
                obstore.put(self._store, f"lake/{part.path}", root / part.path)
            try:
                obstore.put(self._store, key, entry.written(), mode="create")
            except exceptions.AlreadyExistsError:  # put by another process, or by us if the response was lost
                return bytes(obstore.get(self._store, key).bytes()) == entry.written()
        return True

    def fetch(self, root: Path, part: Part) -> Part:
        """Copy a file into the lake at `root`, and return it; raise DamagedObject if it differs from what was put."""
        file = root / part.path
        file.parent.mkdir(exist_ok=True)
        with replacing(file) as fresh:
            self._read(part, fresh.write)
        return part

    def damaged(self, parts: Collection[Part], progress: Callable[[int, int], None]) -> list[str]:
        """Read files completely and return the faults found."""
        found = []
        for done, part in enumerate(parts):
            progress(done, len(parts))
            try:
                self._read(part, lambda _: None)
            except DamagedObject as error:
                found.append(str(error))
        return found

    def sweep(self, named: Collection[str]) -> None:
        """Remove files older than a day that are not in `named`: they were replaced, or left by a killed push."""
        before, listed = datetime.now(UTC) - _ABANDONED, self._listing("lake/files")
        kept = {*named, *(key.split("/")[2] for key, put_at in listed.items() if put_at >= before)}
        if doomed := [key for key in listed if key.split("/")[2] not in kept]:
            with self._in_words():
                obstore.delete(self._store, doomed)

    def _read(self, part: Part, write: Callable[[bytes], object]) -> None:
        digest, size_bytes, wrong = hashlib.sha256(), 0, ""
        with self._in_words():
            try:
                stream = obstore.get(self._store, f"lake/{part.path}").stream(min_chunk_size=_CHUNK)
                for data in map(bytes, stream):
                    digest.update(data)
                    size_bytes += len(data)
                    write(data)
            except (exceptions.NotFoundError, FileNotFoundError):
                wrong = "is missing"
        if not wrong and size_bytes != part.size_bytes:
            wrong = f"{size_bytes:,} bytes, where {part.size_bytes:,} were put"
        if not wrong and digest.hexdigest() != part.sha256:
            wrong = "its bytes are not those that were put: the SHA-256 differs"
        if wrong:
            raise DamagedObject(f"{self.address}/lake/{part.path}: {wrong}. {_ADVICE}")

    def _listing(self, folder: str) -> dict[str, datetime]:
        with self._in_words():
            return {each["path"]: each["last_modified"] for page in obstore.list(self._store, folder) for each in page}

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Replace the store's exceptions by our own, without their text, which may contain keys."""
        try:
            yield
        except exceptions.BaseError as error:
            reasons = (words for code, words in _WORDS.items() if code in str(error))
            words = next(reasons, "it does not answer like S3. Check the address")
            message = f"{self.address}: {words}. Then run the command again; everything committed before is unchanged."
            raise DroplineError(message) from None


def _keys() -> S3Config:
    """Return the credentials of a profile; the store finds those of the environment and the machine's role itself."""
    if "AWS_ACCESS_KEY_ID" in os.environ:
        return {}
    profiles = configparser.ConfigParser()
    profiles.read(os.environ.get("AWS_SHARED_CREDENTIALS_FILE") or Path("~/.aws/credentials").expanduser())
    profile = os.environ.get("AWS_PROFILE", "default")
    if not profiles.has_option(profile, "aws_access_key_id"):
        return {}
    own = profiles[profile]
    keys: S3Config = {"access_key_id": own["aws_access_key_id"], "secret_access_key": own["aws_secret_access_key"]}
    if token := own.get("aws_session_token"):
        keys["session_token"] = token
    return keys
