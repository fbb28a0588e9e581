#!/usr/bin/env bash
# Compares the time of `convo list` of a large store with that of `ls -l`: without a cache, with one, and after a
# change.
# Usage: benches/list.sh [CONVO]   (default: target/release/convo). SESSIONS ("10000 100000") and RUNS (5) in the
# environment change the size.
set -euo pipefail
cd "$(dirname "$0")/.."
convo=$(realpath "${1:-target/release/convo}")
runs=${RUNS:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CONVO_NOW CONVO_SEED

median() {
    local run start times=()
    for ((run = 0; run < runs; run++)); do
        start=$(date +%s%N)
        eval "$1" >/dev/null
        times+=($(($(date +%s%N) - start)))
    done
    printf '%s\n' "${times[@]}" | sort -n | sed -n "$(((runs + 1) / 2))p" | awk '{ printf "%.1f ms", $1 / 1e6 }'
}

for sessions in ${SESSIONS:-10000 100000}; do
    export CONVO_STORE=$work/store$sessions
    awk -v sessions="$sessions" 'BEGIN {
        for (s = 0; s < sessions; s++) {
            id = sprintf("%08x-aaaa-4000-8000-%012x", (s * 2654435761) % 4294967296, s)
            time = sprintf("2026-%02d-%02dT%02d:%02d:%02dZ", 1 + s % 10, 1 + s % 28, s % 24, s % 60, s % 59)
            printf "{\"type\":\"session\",\"version\":1,\"id\":\"%s\",\"created_at\":\"%s\",", id, time
            printf "\"source\":{\"format\":\"claude-code\"},\"metadata\":{\"cwd\":\"/home/ann/project%d\",\"model\":\"claude-sonnet-4-5\"}}\n", s % 50
            for (m = 0; m < 6; m++)
                printf "{\"role\":\"%s\",\"content\":\"Message %d of session %d with some text\",\"timestamp\":\"%s\"}\n", m % 2 ? "assistant" : "user", m, s, time
        }
    }' >"$work/sessions.jsonl"
    "$convo" migrate -q "$work/sessions.jsonl"
    rm "$work/sessions.jsonl"
    sleep 4 # logs that have just changed are not in the cache
    cache=$CONVO_STORE/cache/overviews
    echo "$sessions sessions"
    echo "  ls -l                 $(median "ls -l '$CONVO_STORE/sessions'")"
    echo "  list, without cache   $(median "rm -f '$cache'; '$convo' list")"
    echo "  list, unchanged       $(median "'$convo' list")"
    echo "  list -n 20            $(median "'$convo' list -n 20")"
    echo "  list --json           $(median "'$convo' list --json")"
    "$convo" title -q "$("$convo" list -n 1 --columns id)" changed
    echo "  list, one changed     $(median "'$convo' list")"
    echo "  cache                 $(stat -c %s "$cache") bytes"
done
