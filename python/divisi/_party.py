"""The program that a command starts for each party: this interpreter, with nothing but the native module."""

from __future__ import annotations

import sys

from . import _native

# Without the site's packages, the environment's variables and the user's directory an interpreter starts in a
# third of the time, and imports nothing that somebody else has put there.
_CODE = (
    "import sys,importlib.util as u;"
    "s=u.spec_from_file_location('divisi._native',sys.argv[1]);"
    "m=u.module_from_spec(s);s.loader.exec_module(m);"
    "sys.exit(m.main(sys.argv[2:]))"
)


def name_this_interpreter() -> None:
    """Let parties of commands run in processes of this interpreter; where it has no file, none can."""
    file = _native.__file__
    if sys.executable and file:
        _native.name_program(sys.executable, ["-I", "-S", "-c", _CODE, file])
