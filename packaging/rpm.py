"""Builds an RPM package with `rpmbuild` from `rpm/convo.spec`."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from crate import ROOT, epoch
from files import installed


def rpm(crate, binaries, sbom, out):
    if not shutil.which("rpmbuild"):
        return None
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch) / "tree"
        for name, data, mode in installed(crate, binaries, sbom):
            path = tree / "usr" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(mode)
        defines = {
            "_topdir": scratch,
            "_rpmdir": f"{scratch}/made",
            "_buildhost": "localhost",
            "_binary_payload": "w6.gzdio",
            "use_source_date_epoch_as_buildtime": "1",
            "clamp_mtime_to_source_date_epoch": "1",
            "crate_version": crate.version,
            "crate_license": crate.package["license"],
            "crate_summary": crate.package["description"],
            "tree": tree,
        }
        command = ["rpmbuild", "-bb", "--quiet", "--target", f"{crate.architecture('rpm')}-linux"]
        for key, value in defines.items():
            command += ["--define", f"{key} {value}"]
        subprocess.run([*command, ROOT / "packaging/rpm/convo.spec"], check=True,
                       env={"PATH": "/usr/sbin:/usr/bin:/bin", "SOURCE_DATE_EPOCH": str(epoch())})
        made = next(Path(scratch, "made").rglob("*.rpm"))
        return Path(shutil.copy(made, out))
