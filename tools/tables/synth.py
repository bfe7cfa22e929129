"""A trace and what is drawn from its model: waits under fifo and under easy with perfect estimates, over seeds.

    tools/table synth philly_jobs.csv.zst
    tools/table synth philly_jobs.csv.zst --load 0.9 --seeds 20 --cluster topologies/philly-352.json --markdown
    tools/table synth philly_jobs.csv.zst --fit=--run-days=7     an option of `windtunnel trace fit`

The model is that of `windtunnel trace fit`; as many jobs as the trace has are drawn with each seed by `windtunnel trace
synth`.  Each trace is scaled to the load by its own work.  The columns, of the original and of the drawn traces (the least,
the median, the largest over the seeds):

    mean, p50, p95   queue time of all jobs until the first start, in hours
    slowdown         mean bounded slowdown
    allocated        GPUs given to jobs until the last job came

Two more rows tell what moves the waits, each as the range over the first three seeds: the original's jobs in their order, at the times
of the drawn ones; and in random order, at their own times.

Exit status: 0 if all runs were complete, else 2.
"""
import argparse
import csv
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

COLUMNS = (("mean", "queue_time_mean_s", 3600), ("p50", "queue_time_p50_s", 3600), ("p95", "queue_time_p95_s", 3600),
           ("slowdown", "slowdown_bounded_completed_mean", 1), ("allocated", "allocation_ratio", 0.01))
PERFECT = {"estimates": {"kind": "perfect"}}
POLICIES = (("fifo", {"preset": "fifo"}, {}), ("easy, perfect estimates", {"preset": "easy", "set": {"estimate": "declared"}}, PERFECT))
MIXES = ("original, at drawn times", "original, in random order")
MIX_SEEDS = 3


def program():
    return os.environ.get("WINDTUNNEL", "windtunnel")


def command(*words):
    done = subprocess.run([program(), *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout


def run(folder, args, trace, form, policy, world):
    workload = {"trace": str(pathlib.Path(trace).resolve()), "load": args.load}
    if form:
        workload["format"] = form
    scenario = folder / "scenario.json"
    scenario.write_text(json.dumps({"cluster": str(pathlib.Path(args.cluster).resolve()), "workload": workload, "policy": policy,
                                    "world": world, "seed": 1}))
    command("run", scenario, "--quiet", "--out", folder / "record")
    metrics = json.loads((folder / "record" / "result.json").read_text())["metrics"]
    return {name: metrics[metric]["value"] / unit for name, metric, unit in COLUMNS}


def read_rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return sorted(csv.DictReader(file), key=lambda row: float(row["submit_s"]))


def write_mixed(path, times, jobs):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=jobs[0].keys())
        writer.writeheader()
        writer.writerows({**job, "submit_s": row["submit_s"], "job_id": i} for i, (row, job) in enumerate(zip(times, jobs)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    parser.add_argument("--format")
    parser.add_argument("--cluster", default="topologies/philly-352.json")
    parser.add_argument("--load", type=float, default=0.9)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--fit", action="append", default=[], help="an option of `windtunnel trace fit`")
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        form = ["--format", args.format] if args.format else []
        command("trace", "fit", args.trace, *form, *args.fit, "-o", folder / "model.json")
        alike = json.loads(command("trace", "compare", args.trace, args.trace, *form, "--json"))
        rows = {label: [] for label, _, _ in POLICIES}
        mixed = {(label, what): [] for label, _, _ in POLICIES for what in MIXES}
        command("trace", "convert", args.trace, *form, "--out", folder / "original.csv")
        original_rows = read_rows(folder / "original.csv")
        for seed in range(1, args.seeds + 1):
            drawn = folder / "drawn.csv"
            command("trace", "synth", folder / "model.json", "--jobs", int(alike["trace"]["jobs"][0]), "--seed", seed, "-o", drawn)
            for label, policy, world in POLICIES:
                rows[label].append(run(folder, args, drawn, "native", policy, world))
            for what in MIXES if seed <= MIX_SEEDS else ():
                jobs = list(original_rows)
                if what == MIXES[1]:
                    random.Random(seed).shuffle(jobs)
                write_mixed(folder / "mixed.csv", read_rows(drawn) if what == MIXES[0] else original_rows, jobs)
                for label, policy, world in POLICIES:
                    mixed[label, what].append(run(folder, args, folder / "mixed.csv", "native", policy, world))
        head = ["policy", "jobs"] + [name for name, _, _ in COLUMNS]
        lines = []
        for label, policy, world in POLICIES:
            original = run(folder, args, args.trace, args.format, policy, world)
            lines.append([label, "original"] + [f"{original[name]:.3g}" for name, _, _ in COLUMNS])
            for word, of in (("least", min), ("median", statistics.median), ("largest", max)):
                lines.append([label, f"drawn, {word} of {args.seeds}"]
                             + [f"{of([row[name] for row in rows[label]]):.3g}" for name, _, _ in COLUMNS])
            for what in MIXES:
                both = [[of(row[name] for row in mixed[label, what]) for name, _, _ in COLUMNS] for of in (min, max)]
                lines.append([label, what] + [f"{low:.3g} to {high:.3g}" for low, high in zip(*both)])
    show(head, lines, args.markdown)


def show(head, lines, is_markdown):
    if is_markdown:
        print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
        for line in lines:
            print("| " + " | ".join(line) + " |")
        return
    widths = [max(len(row[i]) for row in [head] + lines) for i in range(len(head))]
    for row in [head] + lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
