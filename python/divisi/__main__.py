"""``python -m divisi``, and the script ``divisi``: the command line of Divisi."""

import sys

from . import _native


def main() -> int:
    """Run the command line with the arguments of this process."""
    return _native.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
