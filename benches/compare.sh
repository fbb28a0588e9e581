#!/usr/bin/env bash
# Times convo next to its peers on the same input and prints ratios of medians (below 1: convo is faster); then memory.
# Usage: benches/compare.sh [CONVO]   (default: target/release/convo). Needs cc; uses jq and sqlite3 if available.
# MEGABYTES (200), RUNS (7) and FILES (10000) in the environment change the size.
set -euo pipefail
cd "$(dirname "$0")/.."
convo=$(realpath "${1:-target/release/convo}")
megabytes=${MEGABYTES:-200} runs=${RUNS:-7} files=${FILES:-10000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CONVO_STORE=$work/store
unset CONVO_NOW CONVO_SEED
nth=0

# median COMMAND: milliseconds of the median run, after a warm-up run.
median() {
    local run start times=()
    eval "$1" >/dev/null 2>&1 || true
    for ((run = 0; run < runs; run++)); do
        [ -z "${2:-}" ] || eval "$2" >/dev/null 2>&1
        start=$(date +%s%N)
        eval "$1" >/dev/null 2>&1 || true
        times+=($(($(date +%s%N) - start)))
    done
    printf '%s\n' "${times[@]}" | sort -n | sed -n "$(((runs + 1) / 2))p"
}

# pair NAME OURS THEIRS: prints both and the ratio.
pair() {
    local ours theirs
    ours=$(median "$2" "${4:-}")
    theirs=$(median "$3" "${5:-}")
    awk -v name="$1" -v ours="$ours" -v theirs="$theirs" \
        'BEGIN { printf "%-44s %9.2f ms %9.2f ms   %.2fx\n", name, ours / 1e6, theirs / 1e6, ours / theirs }'
}

python3 - "$work/big.jsonl" "$megabytes" <<'PY'
import json, random, sys
random.seed(1)
words = "sorter reject jam weigh shift sensor chute motor pallet route conveyor gate".split()
path, size, index, written = sys.argv[1], int(sys.argv[2]) * 1000000, 0, 0
with open(path, "w") as out:
    written += out.write('{"type":"session","version":1,"id":"big"}\n')
    while written < size:
        text = " ".join(random.choices(words, k=random.choice([5, 20, 60, 300])))
        message = {"role": "user", "content": text}
        if index % 4 == 1:
            arguments = json.dumps({"path": text[:40]})
            message = {"role": "assistant", "content": None, "tool_calls": [{"id": f"c{index}", "type": "function",
                       "function": {"name": "read", "arguments": arguments}}]}
        elif index % 4 == 2:
            message = {"role": "tool", "tool_call_id": f"c{index - 1}", "content": text}
        elif index % 4 == 3:
            message = {"role": "assistant", "content": text}
        message["id"] = f"msg_{index:016x}"
        written += out.write(json.dumps(message) + "\n")
        index += 1
PY
mkdir "$work/legacy"
python3 - "$work/legacy" "$files" <<'PY'
import json, sys
for number in range(int(sys.argv[2])):
    messages = [{"role": ("user", "assistant")[turn % 2], "content": f"turn {turn} of {number}"} for turn in range(8)]
    document = {"key": f"telegram:{number}", "messages": messages, "created": "2026-01-01T00:00:00Z"}
    with open(f"{sys.argv[1]}/telegram_{number}.json", "w") as out:
        json.dump(document, out)
PY
cc -O2 -static -o "$work/bare" benches/bare.c 2>/dev/null || cc -O2 -o "$work/bare" benches/bare.c
"$convo" new --id chat >/dev/null

echo "convo beside others: median of $runs runs, convo first; a ratio below 1 is convo's"
pair "append one message / bare C" "'$convo' append chat hello" "'$work/bare' '$work/bare.log'"
# One process each, as in a shell loop.
pair "append one message / echo >> file; sync file" "'$convo' append chat hello" \
    "sh -c \"echo '{\\\"role\\\":\\\"user\\\"}' >> '$work/plain.log'; sync '$work/plain.log'\""
if command -v sqlite3 >/dev/null; then
    sqlite3 "$work/chat.db" 'create table m(role text, content text)'
    pair "append one message / sqlite3 insert" "'$convo' append chat hello" \
        "sqlite3 '$work/chat.db' \"insert into m values('user','hello')\""
fi
head -n 100001 "$work/big.jsonl" >"$work/many.jsonl"
if command -v sqlite3 >/dev/null; then
    python3 - "$work/many.jsonl" "$work/many.csv" <<'PY'
import csv, json, sys
with open(sys.argv[2], "w") as out:
    rows = csv.writer(out)
    for line in open(sys.argv[1]):
        message = json.loads(line)
        if "role" in message:
            rows.writerow([message["role"], line.strip()])
PY
    pair "append --stream, 100,000 / sqlite3 .import" "'$convo' append many --stream -q < '$work/many.jsonl'" \
        "sqlite3 '$work/many.db' '.import --csv $work/many.csv m'" \
        "'$convo' remove -q --purge many; '$convo' new --id many" "rm -f '$work/many.db'; sqlite3 '$work/many.db' 'create table m(role text, content text)'"
fi
pair "append --stream, 100,000 / cat >> file; sync" \
    "'$convo' append many --stream -q < '$work/many.jsonl'" "cat '$work/many.jsonl' >> '$work/copy.jsonl'; sync '$work/copy.jsonl'" \
    "'$convo' remove -q --purge many; '$convo' new --id many" "rm -f '$work/copy.jsonl'"
pair "cat, $megabytes MB / cat | cat" "'$convo' cat '$work/big.jsonl' | cat" "cat '$work/big.jsonl' | cat"
pair "truncate --keep-last 100 / cat | cat" "'$convo' truncate --keep-last 100 < '$work/big.jsonl'" "cat '$work/big.jsonl' | cat"
for other in jq jaq; do
    command -v "$other" >/dev/null && pair "cat, $megabytes MB / $other -c ." "'$convo' cat '$work/big.jsonl'" "$other -c . '$work/big.jsonl'"
done
pair "migrate $megabytes MB / cat | cat" "'$convo' migrate -q '$work/big.jsonl' --out '$work/out'" "cat '$work/big.jsonl' | cat" "rm -rf '$work/out'"
unsynced="import os,sys
for name in os.listdir(sys.argv[1]):
    open(sys.argv[2]+'/'+name,'wb').write(open(sys.argv[1]+'/'+name,'rb').read())"
# A separate directory for each run: file creation is slow right after the deletion of ten thousand files.
pair "migrate $files files / copied unsynced" "'$convo' migrate -q '$work/legacy' --store '$work'/new.\$((nth++))" \
    "mkdir '$work'/plain.\$((++nth)); python3 -c \"$unsynced\" '$work/legacy' '$work'/plain.\$nth"
"$convo" migrate -q "$work/legacy" --store "$work/new" >/dev/null
pair "list $files sessions / ls -l" "'$convo' list --store '$work/new'" "ls -l '$work/new/sessions'"
pair "resolve an alias / an id" "'$convo' count telegram:5 --store '$work/new'" "'$convo' count key_telegram_3a5 --store '$work/new'"
# The largest memory of commands that read a stored log as a stream.
"$convo" new -q --id long --store "$work/long" >/dev/null
"$convo" append long --stream -q --store "$work/long" <"$work/big.jsonl"
"$convo" truncate -q long --keep-last 100 --store "$work/long"
memory() {
    python3 - "memory of $1, $megabytes MB" "$convo" $2 --store "$work/long" <<'PY'
import resource, subprocess, sys
subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
print(f"{sys.argv[1]:44} {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024} MiB")
PY
}
log=$work/long/sessions/long.jsonl
for command in "restore --list long" "fsck --repair"; do
    memory "$command" "$command"
done
cp "$log" "$work/sound.jsonl"
for damage in "torn last line" "garbage" "line twice" "NUL bytes"; do
    python3 - "$work/sound.jsonl" "$log" "$damage" <<'PY'
import sys
log, damage = open(sys.argv[1], "rb").read(), sys.argv[3]
middle = log.index(b"\n", len(log) // 2) + 1
after = log.index(b"\n", middle) + 1
changed = {
    "torn last line": log + b'{"role":"us',
    "garbage": log[:middle] + b"by hand\n" + log[middle:],
    "line twice": log[:after] + log[middle:],
    "NUL bytes": log[:middle] + bytes(4096) + log[middle + 4096:],
}
open(sys.argv[2], "wb").write(changed[damage])
PY
    memory "fsck --repair: $damage" "fsck --repair"
    rm -r "$work/long/quarantine"
done
cp "$work/sound.jsonl" "$log"
memory gc gc
gc=$("$convo" restore --list long --json --store "$work/long" | python3 -c 'import json, sys
print([row["id"] for row in map(json.loads, sys.stdin) if row["type"] == "gc"][-1])')
memory "restore of a gc" "restore long $gc"
