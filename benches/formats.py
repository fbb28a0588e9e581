#!/usr/bin/env python3
"""Check how convo reads files with known contents, format by format.

    benches/formats.py CONVO FIXTURES

FIXTURES contains a directory per format, with files and a `truth.json` that gives for each the number of sessions,
messages, calls and so on. A row shows for one format: the files, their sessions and messages as counted by convo, how
many files have exactly the expected counts, the results of detection (right, ambiguous, refused as not a session,
wrong), and the differences in the first session of each file after native -> own format -> native: messages whose
role, content or calls differ, and the reported losses.

The tests check counts that need the library (usage, orphans, reasoning); this script checks those that the command line
prints."""

import collections
import json
import pathlib
import subprocess
import sys

CONVO, FIXTURES = sys.argv[1], pathlib.Path(sys.argv[2])
# Read by the plugin.
DATABASES = (".db", ".sqlite", ".sqlite3")
ROLES = ("system", "developer", "user", "assistant", "tool")


def run(arguments, data=None):
    done = subprocess.run([CONVO, *arguments], input=data, capture_output=True)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def records(stream):
    found = []
    for line in stream.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            pass
    return [line for line in found if isinstance(line, dict)]


def sessions(lines):
    """The records of a stream, grouped by session."""
    found = []
    for line in lines:
        if line.get("type") == "session" or not found:
            found.append([])
        found[-1].append(line)
    return found


def messages(session):
    return [line for line in session if line.get("role") and line.get("type") is None]


def aside(session):
    lineage = (session[0].get("metadata") or {}).get("lineage") or {}
    return lineage.get("kind") if lineage.get("kind") in ("branch", "sidechain") else None


def said(message):
    """The content of a message, independent of its form: text and calls."""
    content = message.get("content")
    if isinstance(content, list):
        content = [part.get("text") if isinstance(part, dict) and part.get("type") == "text" else part for part in content]
        content = content[0] if len(content) == 1 else content
    calls = [
        (call.get("function") or call.get("custom") or {}).get("name") for call in message.get("tool_calls") or []
    ]
    return (message.get("role"), json.dumps(content, sort_keys=True), calls)


def native(path, name):
    if path.suffix in DATABASES:
        return run(["sqlite", str(path)])
    return run(["cat", str(path), "--from", name]) if name else run(["cat", str(path)])


def first_of(stream):
    """The unchanged lines of the first session, so that derived ids are the same."""
    lines = stream.splitlines(keepends=True)
    heads = [nth for nth, line in enumerate(lines) if line.startswith(b'{"type":"session"')]
    return b"".join(lines[: heads[1]] if len(heads) > 1 else lines)


def round_trip(stream, name):
    """Messages that differ after native -> format -> native, and the reported losses."""
    body = first_of(stream)
    first = records(body)
    status, out, told = run(["cat", "--from", "native", "--to", name], body)
    losses = collections.Counter()
    for line in told.splitlines():
        if "not carried: " in line:
            kind, count = line.split("not carried: ")[1].split(": ")
            losses[kind] += int(count)
    if status not in (0, 65):
        return None, losses
    _, again, _ = run(["cat", "--from", name], out)
    before = [said(message) for message in messages(first)]
    after = sessions(records(again))
    after = [said(message) for message in messages(after[0])] if after else []
    differ = sum(a != b for a, b in zip(before, after)) + abs(len(before) - len(after))
    return differ, losses


def row(folder):
    truth = json.loads((folder / "truth.json").read_text())["files"]
    name = folder.name
    seen = collections.Counter()
    verdicts = collections.Counter()
    lost, differ, tripped = collections.Counter(), 0, 0
    wrong = []
    for file, expected in sorted(truth.items()):
        path = folder / file
        if not path.is_file():
            seen["missing"] += 1
            continue
        seen["files"] += 1
        detected = records(run(["detect", "--json", str(path)])[1])
        format = detected[0].get("format") if detected else None
        ambiguous = bool(detected and detected[0].get("confidence") == "ambiguous")
        if path.suffix in DATABASES:
            verdicts["database"] += 1
        elif format == name or (format == "jsonl" and name == "openai-chat"):
            # Bare messages, one per line, are detected as jsonl and read in the same way.
            verdicts["right"] += 1
        elif ambiguous:
            verdicts["ambiguous"] += 1
        elif format is None:
            verdicts["refused"] += 1
        else:
            verdicts[f"WRONG ({format})"] += 1
        read = name if path.suffix not in DATABASES else None
        _, out, _ = native(path, read)
        found = sessions(records(out))
        main = [session for nth, session in enumerate(found) if nth == 0 or not aside(session)]
        main = [session for session in main if messages(session) or expected.get("sessions")]
        roles = collections.Counter(message["role"] for session in main for message in messages(session))
        seen["sessions"] += len(main)
        seen["messages"] += sum(roles.values())
        if expected.get("sessions") == 0:
            seen["equal"] += not main
            seen["counted"] += 1
        elif "messages" in expected and "sessions" in expected:
            seen["counted"] += 1
            same = len(main) == expected["sessions"] and {r: n for r, n in roles.items() if n} == {
                r: n for r, n in expected["messages"].items() if n and r in ROLES
            }
            seen["equal"] += same
            if not same:
                wrong.append(f"{file}: {len(main)} sessions {dict(roles)}, truth {expected['sessions']} {expected['messages']}")
        if path.suffix not in DATABASES:
            times, losses = round_trip(out, name)
            if times is not None:
                tripped += 1
                differ += times
                lost += losses
    detection = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
    trip = f"{differ} differ; {', '.join(f'{kind} {count}' for kind, count in sorted(lost.items())) or 'nothing lost'}"
    trip = trip if tripped else "not written"
    print(
        f"| {name} | {seen['files']} | {seen['sessions']} | {seen['messages']} | {seen['equal']} of {seen['counted']} "
        f"| {detection} | {trip} |"
    )
    for line in wrong:
        print(f"    {line}", file=sys.stderr)


print("| format | files | sessions | messages | equal to the truth | detection | native -> format -> native |")
print("|---|---|---|---|---|---|---|")
for folder in sorted(FIXTURES.iterdir()):
    if (folder / "truth.json").is_file():
        row(folder)
