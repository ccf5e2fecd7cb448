"""Content-addressed bytes, and request bodies rebuilt from the items that each request added."""

import json
import sqlite3
import zlib
from collections.abc import Sequence

from sqlalchemy import Connection

from revereval.canonical import sha256_hex

_COMPRESS_FROM_BYTES = 128
_LEVEL = 1
"""Three times as fast as the default for a tenth more bytes; a paid request waits for it."""


class BlobChangedError(Exception):
    """Stored bytes do not have the digest they are stored under."""


def put_blob(driver: sqlite3.Connection, data: bytes) -> int:
    """Store bytes once, in the caller's transaction; returns the blob's id."""
    digest = sha256_hex(data)
    found = driver.execute("SELECT id FROM blob WHERE digest = ?", (digest,)).fetchone()
    if found is not None:
        return int(found[0])
    packed = zlib.compress(data, _LEVEL) if len(data) >= _COMPRESS_FROM_BYTES else data
    smaller = len(packed) < len(data)
    row = (digest, len(data), smaller, packed if smaller else data)
    insert = "INSERT INTO blob (digest, size_bytes, zlib, data) VALUES (?, ?, ?, ?)"
    return int(driver.execute(insert, row).lastrowid or 0)


def get_blob(connection: Connection, blob_id: int) -> bytes:
    """The bytes, checked against their digest. Raises BlobChangedError."""
    query = "SELECT digest, zlib, CAST(data AS BLOB) FROM blob WHERE id = ?"
    row = _driver(connection).execute(query, (blob_id,)).fetchone()
    if row is None:
        raise BlobChangedError(f"blob {blob_id} is missing")
    digest, compressed, data = row
    try:
        data = zlib.decompress(data) if compressed else bytes(data)
    except zlib.error:
        raise BlobChangedError(f"blob {blob_id} cannot be decompressed") from None
    if sha256_hex(data) != digest:
        raise BlobChangedError(f"blob {blob_id} has not the digest it is stored under")
    return data


def request_parts(
    connection: Connection, request_id: int, known: dict[int, bytes] | None = None
) -> tuple[bytes, list[bytes]]:
    """Head and items of a recorded request, for `provider.body.join`. Raises BlobChangedError.

    known: blobs by id, kept between calls by who reads the requests of one conversation in turn.
    """
    blobs = {} if known is None else known
    try:
        wanted = _part_ids(_driver(connection), request_id)
    except (TypeError, ValueError, KeyError):
        problem = f"request {request_id} cannot be put together from what it extends"
        raise BlobChangedError(problem) from None
    for blob_id in wanted:
        if blob_id not in blobs:
            blobs[blob_id] = get_blob(connection, blob_id)
    head, *items = (blobs[blob_id] for blob_id in wanted)
    return head, items


def _part_ids(driver: sqlite3.Connection, request_id: int) -> list[int]:
    """Blob ids of a request's head and items, the edits of what it extends applied in order."""
    query = "SELECT head_blob_id, base_id, item_count, edits FROM request WHERE id = ?"
    head_id, base_id, count, edits = driver.execute(query, (request_id,)).fetchone()
    ids: dict[int, int] = dict(json.loads(edits))
    passed = {request_id}
    while base_id is not None:
        if base_id in passed:
            raise ValueError("a request extends itself")
        passed.add(base_id)
        _, base_id, _, older = driver.execute(query, (base_id,)).fetchone()
        ids = {**dict(json.loads(older)), **ids}
    return [head_id, *(ids[index] for index in range(count))]


def _driver(connection: Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection), "the dialect is pysqlite"
    return driver


def edits_json(edits: Sequence[tuple[int, int]]) -> str:
    return json.dumps(edits, separators=(",", ":"))
