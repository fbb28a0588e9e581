"""Runs the program and reads its output."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any


class Error(Exception):
    """Raised when a run fails: ``status`` as in ``man convo``, ``message`` from standard error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(status, message)  # the arguments of the copy that pickle makes
        self.status = status
        self.message = message

    def __str__(self) -> str:
        return self.message or f"convo exited with status {self.status}"


def path() -> str:
    """Returns the path of the program: the one installed with this package, else the first on ``PATH``."""
    schemes = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))]
    for folder in schemes:
        program = os.path.join(folder, "convo")
        if os.access(program, os.X_OK):
            return program
    program = shutil.which("convo") or ""
    if not program:
        raise FileNotFoundError("convo: not installed with this package, and not on PATH")
    return program


def run(
    arguments: Sequence[str | os.PathLike[str]], *, input: bytes | str | None = None, check: bool = True
) -> subprocess.CompletedProcess[bytes]:
    """Runs ``convo`` with these arguments; ``input`` is its standard input (empty by default).

    Returns the finished process with ``stdout`` and ``stderr`` as bytes. Raises ``Error`` for a status other than 0,
    unless ``check`` is false: some statuses are results, e.g. 1 of ``diff``.
    """
    data = input.encode() if isinstance(input, str) else input or b""
    done = subprocess.run([path(), *arguments], input=data, capture_output=True, check=False)
    if check and done.returncode != 0:
        raise Error(done.returncode, done.stderr.decode(errors="replace").strip())
    return done


def read(source: str | os.PathLike[str], *, format: str | None = None) -> Iterator[dict[str, Any]]:
    """Yields the messages of every session in a file, or of a stored session, as a model would receive them.

    ``source`` is a path, or the name of a stored session. ``format`` is detected by default. Reads one session at a
    time. If something cannot be read, raises ``Error`` after all readable messages. Raises ``ValueError`` for an integer
    with more digits than Python converts (``sys.set_int_max_str_digits``).
    """
    for record in _lines(["context", "--to", "jsonl"], source, format):
        if "role" in record:
            yield record


def records(source: str | os.PathLike[str], *, format: str | None = None) -> Iterator[dict[str, Any]]:
    """Yields every record: session headers (``type`` is ``session``), messages, and events such as summaries."""
    yield from _lines(["cat", "--unpack"], source, format)


def _lines(
    command: list[str], source: str | os.PathLike[str], format: str | None
) -> Iterator[dict[str, Any]]:
    chosen = ["--from", format] if format else []
    # An absolute path is never read as the name of a session.
    name = os.fspath(source)
    if os.path.exists(name) and not os.path.isdir(name):
        name = os.path.abspath(name)
    with tempfile.TemporaryFile() as messages:
        arguments = [path(), *command, "--quiet", *chosen, "--", name]
        with subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=messages) as child:
            assert child.stdout is not None
            for line in child.stdout:
                record = _parsed(line)
                if record is not None:
                    yield record
        if child.returncode != 0:
            messages.seek(0)
            raise Error(child.returncode, messages.read().decode(errors="replace").strip())


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Returns the record of a line; nothing for a blank line, and for a damaged one, which the program reports."""
    try:
        record = json.loads(line)
    except (json.JSONDecodeError, UnicodeDecodeError):
        return None
    return record if isinstance(record, dict) else None
