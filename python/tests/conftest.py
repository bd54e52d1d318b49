"""Three servers and a client for all tests of a run."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

import divisi

LONG = os.environ.get("DIVISI_LONG") == "1"


def repetitions(usual: int, long: int) -> int:
    """How often: more with DIVISI_LONG=1."""
    return long if LONG else usual


@pytest.fixture(scope="session")
def servers() -> Iterator[divisi.LocalServers]:
    """Three servers with two clients."""
    with divisi.local_servers(["me", "you"]) as servers:
        yield servers


@pytest.fixture(scope="session")
def client(servers: divisi.LocalServers) -> Iterator[divisi.Client]:
    """The first client, patient enough for a busy machine."""
    with servers.connect(patience=60, timeout=60) as client:
        yield client


@pytest.fixture(scope="session")
def key(client: divisi.Client) -> divisi.Key:
    """A key of AES-GCM whose value a test may see."""
    return client.import_key("column", bytes(range(32)), "aes-256")
