#!/usr/bin/env python3
"""Measure the cost of a turn of a rolling session, and the size of its view and summary, by the number of turns so far.

Usage: benches/rolling.py [CONVO]...   (default: target/release/convo)
TURNS (100,1000,10000), BUDGET (4000), LOOPS (20), GC (200) and SPEECH (plain; rules: every fifth turn sets one) are
environment variables. Each program on the command line is measured on the same sessions, which it creates itself.

Between the measured points, turns are added in groups; at each point LOOPS turns are run like in a shell loop:

    convo append chat -r user ...; convo summarize chat --when 'tokens>=BUDGET'; convo context chat; convo append chat -r assistant ...
"""
import json, os, random, shutil, subprocess, sys, tempfile, time

points = [int(word) for word in os.environ.get("TURNS", "100,1000,10000").split(",")]
budget = int(os.environ.get("BUDGET", "4000"))
loops = int(os.environ.get("LOOPS", "20"))
every = int(os.environ.get("GC", "200"))
rules = os.environ.get("SPEECH", "plain") == "rules"
here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
programs = sys.argv[1:] or [os.path.join(here, "target/release/convo")]
WORDS = "sorter reject jam weigh shift sensor chute motor pallet route conveyor gate belt scanner label crate dock".split()


def turn(number):
    """The messages of user and model, the same for every program."""
    chance = random.Random(number)
    say = lambda count: " ".join(chance.choices(WORDS, k=count))
    user = f"In case {number} the {say(6)} stopped on 2026-03-{number % 28 + 1:02}. Where is {say(4)}?"
    if rules and number % 5 == 0:
        user += f" From now on, always call line {number} the {say(2)} line."
    return user, f"Line {number} reads {chance.randint(10, 9999)}: {say(40)}."


def median(times):
    return sorted(times)[len(times) // 2] * 1000


class Loop:
    def __init__(self, program, memory=None, gc=0):
        self.program, self.gc, self.done = program, gc, 0
        self.memory = memory
        self.folder = tempfile.mkdtemp(prefix="convo-rolling.")
        self.environment = {"PATH": os.environ["PATH"], "CONVO_STORE": self.folder + "/store", "HOME": self.folder}
        self.run("new", "--id", "chat", *(["--memory", memory] if memory else []))

    def run(self, *arguments, text=None):
        start = time.perf_counter()
        done = subprocess.run([self.program, *arguments], input=text, capture_output=True, env=self.environment)
        took = time.perf_counter() - start
        if done.returncode:
            sys.exit(f"{' '.join(arguments)}: {done.returncode}: {done.stderr.decode()}")
        return took, done.stdout

    def summarize(self):
        when = [] if self.memory else ["--when", f"tokens>={budget}"]
        return self.run("summarize", "chat", "-q", *when)[0]

    def turn(self):
        """Runs one turn and returns the milliseconds of each command."""
        user, model = turn(self.done)
        self.done += 1
        times = [
            self.run("append", "chat", "-q", "-r", "user", user)[0],
            self.summarize(),
            self.run("context", "chat")[0],
            self.run("append", "chat", "-q", "-r", "assistant", model)[0],
        ]
        self.collect()
        return times

    def collect(self):
        if self.gc and self.done % self.gc == 0:
            self.run("gc", "chat", "-q")

    def grow(self, to):
        """Adds turns up to a number, in groups."""
        while self.done < to:
            group = min(20, to - self.done)
            lines = []
            for number in range(self.done, self.done + group):
                for role, text in zip(("user", "assistant"), turn(number)):
                    lines.append(json.dumps({"role": role, "content": text}))
            self.done += group
            self.run("append", "chat", "-q", "--stream", text="\n".join(lines).encode())
            self.summarize()
            self.collect()

    def sizes(self):
        lines = [json.loads(line) for line in self.run("context", "chat")[1].splitlines()]
        view = json.loads(self.run("count", "chat", "--json")[1])["view"]["tokens"]["total"]
        summary = next((line["content"] for line in lines if line.get("type") == "summary"), "")
        return view, len(summary.encode()), os.path.getsize(self.folder + "/store/sessions/chat.jsonl")

    def end(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def measure(name, loop):
    print(f"\n{name}")
    print(f"{'turns':>8} {'view':>8} {'summary':>9} {'log':>10} {'append':>8} {'summarize':>10} {'context':>8} {'append':>8} {'a turn':>8}")
    for point in points:
        loop.grow(point - loops)
        times = [loop.turn() for _ in range(loops)]
        view, summary, log = loop.sizes()
        each = [median([turn[command] for turn in times]) for command in range(4)]
        mean = sum(sum(turn) for turn in times) / len(times) * 1000
        print(
            f"{point:>8} {view:>6} t {summary:>7} B {log:>8} B {each[0]:>5.2f} ms {each[1]:>7.2f} ms {each[2]:>5.2f} ms"
            f" {each[3]:>5.2f} ms {mean:>5.1f} ms",
            flush=True,
        )
    loop.end()


for program in programs:
    print(f"\n== {program}: medians of {loops} turns, the last column their mean; tokens as convo counts them")
    measure(f"fixed budget of {budget} tokens, no gc", Loop(program))
    measure(f"the same with gc every {every} turns", Loop(program, gc=every))
    measure("memory: rolling_summary, keep_last=5", Loop(program, memory="rolling_summary,keep_last=5"))
