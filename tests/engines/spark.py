"""Sessions in Spark: every filter through RDD.pipe, in local mode. Usage: spark.py CONVO [FIGURES]

Every partition must have the bytes that the program gives for its lines outside of Spark, with an empty environment, for empty
partitions, for a task that is run again after its program was killed, and for two attempts at the same time. With a second
argument, prints times beside those of `cat`.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

CONVO = os.path.abspath(sys.argv[1])
SESSIONS, PARTITIONS, EMPTY = int(os.environ.get("SESSIONS", 1000)), 8, {1, 4, 7}
SECRET = "sk-ant-api03-" + "Ab3dEf7hIj" * 9 + "xyAA"

FILTERS = {
    "cat": "cat -q",
    "compact": "compact --budget 200 -q",
    "check": "check --flat -q",
    "count": "count --flat -q",
    "redact": "redact -q",
    "migrate": "migrate -q -",
    "usage": "usage --flat -q -",
}


def session(number):
    """A packed session: one line. Every tenth holds a secret."""
    text = f"Question {number}: " + ("why is the build slow? " * 8) + (SECRET if number % 10 == 0 else "")
    records = [{"type": "session", "version": 1, "id": f"s{number}", "created_at": "2026-11-01T10:00:00Z"}]
    for turn in range(3):
        records.append({"role": "user", "content": f"{text} ({turn})", "id": f"u{turn}"})
        records.append({"role": "assistant", "content": f"Answer {turn}: " + "because of the images. " * 8, "id": f"a{turn}",
                        "usage": {"input_tokens": 100 + turn, "output_tokens": number % 7}})
    packed = {"type": "packed", "id": f"s{number}", "records": records}
    return json.dumps(packed, separators=(",", ":"))


def outside(command, lines):
    """What the program prints for the lines of a partition, with an empty environment."""
    data = "".join(line + "\n" for line in lines).encode()
    done = subprocess.run([CONVO, *command.split()], input=data, stdout=subprocess.PIPE, env={}, check=True)
    return done.stdout.decode().splitlines()


def partitions():
    full = [nth for nth in range(PARTITIONS) if nth not in EMPTY]
    made = [[] for _ in range(PARTITIONS)]
    for number in range(SESSIONS):
        made[full[number % len(full)]].append(session(number))
    return made


def script(folder, name, text):
    path = Path(folder) / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def main():
    conf = SparkConf().setMaster("local[2,3]").setAppName("convo").set("spark.ui.enabled", "false").set("spark.ui.showConsoleProgress", "false")
    spark = SparkContext(conf=conf)
    spark.setLogLevel("OFF")
    made = partitions()
    # One element a partition, and its lines: so that empty ones are there.
    lines = spark.parallelize(made, PARTITIONS).flatMap(lambda partition: partition).cache()
    assert [len(part) for part in lines.glom().collect()] == [len(part) for part in made]
    for name, command in FILTERS.items():
        piped = lines.pipe(f"{CONVO} {command}", env={}, checkCode=True).glom().collect()
        expected = [outside(command, partition) for partition in made]
        assert piped == expected, f"{name}: other bytes than outside of Spark"
        assert [bool(part) for part in piped] == [bool(part) for part in made], f"{name}: an empty partition"
        print(f"{name}: {sum(map(len, piped))} lines, the same in {PARTITIONS} partitions, {len(EMPTY)} of them empty")
    cat = outside(FILTERS["cat"], made[0])
    assert cat == made[0], "cat changes lines"
    assert not any(SECRET in line for line in outside(FILTERS["redact"], made[0])), "redact leaves a secret"
    with tempfile.TemporaryDirectory() as folder:
        again(spark, lines, made, folder)
        damaged(spark, made)
        tables(lines, folder)
    if len(sys.argv) > 2:
        figures(lines)
    spark.stop()


def again(spark, lines, made, folder):
    """A program that is killed in the middle of its output fails the task, and the next attempt gives the same bytes."""
    command = FILTERS["cat"]
    once = f"if mkdir {folder}/killed 2>/dev/null; then head -n 100 | {CONVO} {command}; kill -KILL $$; fi"
    killed = script(folder, "killed.sh", f"PATH=/usr/bin:/bin\n{once}\nexec {CONVO} {command}")
    assert lines.pipe(killed, checkCode=True).glom().collect() == made
    assert Path(folder, "killed").is_dir(), "no program was killed"
    print("a killed program: the task ran again, with the same bytes")
    # As speculative execution does, which local mode has not: two attempts of each partition at the same time.
    twice = spark.union([lines, lines]).pipe(f"{CONVO} {FILTERS['compact']}", env={}, checkCode=True).glom().collect()
    assert twice[:PARTITIONS] == twice[PARTITIONS:]
    print("two attempts of each task: the same bytes")


def damaged(spark, made):
    """Damage ends a task, unless its status is accepted; the other sessions are there."""
    lines = [*made[0][:5], made[0][5][:200], *made[0][6:10]]
    rdd = spark.parallelize(lines, 1)
    try:
        rdd.pipe(f"{CONVO} count --flat -q", env={}, checkCode=True).collect()
        raise AssertionError("damage does not fail the task")
    except AssertionError:
        raise
    except Exception as error:
        assert "65" in str(error), error
    tolerant = f"{CONVO} count --flat --damage-ok -q"
    rows = [json.loads(row) for row in rdd.pipe(tolerant, env={}, checkCode=True).collect()]
    assert len({row["id"] for row in rows} & {json.loads(line)["id"] for line in lines[:5] + lines[6:]}) == 9
    print("a damaged line: status 65 fails the task; with --damage-ok, the 9 other sessions are there")


def tables(lines, folder):
    """One flat line a session, which Spark and DuckDB read without a schema."""
    usage = 3 * sum(number % 7 for number in range(SESSIONS))
    for command, columns, expected in [
        ("count --flat -q", "sum(messages), sum(usage_output), max(created_at)", [SESSIONS * 6, usage, "2026-11-01T10:00:00Z"]),
        ("check --flat -q", "sum(errors), count(rules), min(valid)", [0, 0, True]),
        ("usage --flat -q -", "sum(requests), sum(usage_output), max(created_at)", [SESSIONS * 3, usage, "2026-11-01T10:00:00Z"]),
    ]:
        table(lines, folder, command, f"count(*), count(distinct id), {columns}", [SESSIONS, SESSIONS, *expected])


def table(lines, folder, command, columns, expected):
    session = SparkSession.builder.getOrCreate()
    rows = lines.pipe(f"{CONVO} {command}", env={}, checkCode=True).cache()
    table = session.read.json(rows)
    assert not [kind for _, kind in table.dtypes if kind.startswith(("struct", "array", "map"))], table.dtypes
    first = table.selectExpr(*columns.split(", ")).first()
    assert list(first) == expected, (first, expected)
    print(f"Spark reads the table of {command}:", len(table.columns), "columns")
    try:
        import duckdb
    except ImportError:
        print("skipped: duckdb cannot be imported")
        return
    path = Path(folder) / "sessions.jsonl"
    path.write_text("".join(row + "\n" for row in rows.collect()))
    # DuckDB detects times, which it cannot return without another module.
    columns = columns.removesuffix(", max(created_at)")
    found = duckdb.sql(f"select {columns} from '{path}'").fetchall()[0]
    assert list(found) == expected[: len(found)], (found, expected)
    print("DuckDB reads the table: the same figures")


def figures(lines):
    """Seconds of five runs each, sorted, of `cat` and of the program."""
    for command in ["/bin/cat", *(f"{CONVO} {command}" for command in FILTERS.values())]:
        taken = []
        for _ in range(5):
            start = time.perf_counter()
            lines.pipe(command, env={}, checkCode=True).count()
            taken.append(round(time.perf_counter() - start, 3))
        print(command.replace(CONVO, "convo"), sorted(taken))


if __name__ == "__main__":
    main()
