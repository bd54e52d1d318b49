"""What is raised: errors of servers and commands with their fields, and mistakes of the caller."""

from __future__ import annotations


class Error(Exception):
    """A call failed. ``str`` of it is one sentence: the cause, and what to do.

    ``kind`` is ``"abort"`` (a session of the parties ended), ``"refused"``, ``"unavailable"`` (a server
    cannot be reached or is not ready), ``"mismatch"`` (a result, tag or ciphertext is wrong) or ``"usage"``
    (a mistake of the caller); ``retry`` says whether the same call may succeed later; ``peer`` is the number
    of the party at fault, if it is known; ``step`` is where it happened; ``by_all`` says whether all three
    servers say so.
    """

    kind: str
    retry: bool
    peer: int | None
    step: str | None
    by_all: bool

    def __init__(
        self,
        message: str,
        kind: str = "usage",
        retry: bool = False,
        peer: int | None = None,
        step: str | None = None,
        by_all: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry = retry
        self.peer = peer
        self.step = step
        self.by_all = by_all

    def __reduce__(self) -> tuple[type[Error], tuple[str, str, bool, int | None, str | None, bool]]:
        # an error crosses processes with its fields
        fields = (str(self), self.kind, self.retry, self.peer, self.step, self.by_all)
        return (type(self), fields)


class UsageError(Error, ValueError):
    """A value that the caller has to correct; nothing was sent."""


def made(
    message: str, kind: str, retry: bool, peer: int | None, step: str | None, by_all: bool
) -> Error:
    """The exception for these fields; the native module calls it."""
    make = UsageError if kind == "usage" else Error
    return make(message, kind, retry, peer, step, by_all)
