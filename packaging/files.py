"""Lists the files that every package installs below its prefix, and builds reproducible archives of them."""

import gzip
import io
import tarfile
from pathlib import Path

from crate import ROOT, epoch

DOCUMENTS = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"]
# Guides that are useful without a checkout, with their names below the documents of a package.
GUIDES = {"docs/scale.md": "scale.md", "docs/tables.md": "tables.md", "docs/skill/SKILL.md": "SKILL.md"}


def installed(crate, binaries, sbom, zsh="share/zsh/site-functions"):
    """Returns path below the prefix, content and mode of each file."""
    files = [(f"bin/{name}", (Path(binaries) / name).read_bytes(), 0o755) for name in crate.programs]
    for page in sorted((ROOT / "man").iterdir()):
        files.append((f"share/man/man{page.suffix[1:]}/{page.name}.gz", packed(page.read_bytes()), 0o644))
    completions = {"convo.bash": "share/bash-completion/completions/convo", "_convo": f"{zsh}/_convo",
                   "convo.fish": "share/fish/vendor_completions.d/convo.fish"}
    for name, place in completions.items():
        files.append((place, (ROOT / "completions" / name).read_bytes(), 0o644))
    for name in DOCUMENTS:
        files.append((f"share/doc/convo/{name}", (ROOT / name).read_bytes(), 0o644))
    files += [(f"share/doc/convo/{place}", (ROOT / name).read_bytes(), 0o644) for name, place in GUIDES.items()]
    files.append(("share/doc/convo/sbom.cdx.json", sbom, 0o644))
    return files


def packed(data):
    """Compresses with gzip, without a time or a name."""
    return gzip.compress(data, 6, mtime=0)


def tar(files, prefix, lead=""):
    """Builds a tar archive with fixed order, owner and time, and an entry for each directory."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        folders = set()
        for name, data, mode in sorted(files):
            path = Path(prefix, name)
            for folder in reversed(path.parents[:-1]):
                if folder not in folders:
                    folders.add(folder)
                    archive.addfile(entry(f"{lead}{folder}", 0o755, tarfile.DIRTYPE))
            info = entry(f"{lead}{path}", mode, tarfile.REGTYPE)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def entry(name, mode, kind):
    info = tarfile.TarInfo(name)
    info.mode, info.type, info.mtime = mode, kind, epoch()
    info.uname = info.gname = "root"
    return info
