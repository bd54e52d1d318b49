"""``python -m divisi.demo``: three servers, a key, a numpy array encrypted and opened, what it costs.

All of it is in this process, which protects nothing: it shows what the calls are.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import divisi


def _there(name: str) -> Any:
    """A library that the demonstration can do without."""
    try:
        return __import__(name)
    except ImportError:
        print(f"({name} is missing, and a part is left out: pip install {name})")
        return None


def _opened(sealed: bytes, key: bytes) -> bytes | None:
    """The text of a ciphertext, by a library that knows nothing of Divisi."""
    if _there("cryptography") is None:
        return None
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(key).decrypt(sealed[:12], sealed[12:], b"demo")


def _table(rows: list[list[str]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  " + "  ".join(cells))


def main() -> int:
    """Show it; returns the exit code."""
    numpy = _there("numpy")
    begun = time.monotonic()
    with divisi.local_servers() as servers, servers.connect() as client:
        print(f"Three servers run as threads of this process ({time.monotonic() - begun:.1f} s).")
        key = client.new_key("demo", "aes-256", exportable=True)
        print(f"They drew {key} in parts: none of them has it, and neither does this program.")

        column: Any = bytes(range(256)) * 40
        if numpy is not None:
            column = numpy.frombuffer(column, dtype=numpy.uint8)
        begun = time.monotonic()
        sealed = client.encrypt(key, column, b"demo")
        middle = time.monotonic()
        opened = client.decrypt(key, sealed, b"demo")
        after = time.monotonic()
        kind = type(sealed).__name__
        print(f"{len(column)} bytes were encrypted to a {kind} of {len(sealed)} ({middle - begun:.3f} s), and")
        print(f"decrypted again ({after - middle:.3f} s).")
        if bytes(opened) != bytes(column):
            print("The decrypted bytes differ from the first ones: report this.", file=sys.stderr)
            return 1

        # only because this key was made so: its maker exports it, for the library that opens the ciphertext
        files = ["--config", servers.config, "--identity", servers.identity]
        exported = servers.config + ".key"
        divisi.command("key", "export", "--key", "demo", "--out", exported, *files)
        with open(exported, "rb") as file:
            elsewhere = _opened(bytes(sealed), file.read())
        if elsewhere is not None:
            if elsewhere != bytes(column):
                print("An ordinary library reads something else: report this.", file=sys.stderr)
                return 1
            print("An ordinary library, given the key, opened it: the same bytes.")

    print("What AES costs among processes, by phase:")
    report = divisi.bench("aes", blocks=1024, reps=1, warmup=0)
    rows = [["phase", "ms", "rounds", "bits sent by a party"]]
    for phase in report["phases"]:
        bits = f"{phase['bits_sent_per_party']:,}"
        rows.append([phase["name"], f"{phase['seconds'] * 1e3:.1f}", str(phase["rounds"]), bits])
    _table(rows)
    print(f"  {report['count']:,} blocks by {report['protocol']}, {report['security']}; all outputs checked")
    return 0


if __name__ == "__main__":
    sys.exit(main())
