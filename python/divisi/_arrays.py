"""numpy arrays, where numpy is installed; nothing here imports it unless the caller has."""

from __future__ import annotations

import sys
from typing import Any


def is_array(data: Any) -> bool:
    """Whether this is a numpy array: then numpy is imported already."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(data, numpy.ndarray)


def place_for(like: Any, count: int) -> Any:
    """An array of this many bytes, which are not written yet."""
    numpy = sys.modules["numpy"]
    return numpy.empty(count, dtype=numpy.uint8)


def array_of(data: bytes) -> Any:
    """An array that has these bytes, and may be written."""
    numpy = sys.modules["numpy"]
    return numpy.frombuffer(bytearray(data), dtype=numpy.uint8)
