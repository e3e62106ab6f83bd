"""The objects below one folder of an S3 bucket, through Arrow's file system; what goes wrong is said in words.

An object is seen whole or not at all, and by everybody as soon as it was put:
https://docs.aws.amazon.com/AmazonS3/latest/userguide/Welcome.html#ConsistencyModel

Arrow finds the keys: environment, profile, role of the machine. They are never read here, and what Arrow says of a
failure is not repeated but for its code.
"""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from pyarrow import fs

from dropline.errors import DroplineError
from dropline.paths import ENDPOINT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

_CHUNK: Final = 8 * 1024 * 1024
_ATTEMPTS: Final = 4  # with growing pauses, about 4 s in all where nobody listens
_CONNECT_S: Final = 5.0
_CODE: Final = re.compile(r"AWS Error ([A-Z0-9_]+)")
_KEYS: Final = (
    "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give this machine a role, that may list the "
    "bucket, and get, put and delete objects in the folder"
)
_NO_BUCKET: Final = "NO_SUCH_BUCKET"
_WORDS: Final = {
    _NO_BUCKET: "there is no such bucket. Make it, or correct the address",
    "ACCESS_DENIED": f"access is denied. {_KEYS}",
    "INVALID_ACCESS_KEY_ID": f"the access key is not known there. {_KEYS}",
    "SIGNATURE_DOES_NOT_MATCH": f"the secret key is not that of the access key. {_KEYS}",
    "NETWORK_CONNECTION": f"it cannot be reached. Check the network, and {ENDPOINT} for a server of your own",
}


class BucketUnusable(DroplineError):
    """The bucket cannot be read or written; the text says why and what to do."""


class Object(NamedTuple):
    """What the bucket tells of an object without its bytes."""

    size_bytes: int
    modified_at: datetime


class Bucket:
    """The folder of a bucket that `address`, s3://bucket/folder, names; keys of objects are relative to it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._root = address.removeprefix("s3://")
        with self._in_words():
            self._files = fs.S3FileSystem(
                **_place(self._root.partition("/")[0]),
                allow_delayed_open=True,  # what is small is put by one request
                connect_timeout=_CONNECT_S,
                retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS),
            )

    def name(self, key: str) -> str:
        """Return an object's address, to tell people."""
        return f"{self.address}/{key}"

    def listing(self, folder: str) -> dict[str, Object]:
        """Return all objects below a folder by their key; raises BucketUnusable when there is no bucket."""
        with self._in_words():
            below = fs.FileSelector(f"{self._root}/{folder}", recursive=True, allow_not_found=True)
            found = [info for info in self._files.get_file_info(below) if info.is_file]
            bucket = self._root.partition("/")[0]
            if not found and self._files.get_file_info(bucket).type == fs.FileType.NotFound:
                raise self._unusable(_NO_BUCKET)
        return {info.path.removeprefix(f"{self._root}/"): Object(info.size, info.mtime) for info in found}

    def folders(self, folder: str) -> list[str]:
        """Return the names of the folders right below a folder."""
        with self._in_words():
            below = fs.FileSelector(f"{self._root}/{folder}", allow_not_found=True)
            found = self._files.get_file_info(below)
        return [info.base_name for info in found if info.type == fs.FileType.Directory]

    def get(self, key: str) -> bytes | None:
        """Return the bytes of a small object, None when there is none."""
        with self._in_words():
            try:
                with self._files.open_input_stream(f"{self._root}/{key}") as stream:
                    return bytes(stream.read())
            except FileNotFoundError:
                return None

    def put(self, key: str, data: bytes) -> None:
        """Put a small object by one request."""
        with self._in_words(), self._files.open_output_stream(f"{self._root}/{key}") as stream:
            stream.write(data)

    def download(self, key: str, file: Path | None = None) -> tuple[int, str]:
        """Read an object, into `file` if there is one; return its size in bytes and its SHA-256.

        Raises FileNotFoundError when there is no such object.
        """
        with self._in_words(), ExitStack() as stack:
            stream = stack.enter_context(self._files.open_input_stream(f"{self._root}/{key}"))
            return _copy(stream, stack.enter_context(file.open("wb")) if file else None)

    def upload(self, file: Path, key: str) -> tuple[int, str]:
        """Put a file; return the size in bytes and the SHA-256 of what was sent.

        An object whose file could not be read to its end may be there, cut off.
        """
        path = f"{self._root}/{key}"
        with file.open("rb") as source, self._in_words(), self._files.open_output_stream(path) as stream:
            return _copy(source, stream)

    def remove(self, folder: str) -> None:
        """Remove a folder with all objects below it."""
        with self._in_words():
            self._files.delete_dir(f"{self._root}/{folder}")

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Say what Arrow raises; errors of this machine's disk, and objects that are not there, stay what they are."""
        try:
            yield
        except OSError as error:
            if error.errno is not None or isinstance(error, FileNotFoundError):
                raise
            code = _CODE.search(str(error))
            raise self._unusable(code[1] if code else "") from None

    def _unusable(self, code: str) -> BucketUnusable:
        words = _WORDS.get(code, f"it answers {code or 'nothing of use'}. Check the address, and that it is S3")
        message = f"{self.address}: {words}. Then repeat the command; what was committed before is untouched."
        return BucketUnusable(message)


def _place(bucket: str) -> dict[str, Any]:
    """Return where the bucket is; Arrow itself would take every bucket to be in the first region."""
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if endpoint := os.environ.get(ENDPOINT):
        parts = urlsplit(endpoint)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.path.strip("/"):
            message = f"{ENDPOINT}: expected http://host:port or https://host, without a path and without keys"
            raise BucketUnusable(message)
        return {"scheme": parts.scheme, "endpoint_override": parts.netloc, "region": region or "us-east-1"}
    return {"region": region or fs.resolve_s3_region(bucket)}


def _copy(source: Any, target: Any) -> tuple[int, str]:
    size_bytes, digest = 0, hashlib.sha256()
    while chunk := source.read(_CHUNK):
        digest.update(chunk)
        size_bytes += len(chunk)
        if target:
            target.write(chunk)
    return size_bytes, digest.hexdigest()
