#!/usr/bin/env bash
# Measures the startup of a count: instructions and time of `convo count` on 20 bytes, compared with a command that
# counts nothing and with a program that calls tiktoken-rs. Then the time for a large session.
# Usage: benches/tokens.sh [CONVO]   (default: target/release/convo). Uses valgrind if available.
# RUNS (21) and MEGABYTES (100) in the environment change the size.
set -euo pipefail
cd "$(dirname "$0")/.."
convo=$(realpath "${1:-target/release/convo}")
runs=${RUNS:-21} megabytes=${MEGABYTES:-100}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CONVO_STORE=$work/store
unset CONVO_NOW CONVO_SEED CONVO_TOKENIZER
reference=$(cargo bench --bench tokens --no-run 2>&1 | sed -n 's/.*(\(.*tokens-[0-9a-f]*\)).*/\1/p')
line='{"role":"user","content":"Weather in Paris?!?!"}'
printf '%s\n' "$line" >"$work/short.jsonl"
"$convo" new --id plain >/dev/null
"$convo" new --id counted --tokenizer o200k_base >/dev/null

median() {
    local run start times=()
    for ((run = 0; run < runs; run++)); do
        start=$(date +%s%N)
        eval "$1" >/dev/null 2>&1
        times+=($(($(date +%s%N) - start)))
    done
    printf '%s\n' "${times[@]}" | sort -n | sed -n "$(((runs + 1) / 2))p"
}

# Instructions in thousands, or a dash.
instructions() {
    command -v valgrind >/dev/null || { echo -; return; }
    eval "valgrind --tool=callgrind --callgrind-out-file=/dev/null $1" 2>&1 >/dev/null |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p' | awk '{ printf "%.0f", $1 / 1000 }'
}

row() {
    eval "$2" >/dev/null 2>&1
    printf '%-52s %9s k instructions %9.2f ms\n' "$1" "$(instructions "$2")" "$(awk -v t="$(median "$2")" 'BEGIN { print t / 1e6 }')"
}

row "convo cat, 20 bytes" "'$convo' cat '$work/short.jsonl'"
row "convo context, 20 bytes" "'$convo' context '$work/short.jsonl'"
row "convo count, 20 bytes" "'$convo' count '$work/short.jsonl'"
row "convo count --tokenizer chars4, 20 bytes" "'$convo' count --tokenizer chars4 '$work/short.jsonl'"
row "tiktoken-rs, 20 bytes" "'$reference' --cold 'Weather in Paris?!?!'"
row "convo append" "'$convo' append plain hello"
row "convo append, session keeps counts" "'$convo' append counted hello"

python3 - "$work/big.jsonl" "$megabytes" <<'PY'
import json, os, random, sys
random.seed(1)
lines = []
for folder, _, names in os.walk("src"):
    for name in sorted(names):
        lines += open(os.path.join(folder, name)).read().splitlines(True)
path, size, index, written = sys.argv[1], int(sys.argv[2]) * 1000000, 0, 0
with open(path, "w") as out:
    while written < size:
        at = random.randrange(len(lines))
        text = "".join(lines[at:at + random.choice([1, 3, 20, 60])])
        written += out.write(json.dumps({"role": ("user", "assistant")[index % 2], "content": text}, ensure_ascii=False) + "\n")
        index += 1
PY
runs=3
for command in "cat '$work/big.jsonl' | cat" "'$convo' context '$work/big.jsonl'" "'$convo' count --tokenizer chars4 '$work/big.jsonl'" "'$convo' count '$work/big.jsonl'"; do
    printf '%-52s %9.0f ms\n' "$(sed "s|'[^']*/|'|g" <<<"$command"), $megabytes MB" "$(awk -v t="$(median "$command")" 'BEGIN { print t / 1e6 }')"
done
