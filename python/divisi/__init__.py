"""Threshold symmetric cryptography among machines that trust nobody.

>>> import divisi
>>> with divisi.local_servers() as servers, servers.connect() as client:
...     key = client.new_key("letters")
...     sealed = client.encrypt(key, b"a text that no server sees")
...     client.decrypt(key, sealed)
b'a text that no server sees'

The names that begin with an underscore are not for users. The page is docs/python.md of the repository.
"""

from importlib.util import find_spec as _find_spec

if _find_spec("divisi._native") is None:
    raise ImportError(
        "these are the package's sources, which are not built: `pip install ./python`, then start Python in "
        "another folder than python/"
    )

from ._client import Client, connect
from ._commands import Circuit, Program, bench, command, engines, flat, kat, program, run
from ._errors import Error, UsageError
from ._keys import Key, key_types
from ._map import map
from ._native import VERSION as __version__
from ._party import name_this_interpreter as _name_this_interpreter
from ._servers import LocalServers, local_servers

__all__ = [
    "Circuit",
    "Client",
    "Error",
    "Key",
    "LocalServers",
    "Program",
    "UsageError",
    "__version__",
    "bench",
    "command",
    "connect",
    "engines",
    "flat",
    "kat",
    "key_types",
    "local_servers",
    "map",
    "program",
    "run",
]

_name_this_interpreter()
