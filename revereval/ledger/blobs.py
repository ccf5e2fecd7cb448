"""Content-addressed bytes, and request bodies rebuilt from the items that each request added."""

import json
import zlib
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, CursorResult, bindparam, insert, select

from revereval.canonical import sha256_hex
from revereval.ledger.tables import Blob, Request, table

_COMPRESS_FROM_BYTES = 128
_LEVEL = 1
"""Three times as fast as the default for a tenth more bytes; a paid request waits for it."""

_BLOB, _REQUEST = table(Blob), table(Request)
_FIND = select(_BLOB.c.id).where(_BLOB.c.digest == bindparam("digest"))
_LOAD = select(_BLOB.c.digest, _BLOB.c.zlib, _BLOB.c.data).where(_BLOB.c.id == bindparam("id"))
_ADD = insert(_BLOB)
_PARTS = select(
    _REQUEST.c.head_blob_id, _REQUEST.c.base_id, _REQUEST.c.item_count, _REQUEST.c.edits
).where(_REQUEST.c.id == bindparam("id"))


class BlobChangedError(Exception):
    """Stored bytes do not have the digest they are stored under."""


def put_blob(connection: Connection, data: bytes, digest: str | None = None) -> int:
    """Store bytes once; returns the blob's id."""
    digest = digest or sha256_hex(data)
    found = connection.execute(_FIND, {"digest": digest}).scalar()
    if found is not None:
        return int(found)
    packed = zlib.compress(data, _LEVEL) if len(data) >= _COMPRESS_FROM_BYTES else data
    smaller = len(packed) < len(data)
    row = {
        "digest": digest,
        "size_bytes": len(data),
        "zlib": smaller,
        "data": packed if smaller else data,
    }
    return inserted_id(connection.execute(_ADD, row))


def get_blob(connection: Connection, blob_id: int) -> bytes:
    """The bytes, checked against their digest. Raises BlobChangedError."""
    digest, compressed, data = connection.execute(_LOAD, {"id": blob_id}).one()
    try:
        data = zlib.decompress(data) if compressed else data
    except zlib.error:
        raise BlobChangedError(f"blob {blob_id} cannot be decompressed") from None
    if sha256_hex(data) != digest:
        raise BlobChangedError(f"blob {blob_id} has not the digest it is stored under")
    return bytes(data)


def request_parts(connection: Connection, request_id: int) -> tuple[bytes, list[bytes]]:
    """Head and items of a recorded request, for `provider.body.join`. Raises BlobChangedError."""
    head_id, base_id, count, edits = connection.execute(_PARTS, {"id": request_id}).one()
    ids: dict[int, int] = dict(json.loads(edits))
    while base_id is not None:
        _, base_id, _, older = connection.execute(_PARTS, {"id": base_id}).one()
        ids = {**dict(json.loads(older)), **ids}
    items = [get_blob(connection, ids[index]) for index in range(count)]
    return get_blob(connection, head_id), items


def inserted_id(result: CursorResult[Any]) -> int:
    key = result.inserted_primary_key
    assert key is not None, "a single-row insert has a key"
    return int(key[0])


def edits_json(edits: Sequence[tuple[int, int]]) -> str:
    return json.dumps(edits, separators=(",", ":"))
