#!/usr/bin/env python3
"""Times the commands that read the sessions of other programs next to other programs on the same bytes: `search` and `rg` or `jq`,
`archive` and `rsync -a`, `agents` or `list --agents` and `find`. Prints ratios of the smallest times and of the largest memory.
Usage: benches/homes.py [CONVO]   (default: target/release/convo). MEGABYTES (1000), SESSIONS (10000) and RUNS (3) in the environment."""

import json, os, random, shlex, shutil, subprocess, sys, tempfile, time
from pathlib import Path

convo = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "target/release/convo")
megabytes = int(os.environ.get("MEGABYTES", "1000"))
sessions = int(os.environ.get("SESSIONS", "10000"))
runs = int(os.environ.get("RUNS", "3"))

chance = random.Random(5)
WORDS = [f"{a}{b}{c}" for a in ("re", "con", "de", "sor", "mo") for b in ("ta", "li", "mu", "ver", "sen") for c in ("ter", "ne", "ject", "gh", "d")]
# In one message of a thousand, and in few sessions.
OFTEN, RARE = "conveyor belt", "gearbox 4711"


def content(turn):
    words = " ".join(chance.choices(WORDS, k=chance.choice([8, 20, 60, 300])))
    if chance.random() < 0.001:
        words += f" {OFTEN}"
    if turn % 4 == 1:
        return "assistant", [{"type": "tool_use", "id": f"toolu_{turn:08}", "name": "Read", "input": {"file_path": f"/w/{words[:20]}"}}]
    if turn % 4 == 2:
        return "user", [{"type": "tool_result", "tool_use_id": f"toolu_{turn - 1:08}", "content": words}]
    return ("assistant", [{"type": "text", "text": words}]) if turn % 4 == 3 else ("user", words)


def lines(count):
    """Lines of Claude Code with room for the id of the session."""
    parent = None
    for turn in range(count):
        role, parts = content(turn)
        message = {"role": role, "content": parts}
        if role == "assistant":
            message.update(id=f"msg_{turn}", type="message", model="m-1", usage={"input_tokens": 900, "output_tokens": 40})
        id = f"{turn:08x}-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
        yield json.dumps({"parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/w", "sessionId": "SESSION",
                          "version": "2.0.1", "gitBranch": "main", "type": role, "message": message, "uuid": id,
                          "timestamp": "2026-11-01T08:00:00.000Z"}) + "\n"
        parent = id


def make(home, count, size):
    """`count` sessions of together `size` bytes; every thousandth contains the rare words."""
    pool = "".join(lines(4000)).splitlines(keepends=True)
    each = size // count
    for nth in range(count):
        id = f"{nth:08x}-bbbb-4bbb-8bbb-bbbbbbbbbbbb"
        folder = home / ".claude/projects" / f"-w-p{nth % 50}"
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / f"{id}.jsonl", "w") as out:
            # Each session is another part of the pool: else all of them lack the frequent words.
            written, first = 0, nth * 37
            begin = first
            while written < each:
                line = pool[begin % len(pool)].replace("SESSION", id)
                if begin == first + 4 and nth % 1000 == 7:
                    line = line.replace('"content": "', f'"content": "{RARE} ')
                written += out.write(line)
                begin += 1


def run(command, home):
    """Seconds and the MiB that the largest process took."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    began = time.monotonic()
    process = subprocess.Popen(["bash", "-c", f"exec {command}"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - began
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        sys.exit(f"status {os.waitstatus_to_exitcode(status)}: {command}")
    return seconds, usage.ru_maxrss / 1024


def best(command, home, before=None):
    results = []
    for _ in range(runs):
        if before:
            before()
        results.append(run(command, home))
    return min(seconds for seconds, _ in results), max(memory for _, memory in results)


def pair(name, ours, theirs, home, before=(None, None)):
    (seconds, memory), (other, _) = best(ours, home, before[0]), best(theirs, home, before[1])
    print(f"{name:52} {seconds:8.3f} s {other:8.3f} s {seconds / other:6.2f}x {memory:6.0f} MiB", flush=True)


def first_hit(command, home):
    """Milliseconds until the first byte of output."""
    began = time.monotonic()
    process = subprocess.Popen(["bash", "-c", f"exec {command}"], env={"PATH": os.environ["PATH"], "HOME": str(home)},
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdout.read(1)
    seconds = time.monotonic() - began
    process.stdout.close()
    process.wait()
    return seconds * 1000


def main():
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        home, work = Path(folder, "home"), Path(folder)
        make(home, sessions, megabytes * 1_000_000)
        logs, quoted = shlex.quote(f"{home}/.claude/projects"), shlex.quote(convo)
        print(f"convo and others: {sessions} sessions of Claude Code, {megabytes} MB, best of {runs} runs; convo's memory")
        if shutil.which("rg"):
            for what, options in (("few hits", f"'{RARE}'"), ("many hits", f"'{OFTEN}'"), ("no hit", "'hydraulic pump 0815'"),
                                  ("many hits, -l", f"-l '{OFTEN}'"), ("no hit, -i", "-i 'HYDRAULIC pump 0815'")):
                pair(f"search, {what} / rg", f"{quoted} search --program claude-code {options}", f"rg {options} {logs}", home)
            hit = min(first_hit(f"{quoted} search --program claude-code '{OFTEN}'", home) for _ in range(runs))
            other = min(first_hit(f"rg '{OFTEN}' {logs}", home) for _ in range(runs))
            print(f"{'search, first hit / rg':52} {hit:8.1f} ms {other:7.1f} ms")
        if shutil.which("jq"):
            command = f"find {logs} -name '*.jsonl' -exec jq -c 'select(.message.content|tostring|contains(\"{RARE}\"))' {{}} +"
            pair("search, few hits / jq", f"{quoted} search --program claude-code '{RARE}'", command, home)
        pair("agents / find -printf", f"{quoted} agents", f"find {home} -type f -printf '%s %T@\\n'", home)
        pair("list --agents / find -printf", f"{quoted} list --agents", f"find {home} -type f -printf '%s %T@\\n'", home)
        if shutil.which("rsync"):
            ours, theirs = work / "archive", work / "copy"
            copied = f"{quoted} archive --to {shlex.quote(str(ours))}", f"rsync -a {home}/ {shlex.quote(str(theirs))}/"
            clean = tuple(lambda folder=folder: shutil.rmtree(folder, ignore_errors=True) for folder in (ours, theirs))
            pair("archive, first run / rsync -a", *copied, home, clean)
            # rsync does not sync: with the sync that makes a copy durable.
            pair("archive, first run / rsync -a; sync", copied[0], f"bash -c {shlex.quote(copied[1] + '; sync')}", home, clean)
            pair("archive, second run / rsync -a", *copied, home)


main()
