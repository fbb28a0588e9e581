"""Reads version and metadata of the crate from `cargo metadata`, so that no package file repeats them."""

import json
import os
import subprocess
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The names of a target's architecture in Linux distributions, Python and Node.js.
ARCHITECTURES = {
    "x86_64": {"deb": "amd64", "rpm": "x86_64", "wheel": "x86_64", "npm": "x64"},
    "aarch64": {"deb": "arm64", "rpm": "aarch64", "wheel": "aarch64", "npm": "arm64"},
}


class Crate:
    """The package `convo-cli` for one target."""

    def __init__(self, target):
        self.target = target

    @cached_property
    def metadata(self):
        command = ["cargo", "metadata", "--locked", "--format-version", "1", "--all-features", "--filter-platform", self.target]
        return json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)

    @cached_property
    def package(self):
        root = self.metadata["resolve"]["root"]
        return next(package for package in self.metadata["packages"] if package["id"] == root)

    @property
    def version(self):
        return self.package["version"]

    @property
    def programs(self):
        """Names of the binaries, `convo` first."""
        return [target["name"] for target in self.package["targets"] if target["kind"] == ["bin"]]

    @property
    def stem(self):
        return f"convo-{self.version}-{self.target}"

    def architecture(self, kind):
        return ARCHITECTURES[self.target.split("-")[0]][kind]


def host():
    """Returns the target of this machine's compiler."""
    about = subprocess.run(["rustc", "-vV"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return next(line.split(": ")[1] for line in about.splitlines() if line.startswith("host: "))


def rustlib():
    """Returns the directory of the compiler's libraries."""
    root = subprocess.run(["rustc", "--print", "sysroot"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return Path(root.strip()) / "lib/rustlib"


def has_std(target):
    """Whether the compiler has a standard library for a target."""
    return (rustlib() / target / "lib").is_dir()


def has_source():
    """Whether the compiler has the source of the standard library."""
    return (rustlib() / "src/rust/library").is_dir()


def epoch():
    """Returns the time of all files in packages: that of the commit."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    shown = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    return int(shown.stdout or 0)
