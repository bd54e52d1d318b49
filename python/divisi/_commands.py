"""Engines, circuits, programs and benchmarks: the commands of the command line, with its checks and its JSON.

An option of a command or an engine is a keyword argument: ``--message-bytes 32`` is ``message_bytes=32``, and
an option without a value is ``True``. ``divisi engines NAME`` on the command line, or :func:`engines` here,
says which options an engine has.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from . import _native
from ._errors import Error, UsageError, made

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    Value = str | ReadableBuffer

Json = dict[str, Any]

_HEX = re.compile(r"(0x)?[0-9a-fA-F]*")
# what the command line says of its own words
_HELP = re.compile(r"; `--help` after the command explains \w+")
_PAIR = re.compile(r"an --input P=HEX for each")
_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)")


def _call(words: Sequence[str], options: Mapping[str, Any]) -> Json:
    """The JSON of a command. Its sentences name options as they are written here."""
    arguments = [*words, *_flags(options)]
    try:
        answer: Json = json.loads(_native.command(arguments))
    except Error as error:
        said = _PAIR.sub("an (owner, value) for each", _HELP.sub("", str(error)))
        said = _OPTION.sub(lambda found: found[1].replace("-", "_") + "=", said)
        fields = (error.kind, error.retry, error.peer, error.step, error.by_all)
        raise made(said, *fields) from None
    return answer


def _flags(options: Mapping[str, Any]) -> Iterator[str]:
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        values = value if isinstance(value, list | tuple) else [value]
        for one in values:
            if one is True:
                yield flag
            elif one is not None and one is not False:
                yield f"{flag}={os.fspath(one) if isinstance(one, os.PathLike) else one}"


def _digits(value: Any, what: str) -> str:
    """A value of a circuit as hexadecimal digits, from digits or bytes."""
    if isinstance(value, str):
        if _HEX.fullmatch(value) is None:
            raise UsageError(f"{what} is not hexadecimal: give digits as the standard prints them, or bytes")
        return value
    try:
        view = memoryview(value)
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f"{what} is {kind}: give hexadecimal digits as str, or bytes") from None
    if view.format not in ("B", "b", "c"):
        raise TypeError(f"{what} has items of format {view.format!r}: give an array whose dtype is uint8")
    return view.tobytes().hex()


class Circuit:
    """A Boolean circuit: the name of a built-in one (``"aes128"``, ``"sha256:55"``), or a file in Bristol Fashion.

    :meth:`from_text` takes the text of one.
    """

    def __init__(self, name: str | os.PathLike[str]) -> None:
        self._name: str = os.fspath(name)
        self._text: str | None = None

    @classmethod
    def from_text(cls, text: str) -> Circuit:
        """A circuit from text in Bristol Fashion, or in the old Bristol format."""
        circuit = cls("a text")
        circuit._text = text
        return circuit

    def __repr__(self) -> str:
        shown = "from_text(...)" if self._text is not None else f"({self._name!r})"
        return f"divisi.Circuit{shown if shown[0] == '(' else '.' + shown}"

    @contextlib.contextmanager
    def _file(self) -> Iterator[str]:
        """The name by which a command finds it."""
        if self._text is None:
            yield self._name
            return
        with tempfile.NamedTemporaryFile("w", prefix="divisi-circuit-", suffix=".txt") as file:
            file.write(self._text)
            file.flush()
            yield file.name

    def info(self, **options: Any) -> Json:
        """Its counts of gates, the widths of its inputs and outputs, its depth."""
        with self._file() as name:
            return _call(["circuit", "info", *_flags(options), "--", name], {})

    def eval(self, inputs: Iterable[Value], **options: Any) -> list[str]:
        """Evaluate it in the clear: the output values in hexadecimal."""
        values = [f"--input={_digits(value, 'an input')}" for value in inputs]
        with self._file() as name:
            answer = _call(["circuit", "eval", *values, *_flags(options), "--", name], {})
        return list(answer["outputs"])


def run(
    circuit: str | os.PathLike[str] | Circuit,
    *,
    inputs: Iterable[tuple[int, Value]],
    engine: str | None = None,
    parties: int | None = None,
    **options: Any,
) -> Json:
    """Run a circuit among parties, which are processes of this machine; this process knows all inputs.

    ``inputs`` has an ``(owner, value)`` for each input value, in the circuit's order: the number of the party
    from 1, and hexadecimal digits or bytes. The result has the ``outputs`` in hexadecimal, and what the run
    cost. ``output=["1=2,3", "2=1"]`` says which parties learn which output value.

    >>> divisi.run("aes128", inputs=[(1, bytes(16)), (2, bytes(16))])["outputs"]
    ['66e94bd4ef8a2c3b884cfa59ca342e2e']
    """
    circuit = circuit if isinstance(circuit, Circuit) else Circuit(circuit)
    given = []
    for number, pair in enumerate(inputs, 1):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(f"input {number} is no pair: give (owner, value), as (1, '00ff')")
        given.append(f"{int(pair[0])}={_digits(pair[1], f'input {number}')}")
    with circuit._file() as name:
        named = {"circuit": name, "input": given, "engine": engine, "parties": parties}
        return _call(["run"], {**named, **options})


class Program:
    """A program on numbers and bits: its file, the name of a built-in one, or :meth:`from_text`."""

    def __init__(self, name: str | os.PathLike[str]) -> None:
        self._held = Circuit(name)

    @classmethod
    def from_text(cls, text: str) -> Program:
        """A program from its text, which begins with the line ``divisi program 1``."""
        program = cls("a text")
        program._held = Circuit.from_text(text)
        return program

    def __repr__(self) -> str:
        return repr(self._held).replace("Circuit", "Program")

    def info(self) -> Json:
        """Its inputs and outputs, and what a run costs."""
        with self._held._file() as name:
            return _call(["program", "info", "--", name], {})

    def eval(self, inputs: Mapping[str, Any]) -> Json:
        """Evaluate it in the clear: the outputs by their names."""
        with self._held._file() as name:
            answer = _call(["program", "eval", *_flags({"input": _numbers(inputs)}), "--", name], {})
        return dict(answer["outputs"])


def _numbers(inputs: Mapping[str, Any]) -> list[str]:
    """The values of a program's inputs, by name: numbers, or arrays of them, row by row."""
    given = []
    for name, values in inputs.items():
        flat = values.ravel().tolist() if hasattr(values, "ravel") else list(_leaves(values))
        try:
            words = [str(int(value)) for value in flat if float(value) == int(value)]
        except (TypeError, ValueError):
            words = []
        if len(words) != len(flat):
            raise TypeError(f"input {name!r} has values that are no whole numbers: give whole numbers")
        given.append(f"{name}={','.join(words)}")
    return given


def _leaves(values: Any) -> Iterator[Any]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        yield values
        return
    for value in values:
        yield from _leaves(value)


def program(
    program: str | os.PathLike[str] | Program,
    *,
    inputs: Mapping[str, Any],
    engine: str = "mixed",
    parties: int | None = None,
    **options: Any,
) -> Json:
    """Run a program on numbers and bits among parties, which are processes of this machine.

    ``inputs`` has the values of each input by its name: a number, or an array of any shape, row by row; the
    program says who owns them. The result has ``outputs`` by their names, and what the run cost.
    """
    program = program if isinstance(program, Program) else Program(program)
    with program._held._file() as name:
        named = {"program": name, "input": _numbers(inputs), "engine": engine, "parties": parties}
        return _call(["run"], {**named, **options})


@overload
def bench(what: str = ..., *, records: Literal[False] = ..., **options: Any) -> Json: ...


@overload
def bench(what: str = ..., *, records: Literal[True], **options: Any) -> list[Json]: ...


def bench(what: str = "aes", *, records: bool = False, **options: Any) -> Json | list[Json]:
    """Measure as ``divisi bench WHAT`` does, by the same code: its JSON as a dict.

    ``what`` is aes, des3, hash, mac, circuit, mixed, lookup, file, serve or calibrate. With ``records`` the
    result is a list of flat dicts for pandas or polars: one for each phase (or kind of request), with what
    holds for the whole run repeated in each.

    >>> divisi.bench("aes", blocks=1000, security="semi-honest")["online_per_second"]  # doctest: +SKIP
    """
    answer = _call(["bench", what], options)
    return flat(answer) if records else answer


def flat(answer: Json) -> list[Json]:
    """The JSON of a benchmark as flat records: one for each phase, or one in all if it has none."""
    parts: list[Json] = [{}]
    if isinstance(answer.get("phases"), list):
        parts = [{f"phase_{name}": value for name, value in phase.items()} for phase in answer["phases"]]
    elif isinstance(answer.get("kinds"), dict):
        kinds: dict[str, Json] = answer["kinds"]
        parts = [{"kind": kind, **{f"kind_{n}": v for n, v in of.items()}} for kind, of in kinds.items()]
    whole: Json = {}
    for name, value in answer.items():
        if name in ("phases", "kinds", "schema", "checks"):
            continue
        if isinstance(value, dict):
            whole |= {f"{name}_{inner}": one for inner, one in value.items() if not isinstance(one, dict | list)}
        elif not isinstance(value, list):
            whole[name] = value
    return [{**whole, **part} for part in parts]


def engines() -> list[Json]:
    """The engines, from the registry: parties, adversary, kinds of jobs, and the options of each as data."""
    return list(_call(["engines"], {})["engines"])


def kat(*files: str | os.PathLike[str], engine: str | None = None, **options: Any) -> Json:
    """Run published test vectors (Wycheproof, ACVP, NIST) through an engine: what passed and what failed."""
    words = ["kat", *_flags({"engine": engine, **options}), "--", *(os.fspath(file) for file in files)]
    return _call(words, {})


def command(*words: str) -> Json:
    """Any command of the command line, by its words: the JSON that it prints with ``--json``.

    >>> divisi.command("params", "--op", "dabit", "--parties", "3")["schema"]
    1
    """
    return _call(words, {})
