"""What reading a trace costs: instructions a byte of its text, for rows of three formats, sorted and in random order.

    make table NAME=read VARIANT=profiled
    tools/table read --rows 10000000 --memory --only native    peak memory in place of instructions
    tools/table read --write FOLDER                            write the files there, and count nothing

Rows are drawn with a fixed seed: `native` has 14 columns, `short` the native format's four required columns and user,
queue, class; `swf` has the 18 of the standard; `sacct` has those of docs/traces.md.  Users, queues and sizes are skewed as
in real traces.  In random order all rows of a file but its header are shuffled.

    validate       `windtunnel trace validate`, which reads the file once
    info           `windtunnel trace info`, which reads it once too, sorts the submissions and finds quantiles
    stream         `windtunnel validate` of a scenario: as `run` it takes the jobs by submission, so it reads a long trace twice,
                   or sorts it; and it checks whether each fits
    instructions   of the whole program, counted by valgrind's callgrind
    memory         the largest resident set of the program, in MB, as the kernel counts it

Exit status: 0 if no cell is above --most instructions a byte (`stream`: twice that; in random order all: three times that), 1
if one is; `short`, whose rows are as narrow as rows can be, is not judged.  2 if the program failed or an argument is no good.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

VERBS = ("validate", "info", "stream")
ORDERS = ("sorted", "random")
HEADS = ("rows", "order", "bytes a row")
USERS, QUEUES, GROUPS, DAY_S = 1200, 40, 15, 86400
GPUS, GPU_WEIGHTS = (1, 2, 4, 8, 16, 32, 64, 128, 512), (45, 12, 12, 18, 6, 3, 2, 1.5, 0.5)
READINGS, RANDOM_FACTOR = {"stream": 2}, 3


class Draw:
    """What rows of all formats have in common: submissions, sizes, durations, users."""

    def __init__(self, rows):
        self.random = random.Random(26)
        self.users = [f"user{n:04d}" for n in range(USERS)]
        self.user_weights = self.sums(1 / (n + 1) for n in range(USERS))
        self.gpu_weights = self.sums(GPU_WEIGHTS)
        self.queues = [f"team-{name}" for name in ("vision", "speech", "llm", "search", "ads")]
        self.queues += [f"lab{n:02d}" for n in range(QUEUES - len(self.queues))]
        self.now_s = 0
        self.rows = rows

    @staticmethod
    def sums(weights):
        sums, total = [], 0.0
        for weight in weights:
            total += weight
            sums.append(total)
        return sums

    def many(self):
        """Tuples of submission, duration, wait, limit (seconds), GPUs, user, its number, its queue's."""
        draw = self.random
        gpus = iter(())
        for row in range(self.rows):
            if row % 10000 == 0:
                gpus = iter(draw.choices(GPUS, cum_weights=self.gpu_weights, k=10000))
                users = iter(draw.choices(range(USERS), cum_weights=self.user_weights, k=10000))
            self.now_s += int(draw.expovariate(1 / 12))
            duration = int(min(draw.lognormvariate(7.5, 2), 14 * DAY_S))
            limit = next(l for l in (1800, 3600, 4 * 3600, DAY_S, 3 * DAY_S, 14 * DAY_S) if duration <= l)
            user = next(users)
            yield self.now_s, duration, int(draw.expovariate(1 / 600)), limit, next(gpus), user, user % QUEUES


def native(draw):
    classes, outcomes, picks = ("training", "training", "training", "interactive", "inference"), ("completed", "completed", "failed", "cancelled"), draw.random
    yield "job_id,submit_s,duration_s,gpus,nodes,cpus,memory_gb,queue,user,class,priority,limit_s,outcome,wait_s\n"
    for number, (now, duration, wait, limit, gpus, user, queue) in enumerate(draw.many(), 1):
        nodes = (gpus + 7) // 8
        yield (f"{number},{now},{duration},{gpus},{nodes},{gpus * 12},{gpus * 120},{draw.queues[queue]},{draw.users[user]},"
               f"{classes[picks.randrange(5)]},{(25, 50, 50, 100)[user % 4]},{limit},{outcomes[picks.randrange(4)]},{wait}\n")


def short(draw):
    classes, picks = ("training", "training", "training", "interactive", "inference"), draw.random
    yield "job_id,submit_s,duration_s,gpus,user,queue,class\n"
    for number, (now, duration, _, _, gpus, user, queue) in enumerate(draw.many(), 1):
        yield f"{number},{now},{duration},{gpus},{draw.users[user]},{draw.queues[queue]},{classes[picks.randrange(5)]}\n"


def swf(draw):
    yield "; Version: 2.2\n"
    picks = draw.random
    for number, (now, duration, wait, limit, gpus, user, queue) in enumerate(draw.many(), 1):
        yield (f"{number:6d} {now:8d} {wait:6d} {duration:6d} {gpus:4d} {duration * 0.9:.2f} {gpus * 4096:7d} {gpus:4d} {limit:6d}"
               f" -1 {(1, 1, 0, 5)[picks.randrange(4)]} {user + 1:4d} {user % GROUPS + 1:3d} -1 {queue:2d} -1 -1 -1\n")


def date(seconds):
    at = time.gmtime(1767225600 + seconds)
    return "%04d-%02d-%02dT%02d:%02d:%02d" % at[:6]


def sacct(draw):
    picks = draw.random
    yield "JobID|User|Account|Partition|Submit|Eligible|Start|End|TimelimitRaw|State|NNodes|ReqTRES|AllocTRES\n"
    for number, (now, duration, wait, limit, gpus, user, queue) in enumerate(draw.many(), 1):
        nodes = (gpus + 7) // 8
        submit, start, end = date(now), date(now + wait), date(now + wait + duration)
        state = ("COMPLETED", "COMPLETED", "FAILED", f"CANCELLED by {1000 + user}", "TIMEOUT")[picks.randrange(5)]
        tres = f"billing={gpus * 12},cpu={gpus * 12},gres/gpu={gpus},mem={gpus * 120}G,node={nodes}"
        yield (f"{number}|{draw.users[user]}|{draw.queues[queue]}|gpu|{submit}|{submit}|{start}|{end}|{limit // 60}|{state}|{nodes}|"
               f"{tres}|{tres}\n")


KINDS = {"native": native, "short": short, "swf": swf, "sacct": sacct}
FORMATS = {"short": "native"}
NOT_JUDGED = ("short",)


def options():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n", 1)[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=400000, help="of each file")
    parser.add_argument("--only", default=",".join(KINDS), help="kinds of rows, by commas")
    parser.add_argument("--orders", default=",".join(ORDERS), help="by commas")
    parser.add_argument("--verbs", default=",".join(VERBS), help="by commas")
    parser.add_argument("--memory", action="store_true", help="peak memory in place of instructions")
    parser.add_argument("--most", type=float, default=50, help="instructions a byte of one reading")
    parser.add_argument("--write", metavar="FOLDER", help="write the files there, and count nothing")
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    for given, known in ((args.only, KINDS), (args.orders, ORDERS), (args.verbs, VERBS)):
        for name in given.split(","):
            if name not in known:
                parser.error(f"no '{name}'; there are {', '.join(known)}")
    if not 0 < args.rows <= 100_000_000:
        parser.error(f"--rows must be from 1 to 100000000, not {args.rows}")
    return args


def write(kind, order, rows, path):
    """One file; in random order the rows are held, which takes some 200 bytes each."""
    lines = KINDS[kind](Draw(rows))
    with open(path, "w", encoding="ascii") as out:
        out.write(next(lines))
        if order == "sorted":
            out.writelines(lines)
            return
        lines = list(lines)
        random.Random(1).shuffle(lines)
        out.writelines(lines)


def cost_of(verb, path, kind, args, folder):
    """Instructions a byte, or peak memory in MB."""
    program = [os.environ.get("WINDTUNNEL", "./windtunnel")]
    form = FORMATS.get(kind, kind)
    if verb == "stream":
        workload = {"trace": str(path.resolve()), "format": form}
        cluster = str(pathlib.Path("topologies/dgx-h100-500.json").resolve())
        scenario = folder / f"{path.name}.json"
        scenario.write_text(json.dumps({"cluster": cluster, "workload": workload}), encoding="utf-8")
        program += ["validate", str(scenario)]
    else:
        program += ["trace", verb, str(path), "--format", form]
    log = folder / f"{path.name}.{verb}.log"
    if not args.memory:
        program = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--log-file={log}"] + program
    with open(folder / f"{path.name}.{verb}.err", "w+", encoding="utf-8") as complaints:
        child = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=complaints)
        _, status, usage = os.wait4(child.pid, 0)
        if status != 0:
            complaints.seek(0)
            raise RuntimeError(f"{' '.join(program)} failed: {complaints.read().strip()}")
    if args.memory:
        return usage.ru_maxrss / 1024
    for line in log.read_text(encoding="utf-8").splitlines():
        if "Collected :" in line:
            return int(line.split()[-1]) / path.stat().st_size
    raise RuntimeError(f"valgrind counted nothing: see {log}")


def row_of(kind, order, args, folder):
    path = folder / f"{kind}-{order}.txt"
    # in a process of its own: what this one holds counts as memory of the programs that it starts
    with concurrent.futures.ProcessPoolExecutor(1) as writer:
        writer.submit(write, kind, order, args.rows, path).result()
    width = path.stat().st_size / args.rows
    if args.write is not None:
        return kind, order, width, []
    costs = [cost_of(verb, path, kind, args, folder) for verb in args.verbs.split(",")]
    path.unlink()
    return kind, order, width, costs


def show(rows, args):
    heads = (*HEADS, *(f"{verb}, {'MB' if args.memory else 'instr. / byte'}" for verb in args.verbs.split(",")))
    cells = [[kind, order, f"{width:.1f}", *(f"{cost:.1f}" for cost in costs)] for kind, order, width, costs in rows]
    if args.markdown:
        print("|", " | ".join(heads), "|\n|" + "---|" * len(heads))
        for line in cells:
            print("|", " | ".join(line), "|")
        return
    for line in (heads, *cells):
        print("".join(f"{cell:>12}" if i < 3 else f"{cell:>25}" for i, cell in enumerate(line)))


def main():
    args = options()
    pairs = [(kind, order) for kind in args.only.split(",") for order in args.orders.split(",")]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(args.write or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        # one at a time where memory and files are large
        with concurrent.futures.ThreadPoolExecutor(1 if args.memory else 2) as pool:
            try:
                rows = list(pool.map(lambda pair: row_of(*pair, args, folder), pairs))
            except (RuntimeError, OSError) as error:
                print(f"{sys.argv[0]}: {error}", file=sys.stderr)
                return 2
    if args.write is not None:
        return 0
    show(rows, args)
    if args.memory:
        return 0
    verbs = args.verbs.split(",")
    for kind, order, _, costs in rows:
        for verb, cost in zip(verbs, costs):
            if kind not in NOT_JUDGED and cost > args.most * (RANDOM_FACTOR if order == "random" else READINGS.get(verb, 1)):
                return 1
    return 0
