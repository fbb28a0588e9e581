#!/usr/bin/env python3
"""Times `convo compact --budget` next to `convo count` on the same input: chats and tool sessions of 1, 10, 50 and 100 MB, and many
small sessions in one stream. Prints ratios of the smallest times and of the largest memory.
Usage: benches/compact.py [CONVO]   (default: target/release/convo). SIZES (1,10,50,100) and RUNS (3) in the environment."""

import itertools, json, os, random, subprocess, sys, tempfile, time

convo = sys.argv[1] if len(sys.argv) > 1 else "target/release/convo"
sizes = [int(size) for size in os.environ.get("SIZES", "1,10,50,100").split(",")]
runs = int(os.environ.get("RUNS", "3"))

chance = random.Random(3)
RARE = ["".join(chance.choice("bcdfghjklmnprstvw") + chance.choice("aeiou") for _ in range(chance.choice([1, 2, 2, 3, 3, 4])))
        + chance.choice(["", "s", "n", "ed", "ing"]) for _ in range(20000)]
OFTEN = list(itertools.accumulate(1 / (rank + 1) for rank in range(len(RARE))))
COMMON = ("the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which one you "
          "were all her she there would their we him been has when who will no more if out so").split()


def text(words):
    found = []
    pairs = zip(chance.choices(COMMON, k=words // 2 + 1), chance.choices(RARE, cum_weights=OFTEN, k=words // 2 + 1))
    for nth, pair in enumerate(pairs):
        found += pair
        if nth % 9 == 8:
            found[-1] += chance.choice([".", ".", "?", "!", ",\n"])
    return " ".join(found)


def chat(turns):
    return [{"role": ("user", "assistant")[turn % 2], "content": text(chance.choice([8, 20, 60, 200]))} for turn in range(turns)]


numbers = itertools.count()


def called(name, arguments, result):
    id = f"call_{next(numbers)}"
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": id, "type": "function", "function": function}]
    return [{"role": "assistant", "content": chance.choice([None, text(20)]), "tool_calls": calls},
            {"role": "tool", "tool_call_id": id, "content": result}]


def tools():
    messages = [{"role": "user", "content": text(chance.choice([10, 30, 80]))}]
    for _ in range(chance.randint(2, 12)):
        path = f"src/{chance.choice(RARE[:50])}/{chance.choice(RARE[:300])}.rs"
        kind = chance.randrange(3)
        if kind == 0:
            lines = [f"{nth}  let {chance.choice(RARE)} = {text(6)};" for nth in range(chance.choice([10, 40, 200]))]
            messages += called("read_file", {"path": path}, "\n".join(lines))
        elif kind == 1:
            ends = chance.choice(["test result: ok", "error: failed\nexit code 1"])
            messages += called("bash", {"command": f"cargo test {chance.choice(RARE[:200])}"}, f"{text(chance.choice([10, 60, 300]))}\n{ends}")
        else:
            messages += called("edit_file", {"path": path, "old_string": text(20), "new_string": text(30)}, "ok")
    return messages + [{"role": "assistant", "content": text(chance.choice([30, 100]))}]


def write(path, megabytes, some):
    written, nth = 0, 0
    with open(path, "w") as out:
        while written < megabytes * 1000000:
            for message in some(nth):
                written += out.write(json.dumps(message) + "\n")
            nth += 1


def run(*command):
    """Seconds and bytes of memory, the least of several runs."""
    best = (1e9, 1e9)
    for _ in range(runs):
        start = time.monotonic()
        child = subprocess.Popen([convo, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(child.pid, 0)
        times = (time.monotonic() - start, usage.ru_utime + usage.ru_stime)
        best = min(best, (times[0], usage.ru_maxrss * 1024, times[1]))
    return best


def compare(name, path, budgets):
    counted = run("count", path)
    for budget in budgets:
        took, memory, processor = run("compact", path, "--budget", str(budget))
        print(f"{name:20} to {budget:9} tokens  {took:7.2f} s  {took / counted[0]:5.1f}x of count"
              f"  {processor / counted[2]:5.1f}x on one core  {memory / os.path.getsize(path):5.1f}x memory", flush=True)


def tokens(path):
    out = subprocess.run([convo, "count", path], capture_output=True, text=True, check=True).stdout
    return sum(int(line.split()[1]) for line in out.splitlines() if line.startswith("tokens\t"))


with tempfile.TemporaryDirectory() as work:
    os.environ["CONVO_STORE"] = f"{work}/store"
    path = f"{work}/in.jsonl"
    for kind, some in (("chat", lambda nth: chat(50)), ("tools", lambda nth: tools())):
        for size in sizes:
            write(path, size, some)
            whole = tokens(path)
            compare(f"{kind}, {size} MB", path, (whole // 10, whole // 2))
    header = lambda nth: [{"type": "session", "version": 1, "id": f"s{nth}"}]
    write(path, 10, lambda nth: header(nth) + chat(chance.choice([4, 10, 24])))
    compare("small sessions", path, (500, 2000))
