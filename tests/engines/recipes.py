"""Runs the Python recipes of docs/scale.md whose library can be imported. Usage: recipes.py CONVO"""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CONVO = os.path.abspath(sys.argv[1])
ROOT = Path(__file__).resolve().parent.parent.parent
# Longest time of a recipe; a library that needs more to start, on a busy machine, is skipped.
SECONDS = 120


def main():
    os.environ["PATH"] = f"{os.path.dirname(CONVO)}:{os.environ['PATH']}"
    blocks = re.findall(r"^```python (\w+)\n(.*?)^```", (ROOT / "docs/scale.md").read_text(), re.M | re.S)
    assert len(blocks) == 4, len(blocks)
    failed = 0
    for library, code in blocks:
        if importlib.util.find_spec(library) is None:
            print(f"skipped: {library} cannot be imported")
            continue
        with tempfile.TemporaryDirectory() as folder:
            sessions = sorted(map(str, ROOT.glob("examples/c*/*.jsonl")))
            packed = subprocess.run([CONVO, "cat", "--pack", "-q", *sessions], stdout=subprocess.PIPE, check=True).stdout
            Path(folder, "packed.jsonl").write_bytes(packed)
            table = subprocess.run([CONVO, "count", "--flat", "-q"], input=packed, stdout=subprocess.PIPE, check=True).stdout
            Path(folder, "sessions.jsonl").write_bytes(table * 2)
            try:
                done = subprocess.run([sys.executable, "-c", f"convo = {CONVO!r}\n{code}"], cwd=folder, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS)
            except subprocess.TimeoutExpired:
                if library not in ("ray", "datatrove"):
                    raise
                print(f"skipped: {library} has not finished in {SECONDS} seconds")
                continue
            # Each recipe prints something of both sessions.
            expected = {"duckdb": "8c1d5f6e", "pyspark": "Add a retry", "ray": "\n2", "datatrove": "8c1d5f6e"}[library]
            if done.returncode != 0 or expected not in "\n" + done.stdout:
                print(f"{library}: status {done.returncode}\n{done.stdout[-3000:]}")
                failed += 1
            else:
                print(f"{library}: as documented")
    sys.exit(failed)


if __name__ == "__main__":
    main()
