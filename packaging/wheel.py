"""Builds a Python wheel with the binaries as scripts, and the module `convo`."""

import base64
import hashlib
import zipfile
from datetime import datetime, timezone
from pathlib import Path

from crate import ROOT, epoch
from elf import newest_needed
from files import GUIDES

NAME = "convo_cli"


def wheel(crate, binaries, out):
    tag = f"py3-none-{platform(crate, binaries)}"
    info = f"{NAME}-{crate.version}.dist-info"
    files = [(f"{NAME}-{crate.version}.data/scripts/{name}", (Path(binaries) / name).read_bytes(), 0o755)
             for name in crate.programs]
    files += [(f"convo/{path.name}", path.read_bytes(), 0o644) for path in (ROOT / "python/convo").iterdir() if path.is_file()]
    files += [(f"{info}/licenses/{name}", (ROOT / name).read_bytes(), 0o644) for name in ("LICENSE-MIT", "LICENSE-APACHE")]
    files += [(f"{NAME}-{crate.version}.data/data/share/doc/convo/{place}", (ROOT / name).read_bytes(), 0o644)
              for name, place in GUIDES.items()]
    files.append((f"{info}/METADATA", metadata(crate).encode(), 0o644))
    tags = "".join(f"Tag: py3-none-{one}\n" for one in platform(crate, binaries).split("."))
    files.append((f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: convo\nRoot-Is-Purelib: false\n{tags}".encode(), 0o644))
    files.sort()
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data, _ in files)
    files.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), 0o644))
    path = Path(out) / f"{NAME}-{crate.version}-{tag}.whl"
    # Zip archives cannot represent times before 1980.
    time = datetime.fromtimestamp(max(epoch(), 315532800), timezone.utc).timetuple()[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data, mode in files:
            entry = zipfile.ZipInfo(name, time)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return path


def platform(crate, binaries):
    """Returns the platform tags of the binaries; static ones run on every Linux."""
    machine = crate.architecture("wheel")
    if "apple" in crate.target:
        return f"macosx_11_0_{machine.replace('aarch64', 'arm64')}"
    newest = newest_needed(Path(binaries) / name for name in crate.programs)
    if newest:
        return f"manylinux_{newest[0]}_{newest[1]}_{machine}"
    return f"manylinux_2_17_{machine}.musllinux_1_1_{machine}"


def metadata(crate):
    head = {
        "Metadata-Version": "2.4",
        "Name": NAME.replace("_", "-"),
        "Version": crate.version,
        "Summary": crate.package["description"],
        "License-Expression": crate.package["license"],
        "License-File": "LICENSE-MIT\nLicense-File: LICENSE-APACHE",
        "Keywords": ",".join(crate.package["keywords"]),
        "Requires-Python": ">=3.10",
        "Description-Content-Type": "text/markdown",
    }
    return "".join(f"{key}: {value}\n" for key, value in head.items()) + "\n" + (ROOT / "python/README.md").read_text()


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
