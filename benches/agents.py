#!/usr/bin/env python3
"""Measure which facts that an agent needs a compaction keeps of real agent sessions, and how long it takes.

Usage: benches/agents.py FIXTURES [CONVO]...   (default: target/release/convo)
FIXTURES contains compaction/agents/*.json, one per session: the file, its requests, edited and read files, commands,
errors, todo items, last reply. The environment variables SHARES (5,10,25) and OPTIONS (further options of compact)
configure the run; EACH=1 prints each session.

A fact is kept if the messages for a model contain its text, ignoring white space; of a request, the share of its
sentences counts. If the budget is not met, nothing counts as kept.
"""
import glob, json, os, re, subprocess, sys, time

shares = [float(word) for word in os.environ.get("SHARES", "5,10,25").split(",")]
options = os.environ.get("OPTIONS", "").split()
here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if len(sys.argv) < 2:
    sys.exit(__doc__)
root, programs = sys.argv[1], sys.argv[2:] or [os.path.join(here, "target/release/convo")]
KINDS = ["goal", "newest", "requests", "edited", "read", "commands", "errors", "todo", "last"]


def run(*arguments):
    start = time.perf_counter()
    done = subprocess.run(arguments, capture_output=True)
    return done, time.perf_counter() - start


def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from texts(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from texts(one)


def shown(lines):
    """The text that a model would receive: contents, and arguments both raw and JSON-decoded."""
    found = []
    for line in lines.splitlines():
        message = json.loads(line)
        found += texts(message.get("content"))
        for call in message.get("tool_calls") or []:
            arguments = call.get("function", {}).get("arguments", "")
            found.append(arguments)
            try:
                found += texts(json.loads(arguments))
            except ValueError:
                pass
    return re.sub(r"\s+", " ", "\n".join(found))


def parts(kind, fact):
    """The texts that together are a fact: the sentences of a request, each of which may be quoted in another place, and a
    command without the directory in which it runs."""
    if kind in ("goal", "newest", "requests"):
        sentences = re.split(r"(?<=[.!?])\s+|\n+", fact)
        return [sentence.strip() for sentence in sentences if sentence.strip()]
    return [re.sub(r"^cd \S+ && ", "", fact)] if kind == "commands" else [fact]


def kept(facts, kind, text):
    wanted = facts[kind] if isinstance(facts[kind], list) else [facts[kind]]
    wanted = [parts(kind, one) for one in wanted if one]
    found = lambda one: sum(re.sub(r"\s+", " ", part) in text for part in one) / len(one)
    return sum(map(found, wanted)) / len(wanted) if wanted else None


for program in programs:
    print(f"{program}\n{'share':>6}{'reached':>9}" + "".join(f"{kind:>10}" for kind in KINDS) + f"{'seconds':>9}")
    for share in shares:
        reached, scores, seconds = 0, {kind: [] for kind in KINDS}, 0
        files = sorted(glob.glob(os.path.join(root, "compaction/agents/*.json")))
        for name in files:
            facts = json.load(open(name))
            path = os.path.join(root, facts["file"])
            before = run(program, "context", "-t", "native", path)[0].stdout
            tokens = json.loads(run(program, "count", "--json", path)[0].stdout.splitlines()[0])["view"]["tokens"]["total"]
            budget = str(max(1, int(tokens * share / 100)))
            done, took = run(program, "compact", "--budget", budget, *options, "-t", "native", path)
            seconds += took
            text = ""
            if done.returncode == 0:
                reached += 1
                view = subprocess.run([program, "context", "-t", "native", "-"], input=done.stdout, capture_output=True)
                text = shown(view.stdout.decode())
            whole, row = shown(before.decode()), []
            for kind in KINDS:
                score = kept(facts, kind, text)
                if score is not None:
                    scores[kind].append(score)
                row.append("         -" if score is None else f"{100 * score:10.0f}")
                if score is not None and os.environ.get("CHECK") and kept(facts, kind, whole) < 1:
                    print("not all in the whole view:", name, kind, kept(facts, kind, whole))
            if os.environ.get("EACH"):
                why = "" if done.returncode == 0 else done.stderr.decode().splitlines()[0][-60:]
                print(f"{share:>5g}% {done.returncode:>8}" + "".join(row) + f"{took:9.2f}  {tokens:>7} {os.path.basename(name)[:34]} {why}")
        mean = lambda all: 100 * sum(all) / len(all) if all else 0
        print(f"{share:>5g}% {reached:>5}/{len(files)} " + "".join(f"{mean(scores[kind]):10.0f}" for kind in KINDS) + f"{seconds:9.2f}")
