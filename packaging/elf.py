"""Finds the glibc version that a Linux binary requires."""

import re
import struct
from pathlib import Path

INTERPRETER = 3  # PT_INTERP: the path of the dynamic linker


def needed_glibc(path):
    """Returns the newest glibc version that a binary requires, e.g. (2, 17), or None for a static binary."""
    data = Path(path).read_bytes()
    if data[:4] != b"\x7fELF":
        return None
    start, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    kinds = [struct.unpack_from("<I", data, start + nth * size)[0] for nth in range(count)]
    if INTERPRETER not in kinds:
        return None
    versions = re.findall(rb"\0GLIBC_(\d+)\.(\d+)", data)
    return max((int(major), int(minor)) for major, minor in versions)


def newest_needed(paths):
    """Returns the newest glibc version that any of the binaries requires."""
    return max((found for found in map(needed_glibc, paths) if found), default=None)
