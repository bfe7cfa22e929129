"""Does a gate tell a change without effect from a slip of 5 %?  Replays before and after a change, by `windtunnel compare`.

    tools/table nulls                                        200 changes without effect, 200 slips
    tools/table nulls --nulls 40 --slips 40 --policies kai
    tools/table nulls --traces ../shared/traces              NASA and LCG at load 0.9 too
    tools/table nulls --power                                what room is decided within 20 seeds, and what variates save

The replays are frozen mixes at load 0.95 on 64 GPUs, --days long each, under each policy.  The gate is one: the mean queue
time may grow by at most --bound.

A null is a change that cannot matter: a job of one second is added; a job comes a second later; a job runs a second longer;
the nodes stand in two pools; the queues stand in another order.  A slip makes the gated metric 5 % worse: all jobs run longer
(workload.duration_scale) or start later (world.decision_latency_s), by what costs 5 % over --calibration seeds of that replay.
These seeds are not those of the comparisons.  A case has seeds of its own.

    before   one exact replay of each side: its values decide
    after    shaken replays, looks up to --seeds-max

The columns: cases; failed, inconclusive and passed gates; seeds and seconds of processor time of a comparison, and the change
that was measured, in the mean.  SIGTERM ends the cases and shows those that are done.
The last lines run inconclusive cases again with the number of seeds that they named, if it is at most --named-max.

The table of --power has pairs of a base and the same with a latency of one second, which moves every decision and costs next
to nothing, over --power-seeds seeds: the fleet of docs/examples/ci under kai, the mix drawn anew with each seed under kai, and
the first frozen mix under two policies.

    spread       the standard deviation of ln(candidate / base) over the seeds
    of amounts   that of candidate - base, over the mean of the base
    20, 40       the room that is decided within so many of 40 seeds four times in five: 0.80 and 0.49 spreads
                 (make test ONLY=analytic/test_looks)
    pairs        the variance of ln(candidate / base) over that without common random numbers
    variate      over that which is left after a regression on the seed's offered load

Exit status: 0; 1 if --limits is given and more than 9 % of nulls fail, more than 30 % stay inconclusive, or less than 60 % of
slips fail; 2 if a run failed.
"""
import argparse
import itertools
import json
import math
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile

from tables.runs import Failed, Lines, complain, windtunnel

GPUS, LOAD, SLIP, POWER = 64, 0.95, 0.05, 0.8
STOPPED = []  # a signal came
LATER = 10**6  # from the seeds of a calibration to those of comparisons
METRIC = "queue_time_mean_s"
NULLS = ("a job added", "a job later", "a job longer", "two pools", "queues")
SLIPS = {"durations": ("workload.duration_scale", 1, 0.005), "latency": ("world.decision_latency_s", 0, 20)}
TRACES = {"NASA": ("swf/NASA-iPSC-1993-3.1-cln.swf.zst", 128), "LCG": ("swf/LCG-2005.swf.zst", 4000)}
TRACE_LOAD = 0.9


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nulls", type=int, default=200)
    parser.add_argument("--slips", type=int, default=200)
    parser.add_argument("--policies", default="slurm,kai,windtunnel")
    parser.add_argument("--mixes", type=int, default=2, help="frozen mixes; default: 2")
    parser.add_argument("--days", type=float, default=5, help="of a mix; default: 5")
    parser.add_argument("--bound", type=float, default=0.02, help="default: 0.02")
    parser.add_argument("--shake", default="1m,0.01", help="default: 1m,0.01")
    parser.add_argument("--seeds-max", type=int, default=40)
    parser.add_argument("--calibration", type=int, default=24, metavar="SEEDS", help="default: 24")
    parser.add_argument("--named-max", type=int, default=200, metavar="SEEDS", help="default: 200")
    parser.add_argument("--named-count", type=int, default=10, help="inconclusive cases that are run again; default: 10")
    parser.add_argument("--traces", help="the folder of NASA and LCG; left out: the mixes alone")
    parser.add_argument("--trace-cases", type=int, default=2, help="nulls and slips of each trace and policy; default: 2")
    parser.add_argument("--minutes", type=float, default=40, help="of processor time, then no case begins; default: 40")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time; default: 1")
    parser.add_argument("--power", action="store_true", help="the table of rooms instead")
    parser.add_argument("--power-seeds", type=int, default=40, help="default: 40")
    parser.add_argument("--limits", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    return parser.parse_args()


# ---- Comparisons ----


def spent_s():
    spent = os.times()
    return spent.children_user + spent.children_system


def compare(words, what):
    """The comparison as JSON; a gate that failed or is inconclusive is no error."""
    program = [os.environ.get("WINDTUNNEL", "./windtunnel"), "compare", "--format", "json", "--no-why", "--quiet"]
    done = subprocess.run([*program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 10, 11):
        raise Failed(f"{what}: {done.stderr.strip()}")
    return json.loads(done.stdout)


class Case:
    """Two scenario files, and the options of their comparison."""

    def __init__(self, name, base, changed, seed):
        self.name, self.base, self.changed, self.seed = name, base, changed, seed

    def run(self, args, gates, words):
        """The verdict of the one gate, with `seconds`."""
        begin = spent_s()
        got = compare([self.base, self.changed, "--gates", gates, "--seed", str(self.seed), "-j", str(args.jobs), *words],
                      self.name)
        return {**got["gates"][0], "seeds": got["seeds"], "seconds": spent_s() - begin}


def ratios(got, side):
    """ln(candidate / base) by seed."""
    row = next(row for row in got["metrics"] if row["metric"] == METRIC and row["better"] and not set(row) & CUTS)
    return [math.log(b / a) for a, b in zip(row["values"][0], row["values"][side])]


CUTS = {"class", "workload_class", "class_size", "tenant", "queue", "size", "gpu_model"}

# ---- Replays ----


def mix(args):
    def jobs(name, kind, share, sizes, median, sigma, **more):
        return {"name": name, "class": kind, "share": share, "arrivals": {"process": "poisson"},
                "sizes": [{"weight": weight, "gpus": gpus, "nodes": 1} for gpus, weight in sizes],
                "run_time": {"distribution": "lognormal", "median": median, "sigma": sigma}, **more}

    return {"duration": f"{args.days * 24:g}h", "load_whole_gpu": LOAD, "classes": [
        jobs("training", "training", 0.7, ((1, 70), (2, 20), (4, 10)), "40m", 1),
        jobs("interactive", "interactive", 0.1, ((1, 1),), "30m", 1),
        jobs("inference", "inference", 0.2, ((1, 1),), "2h", 0.5, priority=10)]}


class Replay:
    """A trace on its cluster under a policy."""

    def __init__(self, args, name, folder, trace, policy, load, gpus, form=None):
        self.name, self.folder, self.trace, self.form = name, folder, trace, form
        nodes = (gpus, 1) if form else (gpus // 8, 8)
        self.scenario = {
            "cluster": {"name": name, "pools": [{"name": "node", "nodes": nodes[0], "gpus_per_node": nodes[1],
                                                "gpu_model": "h100-80gb"}]},
            "workload": {"trace": str(trace), "load_gpus": gpus, **({"format": form, "load": load} if form else {})},
            "policy": {"preset": policy}, "world": {} if form else {"end": mix(args)["duration"]}}
        self.slips = {}

    def write(self, name, scenario):
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(scenario))
        return str(path)

    def changed(self):
        return json.loads(json.dumps(self.scenario))


def freeze(args, folder, seed):
    """A mix at the load, as the lines of a frozen trace."""
    cluster = {"name": "mix", "pools": [{"name": "node", "nodes": GPUS // 8, "gpus_per_node": 8, "gpu_model": "h100-80gb"}]}
    drawn, scaled = folder / f"mix{seed}-drawn.jsonl", folder / f"mix{seed}.jsonl"
    of_mix, of_trace = folder / f"mix{seed}.json", folder / f"mix{seed}-trace.json"
    rest = {"cluster": cluster, "policy": {"preset": "fifo"}, "world": {"end": mix(args)["duration"]}}
    of_mix.write_text(json.dumps({**rest, "workload": {"load_gpus": GPUS, "synth": mix(args)}}))
    windtunnel(["trace", "freeze", str(of_mix), "--seed", str(seed), "--out", str(drawn)], "freeze")
    of_trace.write_text(json.dumps({**rest, "workload": {"trace": str(drawn), "load_gpus": GPUS, "load": LOAD}}))
    windtunnel(["trace", "freeze", str(of_trace), "--out", str(scaled)], "freeze")
    return scaled


def edited_trace(replay, kind, name, chance):
    """The trace with one job changed that cannot matter, as a file."""
    head, *lines = replay.trace.read_text().splitlines()
    at = chance.randrange(len(lines) // 10, len(lines) * 9 // 10)
    job = json.loads(lines[at])
    if kind == "a job added":
        job.update(job_id=len(lines), duration_s=1, groups=[{"count": 1, "gpus": 1}])
        lines.insert(at + 1, json.dumps(job))
    elif kind == "a job later":
        job["submit_s"] += 1
        lines[at] = json.dumps(job)
        lines[at:] = sorted(lines[at:], key=lambda line: json.loads(line)["submit_s"])
    else:
        job["duration_s"] += 1
        lines[at] = json.dumps(job)
    path = replay.folder / f"{name}.jsonl"
    path.write_text("\n".join([head, *lines]) + "\n")
    return str(path)


def null_case(replay, kind, number):
    chance = random.Random(f"{replay.name} {kind} {number}")
    name, base, changed = f"{replay.folder.name}-null{number}", replay.changed(), replay.changed()
    if kind == "queues":
        queues = [{"name": "default", "quota_gpus": GPUS}, {"name": "spare", "quota_gpus": 0}, {"name": "rest", "quota_gpus": 0}]
        base["queues"], changed["queues"] = queues, queues[:0:-1] + queues[:1]
    elif kind == "two pools" or replay.form:
        pool = base["cluster"]["pools"][0]
        first = chance.randrange(1, pool["nodes"])
        changed["cluster"]["pools"] = [{**pool, "name": "one", "nodes": first},
                                       {**pool, "name": "other", "nodes": pool["nodes"] - first}]
    else:
        changed["workload"]["trace"] = edited_trace(replay, kind, name, chance)
    return Case(f"{replay.name}, {kind}", replay.write(f"{name}-base", base), replay.write(f"{name}-changed", changed),
                LATER + 1000 * number)


def calibrate(args, replay, kind):
    """The setting that makes the metric worse by SLIP: through the origin, by least squares over three settings."""
    path, none, step = SLIPS[kind]
    words = [word for at, part in enumerate((0.5, 1, 2))
             for word in ("--side", f"s{at}:{path}={none + part * step}")]
    got = compare(["--scenario", replay.write("calibration", replay.scenario), "--side", "base", *words, "--shake", args.shake,
                   "--seeds", str(args.calibration), "-j", str(args.jobs)], f"{replay.name}, {kind}")
    points = [(part * step, statistics.fmean(ratios(got, side + 1))) for side, part in enumerate((0.5, 1, 2))]
    slope = sum(x * y for x, y in points) / sum(x * x for x, _ in points)
    if slope <= 0:
        raise Failed(f"{replay.name}, {kind}: {args.calibration} seeds do not tell what makes it worse; try more")
    return f"{path}={none + math.log(1 + SLIP) / slope}"


def slip_case(args, replay, kind, number):
    if kind not in replay.slips:
        replay.slips[kind] = calibrate(args, replay, kind)
        print(f"{replay.name}: 5 % worse with {replay.slips[kind]}", file=sys.stderr, flush=True)
    path, value = replay.slips[kind].split("=")
    changed = replay.changed()
    room, key = path.split(".")
    changed[room][key] = float(value)
    name = f"{replay.folder.name}-slip{number}"
    return Case(f"{replay.name}, {kind}", replay.write(f"{name}-base", replay.scenario), replay.write(f"{name}-changed", changed),
                LATER + 1000 * number)


# ---- Tables ----


def replays_of(args, root):
    replays = []
    for number, policy in itertools.product(range(1, args.mixes + 1), args.policies.split(",")):
        folder = root / f"mix{number}-{policy}"
        folder.mkdir()
        if number > len(replays) // len(args.policies.split(",")):
            trace = freeze(args, root, number)
        replays.append(Replay(args, f"mix {number} under {policy}", folder, trace, policy, LOAD, GPUS))
    for name, policy in itertools.product(TRACES if args.traces else (), args.policies.split(",")):
        file, gpus = TRACES[name]
        trace = pathlib.Path(args.traces).resolve() / file
        if not trace.exists():
            raise Failed(f"no file {file} in {args.traces}")
        folder = root / f"{name}-{policy}"
        folder.mkdir()
        replays.append(Replay(args, f"{name} under {policy}", folder, trace, policy, TRACE_LOAD, gpus, "swf"))
    return replays


def cases_of(args, replays, is_null):
    """In turns over the replays, so that a part of them is a fair sample."""
    kinds = NULLS if is_null else tuple(SLIPS)
    mixes = [replay for replay in replays if not replay.form]
    wanted = [(replay, kinds[number // len(mixes) % len(kinds)], number)
              for number, replay in zip(range(args.nulls if is_null else args.slips), itertools.cycle(mixes))]
    wanted += [(replay, kinds[number % len(kinds)], number) for replay in replays if replay.form
               for number in range(args.trace_cases)]
    for replay, kind, number in wanted:
        yield null_case(replay, kind, number) if is_null else slip_case(args, replay, kind, number)


def row(name, results):
    states = [result["state"] for result in results]
    if not results:
        return [name, "0", *[""] * 6]
    return [name, str(len(results)), *(str(states.count(state)) for state in ("failed", "inconclusive", "passed")),
            f"{statistics.fmean(result['seeds'] for result in results):.1f}",
            f"{statistics.fmean(result['seconds'] for result in results):.2f}",
            f"{100 * statistics.fmean(result['value'] or 0 for result in results):+.1f} %"]


def judge(args, cases, gates, open_cases):
    before, after = [], []
    for case in cases:
        if spent_s() > 60 * args.minutes or STOPPED:
            complain("stopped; the cases that are done follow")
            break
        before.append(case.run(args, gates, ("--exact",)))
        after.append(case.run(args, gates, ("--shake", args.shake, "--seeds-max", str(args.seeds_max))))
        if after[-1]["state"] == "inconclusive":
            open_cases.append((case, after[-1]["seeds_needed"]))
        print(f"{case.name}: {before[-1]['state']} before, {after[-1]['state']} after {after[-1]['seeds']} seeds"
              f" ({100 * (after[-1]['value'] or 0):+.1f} %), needs {after[-1].get('seeds_needed')}", file=sys.stderr, flush=True)
    return before, after


def show_named(args, open_cases, gates):
    """Do inconclusive cases decide with the seeds that they named?"""
    named = [(case, seeds) for case, seeds in open_cases if seeds is not None and seeds <= args.named_max]
    decided, seconds = 0, 0.0
    for case, seeds in named[:0 if STOPPED else args.named_count]:
        result = case.run(args, gates, ("--shake", args.shake, "--seeds-max", str(int(seeds))))
        decided += result["state"] in ("failed", "passed")
        seconds += result["seconds"]
    print(f"\nof {len(open_cases)} inconclusive cases {len(named)} named at most {args.named_max} seeds; "
          f"{0 if STOPPED else min(len(named), args.named_count)} run again with that number: {decided} decided, "
          f"{seconds:.0f} s")


def show_nulls(args, replays, root):
    gates = root / "gates.json"
    gates.write_text(json.dumps({"gates": [{"metric": METRIC, "max_increase": f"{100 * args.bound:g}%"}]}))
    open_cases, shares = [], []
    lines = Lines(["", "cases", "failed", "inconclusive", "passed", "seeds", "seconds", "change"], ["slips, before"], args.markdown)
    for name, is_null in (("nulls", True), ("slips", False)):
        before, after = judge(args, cases_of(args, replays, is_null), str(gates), open_cases)
        lines.show(row(f"{name}, before", before))
        lines.show(row(f"{name}, after", after))
        shares.append({state: statistics.fmean(result["state"] == state for result in after) if after else 0
                       for state in ("failed", "inconclusive")})
    show_named(args, open_cases, str(gates))
    return shares[0]["failed"] <= 0.09 and shares[0]["inconclusive"] <= 0.3 and shares[1]["failed"] >= 0.6


def correlation(x, y):
    """0 where one of them does not vary."""
    x_mean, y_mean = statistics.fmean(x), statistics.fmean(y)
    squares = sum((a - x_mean) ** 2 for a in x) * sum((b - y_mean) ** 2 for b in y)
    return sum((a - x_mean) * (b - y_mean) for a, b in zip(x, y)) / math.sqrt(squares) if squares > 0 else 0.0


def power_row(name, got):
    values = {of: next(row for row in got["metrics"] if row["metric"] == of and not set(row) & CUTS)["values"]
              for of in (METRIC, "offered_load_ratio")}
    base, candidate = values[METRIC]
    logs = [math.log(b / a) for a, b in zip(base, candidate)]
    apart = statistics.variance(map(math.log, base)) + statistics.variance(map(math.log, candidate))
    spread = statistics.stdev(logs)
    amounts = statistics.stdev(b - a for a, b in zip(base, candidate)) / statistics.fmean(base)
    left = 1 - correlation(values["offered_load_ratio"][0], logs) ** 2
    return [name, str(len(logs)), f"{100 * spread:.1f} %", f"{100 * amounts:.1f} %",
            *(f"{100 * (math.exp(sign * spread) - 1):.1f} %" for sign in (0.80, 0.49)),
            f"{spread**2 / apart:.2f}", f"{left:.2f}"]


def show_power(args, replays):
    heads = ["", "seeds", "spread", "of amounts", "20", "40", "pairs", "variate"]
    fleet, drawn = "the fleet of docs/examples/ci", "the mix, drawn with each seed"
    lines = Lines(heads, [fleet, drawn, *(replay.name for replay in replays[:2])], args.markdown)
    sides = ["--side", "base", "--side", "later:world.decision_latency_s=1", "--seeds", str(args.power_seeds), "-j", str(args.jobs)]
    under_kai = ["--set", 'policy={"preset": "kai"}', *sides]  # its own policy needs a plug-in
    lines.show(power_row(fleet, compare(["--scenario", "docs/examples/ci/scenario.json", "--shake", args.shake, *under_kai],
                                        fleet)))
    lines.show(power_row(drawn, compare(["--scenario", str(replays[0].folder.parent / "mix1.json"), *under_kai], drawn)))
    for replay in replays[:2]:
        lines.show(power_row(replay.name, compare(["--scenario", replay.write("power", replay.scenario), "--shake", args.shake,
                                                   *sides], replay.name)))
    return True


def main():
    args = options()
    signal.signal(signal.SIGTERM, lambda *_: STOPPED.append(True))
    with tempfile.TemporaryDirectory(prefix="nulls-") as root:
        try:
            replays = replays_of(args, pathlib.Path(root))
            is_good = show_power(args, replays) if args.power else show_nulls(args, replays, pathlib.Path(root))
            return 1 if args.limits and not is_good else 0
        except (Failed, OSError, ValueError, KeyError) as failure:
            complain(failure)
    return 2
