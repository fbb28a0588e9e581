"""Builds a Debian package without Debian's tools: an `ar` archive of two tar archives."""

import hashlib
import os
import re
from email.utils import formatdate
from pathlib import Path

from crate import ROOT, epoch
from elf import newest_needed
from files import installed, packed, tar

# The address of the builder, from the same variables as Debian's tools.
MAINTAINER = f"{os.environ.get('DEBFULLNAME', 'The convo authors')} <{os.environ.get('DEBEMAIL', 'convo@localhost')}>"

SYNOPSIS = "toolkit for LLM conversation sessions"

COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: convo

Files: *
Copyright: the convo authors
License: Expat or Apache-2.0
"""


def deb(crate, binaries, sbom, out):
    files = [file for file in installed(crate, binaries, sbom, zsh="share/zsh/vendor-completions")
             if not re.search(r"/(LICENSE-\w+|CHANGELOG\.md)$", file[0])]
    files.append(("share/doc/convo/copyright", (COPYRIGHT + licence()).encode(), 0o644))
    files.append(("share/doc/convo/changelog.gz", packed((ROOT / "CHANGELOG.md").read_bytes()), 0o644))
    files.append(("share/doc/convo/changelog.Debian.gz", packed(changelog(crate).encode()), 0o644))
    sums = "".join(f"{hashlib.md5(data).hexdigest()}  usr/{name}\n" for name, data, _ in sorted(files))
    size = sum(len(data) // 1024 + 1 for _, data, _ in files)
    control = [("control", control_file(crate, binaries, size).encode(), 0o644), ("md5sums", sums.encode(), 0o644)]
    path = Path(out) / f"convo_{version(crate)}_{crate.architecture('deb')}.deb"
    members = [("debian-binary", b"2.0\n"), ("control.tar.gz", packed(tar(control, "", "./"))),
               ("data.tar.gz", packed(tar(files, "usr", "./")))]
    path.write_bytes(b"!<arch>\n" + b"".join(member(*one) for one in members))
    return path


def member(name, data):
    head = f"{name:<16}{epoch():<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode()
    return head + data + b"\n" * (len(data) % 2)


def control_file(crate, binaries, size):
    newest = newest_needed(Path(binaries) / name for name in crate.programs)
    lines = {
        "Package": "convo",
        "Version": version(crate),
        "Architecture": crate.architecture("deb"),
        "Maintainer": MAINTAINER,
        "Installed-Size": size,
        "Depends": f"libc6 (>= {newest[0]}.{newest[1]}), libgcc-s1" if newest else None,
        "Section": "utils",
        "Priority": "optional",
        "Homepage": crate.package["homepage"] or crate.package["repository"],
        "Description": f"{SYNOPSIS}\n {crate.package['description']}.",
    }
    return "".join(f"{key}: {value}\n" for key, value in lines.items() if value)


def version(crate):
    return f"{crate.version}-1"


def changelog(crate):
    """Returns the Debian changelog, which lists only changes of the package."""
    return f"convo ({version(crate)}) unstable; urgency=medium\n\n  * Release {crate.version}.\n\n -- {MAINTAINER}  {formatdate(epoch())}\n"


def licence():
    """Formats the licenses as paragraphs of the copyright file."""
    text = (ROOT / "LICENSE-MIT").read_text().strip()
    body = "\n".join(f" {line}" if line.strip() else " ." for line in text.splitlines())
    return f"\nLicense: Expat\n{body}\n\nLicense: Apache-2.0\n See /usr/share/common-licenses/Apache-2.0.\n"
