"""Builds static binaries with a compiler that has no standard library for musl: cargo builds it from source.

Requires the source (`rust-src`, or Debian's `rust-web-src`), and Debian's `musl-dev` of the target's architecture, with
`gcc-aarch64-linux-gnu` for 64-bit ARM on another machine.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from crate import ROOT, has_source, has_std, host


def environment(target, folder):
    """Returns additional environment variables for cargo; none if the compiler has the library."""
    if "-linux-musl" not in target or has_std(target):
        return {}
    if not has_source():
        sys.exit(f"error: the compiler has neither a library for {target} nor the source of one\n"
                 f"hint: rustup target add {target}, or install Debian's rustc-web, cargo-web and rust-web-src")
    architecture = target.split("-")[0]
    specs = Path(f"/usr/lib/{architecture}-linux-musl/musl-gcc.specs")
    if not specs.is_file():
        sys.exit(f"error: {specs}: not found\nhint: install Debian's musl-dev of the target's architecture")
    gcc = "gcc" if host().startswith(architecture) else f"{architecture}-linux-gnu-gcc"
    folder.mkdir(parents=True, exist_ok=True)
    # Debian's specs link dynamic programs; change them to static position-independent ones.
    static = re.sub(r"-dynamic-linker \S+", "-static -pie --no-dynamic-linker -z text", specs.read_text())
    (folder / "specs").write_text(static.replace("Scrt1.o", "rcrt1.o"))
    linker = folder / f"{architecture}-linux-musl-gcc"
    linker.write_text(f'#!/bin/sh\nexec {gcc} "$@" -specs {folder}/specs\n')
    linker.chmod(0o755)
    # std links libunwind. GCC's unwinder has the same functions; the shim provides the parts of glibc it needs.
    shim, library = folder / "unwinder.o", folder / "libunwind.a"
    subprocess.run([linker, "-O2", "-fPIC", "-c", ROOT / "packaging/unwinder.c", "-o", shim], check=True)
    unwinder = subprocess.run([gcc, "-print-file-name=libgcc_eh.a"], check=True, stdout=subprocess.PIPE, text=True)
    shutil.copyfile(unwinder.stdout.strip(), library)
    subprocess.run(["ar", "r", library, shim], check=True)
    name = target.replace("-", "_")
    return {
        "RUSTC_BOOTSTRAP": "1",
        "CARGO_UNSTABLE_BUILD_STD": "std,panic_unwind",
        f"CARGO_TARGET_{name.upper()}_LINKER": str(linker),
        f"CC_{name}": str(linker),
        "RUSTFLAGS": f"{os.environ.get('RUSTFLAGS', '')} -C link-self-contained=no -L {folder}".strip(),
    }
