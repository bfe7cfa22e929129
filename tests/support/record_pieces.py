#!/usr/bin/env python3
"""What jobs do on pieces of GPUs, from the rows of records alone.

    tests/support/record_pieces.py WINDTUNNEL WORLDS SEED

Makes random worlds of one GPU, runs them, and holds their records against the law of docs/activity.md, written again
here: the compute of what a closed job did is that of its work; what an open job served and did not is what it was asked
for; nothing is busier than it has SMs; a kernel is on a GPU for as long as that of some job is; and the steps from all
GPU time down to SM activity are at least 0, add up to all of it, and follow from the timeline's rows at both ends of the
measured window.  Prints what differs; exit status 1 if anything does.
"""
import csv
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile

SMS, SLICES = 132, 8
INSTANCES = {"1g.10gb": (16, 1), "2g.20gb": (32, 2), "3g.40gb": (60, 4)}
LATENCY = {"training": (0.26, 0), "interactive": (0, 1.81), "inference": (0, 1.81)}  # of a unit; for each of compute
OVERLAP = {"training": 0, "interactive": 1, "inference": 1}


def unit(job, sms, bandwidth):
    """Seconds that a unit takes there: all, on the device, at the host."""
    compute, traffic, kind = job["sm_active"], job["memory_bandwidth"], job["class"]
    kernel, overlap = max(compute, traffic), OVERLAP[kind]
    latency = LATENCY[kind][0] + LATENCY[kind][1] * kernel
    whole = (1 - overlap) * (latency + kernel) + overlap * max(latency, kernel)
    if whole > 1:
        latency, whole = 1 - kernel, 1
    here = max(compute / sms, traffic / bandwidth)
    device = (1 - overlap) * (latency + here) + overlap * max(latency, here)
    return (1 - whole + device, device, 1 - whole) if kind == "training" else (max(1, device), device, 0)


def alone(job, sms, bandwidth):
    return unit(job, sms, bandwidth)[0]


def asked_of(job):
    if "mig_profile" in job:
        sms, slices = INSTANCES[job["mig_profile"]]
        return sms / SMS, slices / SLICES
    part = job.get("gpu_fraction", 1)
    return part, part


def world(draw):
    is_cut = draw.random() < 0.3
    sharing = draw.choice(["as_asked", "mig"] if is_cut else ["as_asked", "mps", "timeslice", "whole", "trust"])
    pool = {"nodes": 1, "gpus_per_node": 1, "gpu_model": "h100-80gb"}
    if is_cut:
        pool["gpus_layout"] = [list(INSTANCES)]
    jobs = []
    for number in range(draw.randint(1, 12)):
        job = {"job_id": number, "submit_s": draw.randint(0, 1000), "duration_s": draw.randint(1, 2000),
               "gpus": 1, "class": draw.choice(list(LATENCY)), "sm_active": draw.randint(0, 1000) / 1000,
               "memory_bandwidth": draw.choice([0, draw.randint(0, 1000) / 1000])}
        if is_cut and (sharing == "as_asked" or draw.random() < 0.5):
            job["mig_profile"] = draw.choice(list(INSTANCES))
        elif draw.random() < 0.7 or is_cut:
            job["gpu_fraction"] = draw.randint(50, 400) / 1000
        jobs.append(job)
    jobs.sort(key=lambda job: job["submit_s"])
    scenario = {"cluster": {"pools": [pool]}, "policy": {"blocking": "skip", "sharing": sharing},
                "workload": {"trace": "jobs.jsonl", "format": "jsonl"}, "world": {"sample_s": 300, "end": "100000s"}}
    return scenario, jobs


def rows_of(path):
    text = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout.decode()
    return list(csv.DictReader(io.StringIO(text)))


def check_job(job, row, sharing, say):
    held, run = float(row["held_gpu_s"]), float(row["run_s"])
    if row["state"] != "completed" or held == 0:
        return
    active, slack = float(row["sm_active_ratio"]) * held, 0.00051 * held + 1e-5
    if job["class"] == "training":
        done = job["sm_active"] * float(row["work_s"]) / alone(job, *asked_of(job))
        if row["unserved_gpu_s"]:
            say(f"unserved {row['unserved_gpu_s']} of training")
    else:
        done = job["sm_active"] * run - float(row["unserved_gpu_s"] or 0)
        if abs(run - job["duration_s"]) > 1e-6:
            say(f"runs for {run}, not {job['duration_s']}")
    is_full = float(row["sm_active_ratio"]) == 1  # a share may use more SMs than it holds
    if done > active + slack if is_full else abs(done - active) > slack:
        if not (is_full and sharing not in ("as_asked", "mig", "whole")):
            say(f"{active} SM s active, {done} done")
    if sharing == "whole" and row["unserved_gpu_s"]:
        say(f"unserved {row['unserved_gpu_s']} on a whole GPU")
    if sharing == "as_asked" and active / run > asked_of(job)[0] + slack / run:
        say(f"{active / run} of a piece of {asked_of(job)[0]}")


def check_kernels(jobs, attempts, last, scenario, say):
    """GPU time with a kernel, and training's without one; jobs that share a GPU are independent."""
    sharing = scenario["policy"]["sharing"]
    changes, host, total = [], 0, 0
    for row in attempts:
        job = jobs[int(row["job_id"])]
        start, end = float(row["start_s"]), float(row["end_s"])
        is_throttled = job["class"] == "training"  # to what it asks for, on more
        time, device, idle = unit(job, *((1, 1) if sharing == "whole" and not is_throttled else asked_of(job)))
        held = float(row["gpus"]) * (end - start)
        host += held * idle / time
        total += end - start
        changes += [(start, 1, min(1, device / time)), (end, 0, min(1, device / time))]
    there, before, running = 0, 0, []
    for now, comes, kernel in sorted(changes):
        none = 1
        for one in running:
            none *= 1 - one
        there += (now - before) * (1 - none)
        running.append(kernel) if comes else running.remove(kernel)
        before = now
    kernels, hosts = float(last["use_kernel_gpu_s"]), float(last["use_host_gpu_s"])
    slack = 2e-3 * before + 1e-5  # levels are whole thousandths of a thousandth of a GPU
    if sharing in ("as_asked", "whole"):
        if abs(kernels - there) > slack:
            say(f"a kernel is there for {kernels} s, not {there}")
        if abs(hosts - host) > slack:
            say(f"{hosts} GPU s at the host, not {host}")
    if kernels > min(total, before) + slack:
        say(f"a kernel is there for {kernels} s, jobs for {total}, of {before}")
    if kernels < float(last["active_gpu_s"]) - slack:
        say(f"a kernel is there for {kernels} s, SMs are busy for {last['active_gpu_s']}")


def waterfall(row):
    """From the integrals of a row: all GPU time, and its steps."""
    spent = {name[6:-6]: float(row[name]) for name in row if name.startswith("spent_")}
    use = {name[4:-6]: float(row[name]) for name in row if name.startswith("use_")}
    active = float(row["active_gpu_s"])
    lost = min(use["active_lost"], active)
    held = sum(spent[cause] for cause in ("useful", "communication", "neighbours", "sliced", "lost", "idle_held"))
    unused = held - use["uncovered"] - use["host"] - use["network"] - use["unknown"] - active
    steps = {"unasked": spent["idle"] - use["waited"], "waiting": use["waited"], "reserved": spent["reserved"],
             "down": spent["down"], "cut": spent["repartition"] + use["uncovered"], "start": spent["restart"],
             "unused": unused, "host": use["host"], "network": use["network"], "unknown": use["unknown"],
             "lost": lost, "active": active - lost}
    lacking = -sum(min(0, step) for step in steps.values())
    for name in ("unused", "unasked", "waiting", "reserved", "cut", "start", "host", "network", "unknown", "down", "lost", "active"):
        steps[name] = max(0, steps[name])
        given = min(lacking, steps[name])
        steps[name] -= given
        lacking -= given
    return sum(spent.values()) - spent["absent"], steps


def integrals_at(timeline, time_s):
    """The integrals of the timeline at a time, linear between its rows; after the last row those of that row."""
    names = [name for name in timeline[0] if name.startswith(("spent_", "use_")) or name == "active_gpu_s"]
    before = {name: 0.0 for name in names + ["time_s"]}
    for row in timeline:
        here = {name: float(row[name]) for name in names + ["time_s"]}
        if here["time_s"] > time_s:
            share = (time_s - before["time_s"]) / (here["time_s"] - before["time_s"])
            return {name: before[name] + share * (here[name] - before[name]) for name in names}
        before = here
    return before


def check_waterfall(result, timeline, say):
    metrics, facts = result["metrics"], result["facts"]
    start, end = (integrals_at(timeline, facts[name]) for name in ("warmup_s", "measured_until_s"))
    window = {name: end[name] - start[name] for name in end if name != "time_s"}
    total, steps = waterfall(window)
    told = {name: metrics[f"waterfall_{name}_ratio"]["value"] for name in steps}
    if abs(sum(told.values()) - 1) > 1e-9 or min(told.values()) < 0:
        say(f"the steps {told} add up to {sum(told.values())}")
    for name, step in steps.items():
        if abs(told[name] - step / total) > 1e-6:
            say(f"step {name} is {told[name]}, not {step / total}")
    for name, amount in (("sm_active", "active_gpu_s"), ("gpu_util", "use_kernel_gpu_s")):
        if abs(metrics[f"{name}_ratio"]["value"] - window[amount] / total) > 1e-6:
            say(f"{name}_ratio is {metrics[f'{name}_ratio']['value']}, not {window[amount] / total}")


def check(program, draw, folder):
    wrong = []
    scenario, jobs = world(draw)
    (folder / "world.json").write_text(json.dumps(scenario))
    (folder / "jobs.jsonl").write_text("".join(json.dumps(job) + "\n" for job in jobs))
    subprocess.run([program, "run", "world.json", "--quiet", "--out", "record"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    for row in rows_of(folder / "record/jobs.csv.zst"):
        number = int(row["name"])
        job = next(job for job in jobs if job["job_id"] == number)
        check_job(job, row, scenario["policy"]["sharing"], lambda text: wrong.append(f"job {number}: {text}"))
    before = (0.0, 0.0)
    timeline = rows_of(folder / "record/timeline.csv.zst")
    by_id = {int(row["job_id"]): next(job for job in jobs if job["job_id"] == int(row["name"]))
             for row in rows_of(folder / "record/jobs.csv.zst")}
    check_kernels(by_id, rows_of(folder / "record/attempts.csv.zst"), timeline[-1], scenario, wrong.append)
    check_waterfall(json.loads((folder / "record/result.json").read_text()), timeline, wrong.append)
    for row in timeline:
        now = float(row["time_s"]), float(row["active_gpu_s"])
        if now[1] - before[1] > (now[0] - before[0]) * 1.0005 + 1e-6:
            wrong.append(f"{now[1] - before[1]} SM s in {now[0] - before[0]} s")
        before = now
    return wrong


def main():
    program, worlds, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        for number in range(worlds):
            wrong = check(program, random.Random(f"{seed}.{number}"), pathlib.Path(folder))
            if wrong:
                print(f"world {number}:", *wrong, sep="\n")
                for name in ("world.json", "jobs.jsonl"):
                    print((pathlib.Path(folder) / name).read_text())
                return 1
    print(f"{worlds} worlds")
    return 0


sys.exit(main())
