"""The same bytes by Python, by the command line and by an ordinary library."""

from __future__ import annotations

import hashlib
import hmac
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import cmac, keywrap
from cryptography.hazmat.primitives.ciphers import algorithms
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESSIV

import divisi
from divisi._commands import Json

from .conftest import repetitions

CALLS = repetitions(200, 2000)
HASHES = ["sha256", "sha512", "sha3-256", "sha384", "sha3-512", "shake128"]


def digest(name: str, text: bytes) -> bytes:
    """The digest by Python's own library."""
    if name == "shake128":
        return hashlib.shake_128(text).digest(32)
    return hashlib.new(name.replace("sha3-", "sha3_"), text).digest()


class Calls:
    """Random calls, each made in three ways."""

    def __init__(self, servers: divisi.LocalServers, client: divisi.Client, folder: Path) -> None:
        self.client = client
        self.random = random.Random(38)
        self.folder = folder
        self.files = ["--config", servers.config, "--identity", servers.identity, "--timeout", "60"]
        self.values: dict[str, bytes] = {}
        self.keys: dict[str, divisi.Key] = {}
        self.number = 0
        sizes = {"aes-128": 16, "aes-192": 24, "aes-256": 32, "aes-256-siv": 64, "aes-128-kw": 16}
        sizes |= {"hmac-sha256": 32, "cmac-aes128": 16, "gmac-aes256": 32}
        for kind, size in sizes.items():
            value = self.random.randbytes(size)
            self.values[kind] = value
            self.keys[kind] = client.import_key(f"parity-{kind}", value, kind)

    def text(self, most: int) -> bytes:
        """A random text, often a short one."""
        return self.random.randbytes(self.random.choice([0, 1, 16, self.random.randrange(most)]))

    def by_command(self, *words: str, text: bytes) -> Json:
        """The JSON of the command line for this text; each tenth by a process of its own."""
        source = self.folder / "in"
        source.write_bytes(text)
        words = (*words, "--in", str(source), *self.files)
        self.number += 1
        if self.number % 10 != 0:
            return divisi.command(*words)
        run = [sys.executable, "-m", "divisi", *words, "--json"]
        done = subprocess.run(run, capture_output=True, check=False)
        assert done.returncode == 0, done
        answer: Json = json.loads(done.stdout)
        return answer

    def file_by_command(self, *words: str, text: bytes) -> bytes:
        """What the command line writes to a file."""
        out = self.folder / "out"
        self.by_command(*words, "--out", str(out), text=text)
        return out.read_bytes()

    def gcm(self) -> None:
        kind = self.random.choice(["aes-128", "aes-192", "aes-256"])
        key, other = self.keys[kind], AESGCM(self.values[kind])
        text, aad = self.text(5000), self.text(50)
        sealed = self.client.encrypt(key, text, aad)
        assert other.decrypt(sealed[:12], sealed[12:], aad) == text
        iv = self.random.randbytes(12)
        foreign = iv + other.encrypt(iv, text, aad)
        assert self.client.decrypt(key, foreign, aad) == text
        words = ["--key", key.name, *(["--aad-hex", aad.hex()] if aad else [])]
        assert self.file_by_command("decrypt", *words, text=sealed) == text
        made = self.file_by_command("encrypt", *words, text=text)
        assert self.client.decrypt(key, made, aad) == text

    def siv(self) -> None:
        key, other = self.keys["aes-256-siv"], AESSIV(self.values["aes-256-siv"])
        text = self.text(200) or b"x"
        sealed = self.client.encrypt(key, text)
        assert sealed == other.encrypt(text, None)
        assert self.client.decrypt(key, sealed) == text
        assert self.file_by_command("encrypt", "--key", key.name, text=text) == sealed

    def wrapping(self) -> None:
        key, value = self.keys["aes-128-kw"], self.values["aes-128-kw"]
        text = self.random.randbytes(8 * self.random.randrange(2, 9))
        wrapped = self.client.encrypt(key, text)
        assert wrapped == keywrap.aes_key_wrap(value, text)
        assert self.client.decrypt(key, wrapped) == text
        odd = self.random.randbytes(self.random.randrange(1, 40))
        padded = self.client.encrypt(key, odd, mode="kwp")
        assert padded == keywrap.aes_key_wrap_with_padding(value, odd)
        assert self.client.decrypt(key, padded, mode="kwp") == odd

    def hash(self) -> None:
        name, text = self.random.choice(HASHES), self.text(200)
        expected = digest(name, text)
        assert self.client.hash(text, name) == expected
        answer = self.by_command("hash", "--algorithm", name, text=text)
        assert bytes.fromhex(answer["digest"]) == expected

    def hmac(self) -> None:
        key, text = self.keys["hmac-sha256"], self.text(100)
        expected = hmac.digest(self.values["hmac-sha256"], text, "sha256")
        assert self.client.mac(key, text) == expected
        assert self.client.mac_verify(key, text, expected)
        assert not self.client.mac_verify(key, text + b"x", expected)
        answer = self.by_command("mac", "--key", key.name, text=text)
        assert bytes.fromhex(answer["tag"]) == expected

    def cmac(self) -> None:
        key, text = self.keys["cmac-aes128"], self.text(100)
        other = cmac.CMAC(algorithms.AES(self.values["cmac-aes128"]))
        other.update(text)
        expected = other.finalize()
        assert self.client.mac(key, text) == expected
        answer = self.by_command("mac", "--key", key.name, text=text)
        assert bytes.fromhex(answer["tag"]) == expected

    def gmac(self) -> None:
        key, text = self.keys["gmac-aes256"], self.text(500)
        made = self.client.mac(key, text)
        assert made[12:] == AESGCM(self.values["gmac-aes256"]).encrypt(made[:12], b"", text)
        assert self.client.mac_verify(key, text, made)
        self.by_command("mac", "--key", key.name, "--verify", made.hex(), text=text)

    def some(self) -> None:
        """One of the calls."""
        both = [self.siv, self.wrapping, self.hash, self.hmac, self.cmac, self.gmac]
        self.random.choice([self.gcm, self.gcm, *both])()


def test_random_calls_give_equal_bytes_in_three_ways(
    servers: divisi.LocalServers, client: divisi.Client, tmp_path: Path
) -> None:
    calls = Calls(servers, client, tmp_path)
    for _ in range(CALLS):
        calls.some()


def test_lists_give_what_single_calls_give(client: divisi.Client, key: divisi.Key) -> None:
    texts = [bytes([n]) * n for n in range(40)]
    sealed = client.encrypt_all(key, texts, b"all")
    assert [AESGCM(bytes(range(32))).decrypt(one[:12], one[12:], b"all") for one in sealed] == texts
    assert client.decrypt_all(key, sealed, [b"all"] * 40) == texts
    assert client.hash_all(texts[:5]) == [hashlib.sha256(text).digest() for text in texts[:5]]
    tagger = client.import_key("lists-hmac", b"k" * 32, "hmac-sha256")
    tags = client.mac_all(tagger, texts[:5])
    assert tags == [hmac.digest(b"k" * 32, text, "sha256") for text in texts[:5]]
    tags[3] = bytes(32)
    assert client.mac_verify_all(tagger, texts[:5], tags) == [True, True, True, False, True]
    assert client.encrypt_all(key, []) == []


def test_a_ciphertext_that_was_changed_is_refused(client: divisi.Client, key: divisi.Key) -> None:
    sealed = bytearray(client.encrypt(key, b"a text"))
    sealed[-1] ^= 1
    with pytest.raises(divisi.Error) as raised:
        client.decrypt(key, sealed)
    assert (raised.value.kind, raised.value.by_all, raised.value.peer) == ("mismatch", True, None)
    assert not raised.value.retry and raised.value.step
