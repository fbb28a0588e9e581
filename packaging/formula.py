"""Writes the Homebrew formula of a release: the archive of each target, with its checksum."""

import hashlib
from pathlib import Path

from crate import ROOT

# The blocks of a formula by the beginning of the target.
SYSTEMS = {
    "aarch64-apple-darwin": ("on_macos", "on_arm"),
    "x86_64-apple-darwin": ("on_macos", "on_intel"),
    "aarch64-unknown-linux-": ("on_linux", "on_arm"),
    "x86_64-unknown-linux-": ("on_linux", "on_intel"),
}


def formula(crate, url, out):
    """Lists every archive of this version in a directory; `url` is the base address of the published archives."""
    sources = ""
    for archive in sorted(Path(out).glob(f"convo-{crate.version}-*.tar.gz")):
        target = archive.name.removeprefix(f"convo-{crate.version}-")
        blocks = next((blocks for start, blocks in SYSTEMS.items() if target.startswith(start)), None)
        if blocks:
            checksum = hashlib.sha256(archive.read_bytes()).hexdigest()
            sources += f"  {blocks[0]} do\n    {blocks[1]} do\n"
            sources += f'      url "{url}/{archive.name}"\n      sha256 "{checksum}"\n    end\n  end\n'
    facts = {"DESCRIPTION": crate.package["description"], "VERSION": crate.version, "SOURCES": sources,
             "HOMEPAGE": crate.package["homepage"] or crate.package["repository"] or url}
    text = (ROOT / "packaging/homebrew/convo.rb.in").read_text()
    for key, value in facts.items():
        text = text.replace(f"@{key}@", value)
    path = Path(out) / "convo.rb"
    path.write_text(text)
    return path
