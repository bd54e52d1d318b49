"""A column of a Parquet file, encrypted by three servers, and opened elsewhere by an ordinary library.

Whoever encrypts has no key. The other side has it, in a store of its own, and nothing of Divisi: what is in
the file is AES-256-GCM as every library reads it.
"""

from __future__ import annotations

import secrets
import tempfile
from pathlib import Path

import pyarrow
import pyarrow.parquet
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import divisi

NAMES = ["Ada Lovelace", None, "Émilie du Châtelet", "", "Sofja Kowalewskaja", "Ada Lovelace"]


def encrypt(table: pyarrow.Table, config: str, identity: str) -> pyarrow.Table:
    """The table with its column of names encrypted; the names are bound to the column's own."""
    where = {"config": config, "identity": identity}
    sealed = divisi.map(table["name"], keys="names", connect=where, encoding="utf-8", associated="name")
    return table.set_column(1, "name", pyarrow.array(sealed, pyarrow.binary()))


def open_elsewhere(file: Path, key: bytes) -> list[str | None]:
    """The names of a file, by a library that knows nothing of Divisi."""
    box = AESGCM(key)
    column = pyarrow.parquet.read_table(file)["name"].to_pylist()
    return [None if one is None else box.decrypt(one[:12], one[12:], b"name").decode() for one in column]


def main() -> tuple[list[bytes | None], list[str | None]]:
    """What lies in the file, and what the other side reads of it."""
    key = secrets.token_bytes(32)
    table = pyarrow.table({"id": list(range(len(NAMES))), "name": NAMES})
    with tempfile.TemporaryDirectory() as folder, divisi.local_servers() as servers:
        with servers.connect() as client:
            client.import_key("names", key)
        file = Path(folder) / "people.parquet"
        pyarrow.parquet.write_table(encrypt(table, servers.config, servers.identity), file)
        return pyarrow.parquet.read_table(file)["name"].to_pylist(), open_elsewhere(file, key)


if __name__ == "__main__":
    for lies, reads in zip(*main(), strict=True):
        print("null" if lies is None else lies.hex()[:40] + "..", "->", reads)
