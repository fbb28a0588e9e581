"""Builds two npm packages: the binaries for one platform, and `convo-cli`, which optionally depends on them."""

import json
from pathlib import Path

from crate import ROOT
from files import packed, tar

# The Node.js names of the targets that have binaries.
PLATFORMS = [("linux", "x64"), ("linux", "arm64"), ("darwin", "x64"), ("darwin", "arm64")]


def npm(crate, binaries, out):
    system = "darwin" if "apple" in crate.target else "linux"
    machine = crate.architecture("npm")
    name = f"convo-cli-{system}-{machine}"
    own = [(f"bin/{one}", (Path(binaries) / one).read_bytes(), 0o755) for one in crate.programs]
    platform = manifest(crate, name, f"The binaries of convo-cli for {system} on {machine}",
                        {"os": [system], "cpu": [machine], "files": ["bin"]})
    main = manifest(crate, "convo-cli", crate.package["description"], {
        "bin": {"convo": "convo.js"},
        "files": ["convo.js"],
        "engines": {"node": ">=18"},
        "keywords": crate.package["keywords"],
        "optionalDependencies": {f"convo-cli-{one}-{other}": crate.version for one, other in PLATFORMS},
    })
    launcher = [("convo.js", (ROOT / "npm/convo-cli/convo.js").read_bytes(), 0o755),
                ("README.md", (ROOT / "npm/convo-cli/README.md").read_bytes(), 0o644)]
    return [package(crate, name, [platform, *own], out), package(crate, "convo-cli", [main, *launcher], out)]


def manifest(crate, name, description, members):
    head = {"name": name, "version": crate.version, "description": description, "license": f"({crate.package['license']})"}
    return ("package.json", (json.dumps({**head, **members}, indent=2) + "\n").encode(), 0o644)


def package(crate, name, files, out):
    licences = [(file, (ROOT / file).read_bytes(), 0o644) for file in ("LICENSE-MIT", "LICENSE-APACHE")]
    path = Path(out) / f"{name}-{crate.version}.tgz"
    path.write_bytes(packed(tar(files + licences, "package")))
    return path
