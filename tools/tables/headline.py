"""The most that the main cluster carries under each policy, and what is used of it then.

    tools/table headline                                        both mixes, seeds 1 to 5: an hour or two on two cores
    tools/table headline --seeds 1,2 --rows kai,trust
    tools/table headline --markdown

For each policy, mix and seed `windtunnel plan` finds the largest load at which both hold:

    inference is admitted within 2 s at the 99th percentile
    small training waits at most an hour at the 95th percentile

The load is that of whole GPUs for all jobs, over the GPUs of the cluster; jobs that would do with a part of a GPU hold less
where the policy lets them.  The columns, at that load, as means over the seeds:

    load         the largest load, and its range over the seeds
    to best      the row's load over that of the best other preset (kubernetes, kai, slurm) with the same seed: the mean, and
                 its 95 % interval by Student's t
    SM-active    busy SMs over all SMs and all time: the use that is real
    allocated    GPUs given to jobs over all GPUs
    goodput      work that was kept over the GPU time that was held
    USD          price of the cluster over its useful GPU hours

Runs that fail, and policies that meet the levels at no load, are told.  Exit status: 0 if all is known, else 2.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import sys
import threading

from tables.runs import T, half_width

CUTS = ("cluster.pools.h100.mig_recut=true", "policy.geometry=on_demand")
# Space kept for owners of quota: 6.4 % of the GPUs, which jobs beyond what their queue deserves leave free.
KEEPS = "policy.headroom.owners_ratio=0.064"
ROWS = {
    "kubernetes, whole GPUs": ("kubernetes", ("policy.sharing=whole",)),
    # As it is, kai admits services that may not be preempted within the quota of their queue only: at no load within 2 s.
    "kai": ("kai", ("policy.quota.firm_needs_quota=false",)),
    "slurm": ("slurm", ()),
    "windtunnel, whole GPUs, space kept": ("windtunnel", ("policy.sharing.policy=whole", KEEPS)),
    "windtunnel, MIG, space kept": ("windtunnel", ("policy.sharing.policy=mig", *CUTS, KEEPS)),
    "windtunnel, MPS, space kept": ("windtunnel", ("policy.sharing.policy=mps", KEEPS)),
    "windtunnel, trust, space kept": ("windtunnel", ("policy.sharing.policy=trust", KEEPS)),
    "windtunnel": ("windtunnel", ()),
}
OTHERS = ("kubernetes, whole GPUs", "kai", "slurm")
MIXES = {"main": "scenarios/h100-500x8.json", "research": "scenarios/h100-500x8-research.json"}
LOAD = "workload.synth.load_whole_gpu"
LEVELS = ("admission_p99_s:class=inference<=2", "queue_time_p95_s:workload_class=small training<=1h")
HEADS = ("", "load", "range", "to best", "SM-active", "allocated", "goodput", "USD")


def options():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n", 1)[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--rows", default="", help="parts of their names, by commas; all by default")
    parser.add_argument("--mixes", default=",".join(MIXES), help="by commas")
    parser.add_argument("--seeds", default="1,2,3,4,5", help="by commas, at most 10")
    parser.add_argument("--range", default="0.1..2.5/0.02", help="of the load")
    parser.add_argument("--start", default="0.8", help="the load that is tried first")
    parser.add_argument("--set", action="append", default=[], dest="sets", metavar="PATH=VALUE", help="for all rows")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="plans at the same time")
    parser.add_argument("--keep", metavar="FILE", help="keep answers there, and go on from what it holds; of one version")
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    wanted = [part for part in args.rows.split(",") if part]
    args.rows = [name for name in ROWS if not wanted or any(part in name for part in wanted)]
    args.mixes = args.mixes.split(",")
    args.seeds = args.seeds.split(",")
    if not args.rows:
        parser.error(f"no such rows; there are {'; '.join(ROWS)}")
    if unknown := [name for name in args.mixes if name not in MIXES]:
        parser.error(f"no mix '{unknown[0]}'; there are {', '.join(MIXES)}")
    if len(args.seeds) > max(T) + 1:
        parser.error(f"at most {max(T) + 1} seeds")
    return args


class Kept:
    """Answers by mix, row and seed, in a file if one is named: a stopped command goes on where it was."""

    def __init__(self, path):
        self.path = pathlib.Path(path) if path else None
        self.lock = threading.Lock()
        self.points = {}
        if self.path and self.path.exists():
            self.points = {tuple(key): point for key, point in json.loads(self.path.read_text())}

    def add(self, key, point):
        with self.lock:
            self.points[key] = point
            if self.path:
                fresh = self.path.with_suffix(".new")
                fresh.write_text(json.dumps(list(self.points.items())))
                fresh.replace(self.path)


def plan(args, mix, row, seed):
    """The point of the largest load, as `windtunnel plan --json` has it; None: no load meets the levels."""
    policy, sets = ROWS[row]
    words = [os.environ.get("WINDTUNNEL", "windtunnel"), "plan", MIXES[mix], "--policy", policy, "--json", "--quiet"]
    words += ["--set", f"{LOAD}={args.start}", "--largest", f"{LOAD}={args.range}", "--seeds", "1", "--seed", seed, "--jobs", "1"]
    for level in LEVELS:
        words += ["--level", level]
    for one in (*sets, *args.sets):
        words += ["--set", one]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 10, 11):  # 11: one seed is never sure
        raise SystemExit(f"{row}, {mix}, seed {seed}: {done.stderr or done.stdout}")
    answer = json.loads(done.stdout)["cases"][0]
    point = next((p for p in answer["points"] if p["number"] == answer["answer"]), None)
    print(f"{mix}, {row}, seed {seed}: {answer['answer']} ({answer['runs']} runs)", file=sys.stderr, flush=True)
    return point


def usd(point):
    return point["usd_per_h"] / (point["gpus"] * point["useful_ratio"])


def to_best(points, row, mix, args):
    """Of each seed the row's load over the best other's; then their mean and its interval."""
    others = [name for name in OTHERS if name in args.rows and name != row]
    if not others or any(points[mix, name, seed] is None for name in (row, *others) for seed in args.seeds):
        return None
    ratios = [
        points[mix, row, seed]["number"] / max(points[mix, name, seed]["number"] for name in others)
        for seed in args.seeds
    ]
    mean = statistics.mean(ratios)
    half = half_width(ratios)
    return mean, mean - half, mean + half


def cells(points, mix, row, args):
    own = [points[mix, row, seed] for seed in args.seeds]
    if any(point is None for point in own):
        return [row, "at no load", *("" for _ in HEADS[2:])]
    loads = [point["number"] for point in own]
    best = to_best(points, row, mix, args)

    def mean(key):
        return statistics.mean(point[key] for point in own)

    return [
        row,
        f"{statistics.mean(loads):.2f}",
        f"{min(loads):.2f} to {max(loads):.2f}",
        f"{best[0]:.2f} ({best[1]:.2f} to {best[2]:.2f})" if best else "",
        f"{100 * mean('sm_active_ratio'):.1f} %",
        f"{100 * mean('allocation_ratio'):.1f} %",
        f"{100 * mean('goodput_ratio'):.1f} %",
        f"{statistics.mean(usd(point) for point in own):.2f}",
    ]


def show(title, rows, is_markdown):
    table = [list(HEADS), *rows]
    if is_markdown:
        table.insert(1, ["---", *("---:" for _ in HEADS[1:])])
        print(f"\n{title}\n")
        for row in table:
            print("| " + " | ".join(row) + " |")
        return
    widths = [max(len(row[c]) for row in table) for c in range(len(HEADS))]
    print(f"\n{title}")
    for row in table:
        print("  ".join(cell.ljust(w) if c == 0 else cell.rjust(w) for c, (cell, w) in enumerate(zip(row, widths))))


def main():
    args = options()
    keys = [(mix, row, seed) for mix in args.mixes for seed in args.seeds for row in args.rows]
    kept = Kept(args.keep)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for _ in pool.map(lambda key: key in kept.points or kept.add(key, plan(args, *key)), keys):
            pass
    points = kept.points
    for mix in args.mixes:
        rows = [cells(points, mix, row, args) for row in args.rows]
        show(f"Mix {mix} ({MIXES[mix]}), seeds {', '.join(args.seeds)}", rows, args.markdown)
    return 0
