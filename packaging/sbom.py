"""Writes the software bill of materials: every crate in the binaries, as CycloneDX 1.5."""

import json
import re
import subprocess
import uuid
from datetime import datetime, timezone

from crate import ROOT, epoch


def sbom(crate):
    packages = {package["id"]: package for package in crate.metadata["packages"]}
    nodes = {node["id"]: node for node in crate.metadata["resolve"]["nodes"]}
    root = crate.metadata["resolve"]["root"]
    checksums = lockfile()
    names = tree(crate)
    linked = {one for one in nodes if (packages[one]["name"], packages[one]["version"]) in names}
    others = sorted((packages[one] for one in linked if one != root), key=reference)
    body = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch(), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {**component(packages[root], checksums), "type": "application"},
            "properties": [{"name": "target", "value": crate.target}],
        },
        "components": [component(package, checksums) for package in others],
        "dependencies": [
            {
                "ref": reference(packages[one]),
                "dependsOn": sorted(reference(packages[other["pkg"]]) for other in nodes[one]["deps"] if other["pkg"] in linked),
            }
            for one in sorted(linked, key=lambda one: reference(packages[one]))
        ],
    }
    name = json.dumps(body, sort_keys=True)
    body["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name)}"
    return (json.dumps(body, indent=1) + "\n").encode()


def tree(crate):
    """Returns name and version of every linked crate, without those that only tests and build scripts need."""
    command = ["cargo", "tree", "--locked", "--package", crate.package["name"], "--all-features", "--edges", "normal",
               "--target", crate.target, "--prefix", "none", "--format", "{p}"]
    shown = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    pairs = (line.split()[:2] for line in shown.splitlines())
    return {(name, version.removeprefix("v")) for name, version in pairs}


def reference(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, checksums):
    made = {"type": "library", "bom-ref": reference(package), "name": package["name"], "version": package["version"],
            "purl": reference(package)}
    if package["license"]:
        made["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    checksum = checksums.get((package["name"], package["version"]))
    if checksum:
        made["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return made


def lockfile():
    """Reads the checksum of each crate's archive from Cargo.lock."""
    text = (ROOT / "Cargo.lock").read_text()
    pattern = r'name = "([^"]+)"\nversion = "([^"]+)"\nsource = "[^"]+"\nchecksum = "([0-9a-f]+)"'
    return {(name, version): checksum for name, version, checksum in re.findall(pattern, text)}
