#!/usr/bin/env python3
"""Builds the binaries of a release and packages them.

Without --binaries it builds them, statically on Linux. See README.md in this folder.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True

from crate import ROOT, Crate, has_std, host
from deb import deb
from files import installed, packed, tar
from formula import formula
from musl import environment
from npm import npm
from rpm import rpm
from sbom import sbom
from wheel import wheel


def main():
    arguments = parse()
    crate = Crate(arguments.target or default_target())
    out = arguments.output_dir
    out.mkdir(parents=True, exist_ok=True)
    binaries = arguments.binaries or build(crate, arguments.profile)
    bill = sbom(crate)
    made = [write(out / f"{crate.stem}.cdx.json", bill), archive(crate, binaries, bill, out)]
    made += [wheel(crate, binaries, out), *npm(crate, binaries, out)]
    if "linux" in crate.target:
        made += [deb(crate, binaries, bill, out), rpm(crate, binaries, bill, out)]
        if made[-1] is None:
            print("skipped: no rpmbuild, so no RPM package", file=sys.stderr)
    if arguments.url:
        made.append(formula(crate, arguments.url, out))
    made = [path for path in made if path]
    sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made)
    write(out / "SHA256SUMS", sums.encode())
    for path in made:
        print(f"{path.stat().st_size}\t{path}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", help="build for this target [default: musl, if the compiler has it]")
    parser.add_argument("--profile", default="dist", help="build with this profile of Cargo.toml [default: dist]")
    parser.add_argument("--binaries", type=Path, help="package the binaries in this folder instead of building")
    parser.add_argument("--output-dir", type=Path, default=ROOT / "target/packages", help="[default: target/packages]")
    parser.add_argument("--url", help="write a Homebrew formula for archives published below this address")
    return parser.parse_args()


def default_target():
    musl = host().replace("linux-gnu", "linux-musl")
    return musl if has_std(musl) else host()


def build(crate, profile):
    """Builds all binaries; if `cargo auditable` is installed, they contain their list of dependencies."""
    auditable = ["auditable"] if shutil.which("cargo-auditable") else []
    if not auditable:
        print("skipped: no cargo-auditable, so no list of dependencies in the binaries", file=sys.stderr)
    command = ["cargo", *auditable, "build", "--locked", "--profile", profile, "--features", "sqlite", "--bins"]
    target = Path(crate.metadata["target_directory"])
    variables = {**os.environ, **environment(crate.target, target / "musl" / crate.target)}
    if "linux" in crate.target:
        variables["RUSTFLAGS"] = f"{variables.get('RUSTFLAGS', '')} -C target-feature=+crt-static".strip()
    subprocess.run([*command, "--target", crate.target], cwd=ROOT, check=True, env=variables)
    return target / crate.target / ("debug" if profile == "dev" else profile)


def archive(crate, binaries, bill, out):
    """Builds an archive of all files in one directory, which can be unpacked over a prefix such as /usr/local."""
    files = installed(crate, binaries, bill)
    sums = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data, _ in sorted(files))
    files.append(("share/doc/convo/SHA256SUMS", sums.encode(), 0o644))
    return write(out / f"{crate.stem}.tar.gz", packed(tar(files, crate.stem)))


def write(path, data):
    path.write_bytes(data)
    return path


if __name__ == "__main__":
    main()
