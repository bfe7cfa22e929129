#!/usr/bin/env python3
"""Read a record as anybody would, and compare what its files say with result.json.

    tests/support/record_means.py FOLDER

Every number is read from the CSV files as it stands; an empty field is no number, as pandas and DuckDB read it.  Prints
what differs; exit status 1 if anything does.
"""
import csv
import io
import json
import math
import subprocess
import sys

FILLED = {  # of every row
    "jobs": "submit_s job_id name run_s work_s work_asked_s held_gpu_s gpus queue class priority members gpu_model "
            "state is_counted evictions lost_gpu_s overhead_gpu_s resizes preempted_gpu_s evictions_wasted",
    "attempts": "job_id start_s saved_s placement gpus why attempt lost_s is_partial end_s",
    "timeline": "time_s pending_jobs running_jobs pending_gpus allocated_gpus active_gpus reserved_gpus down_gpus submitted "
                "started ended evicted rejected allocated_gpu_s active_gpu_s reserved_gpu_s down_gpu_s pending_job_s "
                "running_job_s partial_gang_gpu_s idle_held_gpu_s idle_held_gpus",
}
FAULTS = ("killed_by_memory", "killed_by_runaway", "killed_by_fatal", "neighbour_gpu_s", "blast_gpus")
IDLE = ("idle_shrunk", "idle_evicted", "idle_disturbed", "given_back_gpu_s")
LOST = {  # column: metric
    "lost_write_gpu_s": "lost_to_write_gpu_h",
    "lost_leave_gpu_s": "lost_to_leave_gpu_h",
    "lost_load_gpu_s": "lost_to_load_gpu_h",
    "lost_warmup_gpu_s": "lost_to_warmup_gpu_h",
    "lost_pull_gpu_s": "lost_to_pull_gpu_h",
    "lost_work_preempted_gpu_s": "lost_work_preempted_gpu_h",
    "lost_work_node_gpu_s": "lost_work_node_gpu_h",
    "lost_work_neighbour_gpu_s": "lost_work_neighbour_gpu_h",
    "lost_work_other_gpu_s": "lost_work_other_gpu_h",
}
PULLED = ("pulled_registry_gb", "pulled_rack_gb", "pulled_local_gb")
wrong = []


def read(folder, name):
    text = subprocess.run(["zstd", "-dcq", f"{folder}/{name}.csv.zst"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def numbers(rows, column):
    return [float(row[column]) for row in rows if row[column] != ""]


def mean(values):
    return sum(values) / len(values) if values else None


def rank(values, percent):
    """Nearest rank."""
    ordered = sorted(values)
    return ordered[max(0, -(-percent * len(ordered) // 100) - 1)] if ordered else None


def total(rows, *columns):
    return sum(math.prod(float(row[column]) for column in columns) for row in rows)


def same(what, told, found):
    if told is None and found is None:
        return
    if told is None or found is None or not math.isclose(told, found, rel_tol=1e-6, abs_tol=1e-6):
        wrong.append(f"{what}: result.json says {told}, the files say {found}")


def filled_where(rows, column, is_there, what):
    for row in rows:
        if (row[column] != "") != is_there(row):
            wrong.append(f"{column} of job {row['job_id']} is {row[column]!r}: it is filled {what}")
            return


def check_fields(jobs, attempts, timeline):
    for name, rows in (("jobs", jobs), ("attempts", attempts), ("timeline", timeline)):
        for column in FILLED[name].split():
            empty = sum(row[column] == "" for row in rows)
            if empty:
                wrong.append(f"{name}: {empty} rows of {len(rows)} have no {column}")
    filled_where(jobs, "end_s", lambda row: row["state"] not in ("pending", "running"), "when it has ended")
    filled_where(jobs, "wait_s", lambda row: row["state"] != "rejected", "unless it was rejected")
    filled_where(jobs, "wait_total_s", lambda row: row["state"] != "rejected", "unless it was rejected")
    for column in ("exposed_gpu_s", "slowed_gpu_s", "network_gpu_s", "planned_gpu_s"):
        filled_where(jobs, column, lambda row: row["communication"] != "", "when it declares communication")
    for column, time in (("network_gb_per_s", "network_gpu_s"), ("mfu_ratio", "planned_gpu_s")):
        filled_where(jobs, column, lambda row: row[time] not in ("", "0"), f"when {time} is above 0")
    for column in ("active_gpu_s", "idle_held_gpu_s"):
        filled_where(jobs, column, lambda row: row["activity"] != "", "when the workload declares its activity")
    for column in FAULTS:
        filled_where(jobs, column, lambda row: row["faults"] != "", "when the world has faults")
    for column in IDLE:
        filled_where(jobs, column, lambda row: row["idle_told"] != "", "when the world has a monitor")
    charged = any(row["lost_write_gpu_s"] != "" for row in jobs)
    for column in LOST:
        filled_where(jobs, column, lambda row: charged, "if checkpoints are charged or jobs start cold")
    cold = any(row["pulled_rack_gb"] != "" for row in jobs)
    for column in PULLED:
        filled_where(jobs, column, lambda row: cold, "if the world has cold starts")
    for row in jobs if charged else []:
        parts = [float(row[column]) for column in LOST]
        same(f"causes of {row['job_id']}", float(row["lost_gpu_s"]), sum(parts))
        same(f"overhead of {row['job_id']}", float(row["overhead_gpu_s"]), sum(parts[:5]))
    filled_where(jobs, "source", lambda row: row["start_s"] != "", "when it started")
    for row in jobs:
        if row["wait_by_reason_s"] and row["wait_total_s"]:
            parts = sum(float(part.split(":")[1]) for part in row["wait_by_reason_s"].split(";"))
            same(f"wait_by_reason_s of {row['job_id']}", float(row["wait_total_s"]), parts)


def check_jobs(jobs, attempts):
    """What the rows of attempts say of a job is what its own row says."""
    run, saved = {}, {}
    for row in attempts:
        span = float(row["end_s"]) - float(row["start_s"])
        if row["is_partial"] == "0":
            run[row["job_id"]] = run.get(row["job_id"], 0) + span
        saved[row["job_id"]] = saved.get(row["job_id"], 0) + float(row["saved_s"])
    for job in jobs:
        same(f"run_s of {job['job_id']}", float(job["run_s"]), run.get(job["job_id"], 0))
        same(f"work_s of {job['job_id']}", float(job["work_s"]), saved.get(job["job_id"], 0))


def check_group(what, metrics, jobs):
    """A set of counted jobs against its metrics."""
    def value(name):
        return metrics[name]["value"] if name in metrics else None

    here = [job for job in jobs if job["state"] != "rejected"]
    waits = numbers(jobs, "wait_s")
    same(f"{what} jobs_submitted", value("jobs_submitted"), len(jobs))
    same(f"{what} queue_time_mean_s", value("queue_time_mean_s"), mean(waits))
    same(f"{what} queue_time_max_s", value("queue_time_max_s"), max(waits, default=None))
    for percent in (50, 95, 99):
        same(f"{what} queue_time_p{percent}_s", value(f"queue_time_p{percent}_s"), rank(waits, percent))
    same(f"{what} asked_gpu_h", value("asked_gpu_h"), total(here, "gpus", "work_asked_s") / 3600)
    allocated = total(here, "held_gpu_s") / 3600
    same(f"{what} allocated_gpu_h", value("allocated_gpu_h"), allocated)
    lively = [job for job in here if job["activity"] != ""]
    for metric in ("active_gpu_h", "idle_held_gpu_h"):
        same(f"{what} {metric}", value(metric), total(lively, metric[:-1] + "s") / 3600 if lively else None)
    talks = [job for job in here if job["communication"] != ""]
    for metric, column in (("communication_gpu_h", "exposed_gpu_s"), ("slowed_gpu_h", "slowed_gpu_s")):
        same(f"{what} {metric}", value(metric), total(talks, column) / 3600 if talks else None)
    exposed, held = total(talks, "exposed_gpu_s"), total(talks, "held_gpu_s")
    same(f"{what} communication_ratio", value("communication_ratio"), exposed / held if held > 0 else None)
    same(f"{what} slowed_ratio", value("slowed_ratio"), total(talks, "slowed_gpu_s") / held if held > 0 else None)
    slowdowns = []
    for job in talks:
        worked = float(job["held_gpu_s"]) - float(job["overhead_gpu_s"])
        if float(job["gpus"]) > 1 and worked > float(job["slowed_gpu_s"]):
            slowdowns.append(worked / (worked - float(job["slowed_gpu_s"])))
    same(f"{what} communication_slowdown_mean", value("communication_slowdown_mean"), mean(slowdowns))
    same(f"{what} communication_slowdown_p95", value("communication_slowdown_p95"), rank(slowdowns, 95))
    for metric, column, weight in (("network_gb_per_s_mean", "network_gb_per_s", "network_gpu_s"),
                                   ("mfu_ratio", "mfu_ratio", "planned_gpu_s")):
        known = [job for job in talks if job[column] != ""]
        told = total(known, column, weight) / total(known, weight) if known else None
        same(f"{what} {metric}", value(metric), told)
    same(f"{what} lost_gpu_h", value("lost_gpu_h"), total(here, "lost_gpu_s") / 3600)
    same(f"{what} lost_by_preemption_gpu_h", value("lost_by_preemption_gpu_h"), total(here, "preempted_gpu_s") / 3600)
    struck = [job for job in here if job["faults"] != ""]
    for metric, column in (("faults", "faults"), ("killed_by_neighbour_out_of_memory", "killed_by_memory"),
                           ("killed_by_neighbour_runaway", "killed_by_runaway"),
                           ("killed_by_neighbour_fatal", "killed_by_fatal")):
        same(f"{what} {metric}", value(metric), total(struck, column) if struck else None)
    same(f"{what} lost_by_neighbour_gpu_h", value("lost_by_neighbour_gpu_h"),
         total(struck, "neighbour_gpu_s") / 3600 if struck else None)
    same(f"{what} blast_radius_gpus_max", value("blast_radius_gpus_max"), max(numbers(struck, "blast_gpus"), default=None))
    measured = [job for job in here if job["idle_told"] != ""]
    same(f"{what} idle_jobs_told", value("idle_jobs_told"),
         sum(job["idle_told"] != "0" for job in measured) if measured else None)
    for metric, column in (("idle_shrinks", "idle_shrunk"), ("idle_evictions", "idle_evicted"),
                           ("idle_disturbed", "idle_disturbed")):
        same(f"{what} {metric}", value(metric), total(measured, column) if measured else None)
    same(f"{what} given_back_gpu_h", value("given_back_gpu_h"),
         total(measured, "given_back_gpu_s") / 3600 if measured else None)
    cold = [job for job in here if job["pulled_rack_gb"] != ""]
    registry, rack, local = (total(cold, column) for column in PULLED)
    starts = [float(job["ready_s"]) - float(job["start_s"]) for job in cold if job["ready_s"] != ""]
    for percent in (50, 99):
        same(f"{what} cold_start_p{percent}_s", value(f"cold_start_p{percent}_s"), rank(starts, percent))
    if cold and all(job["ready_s"] != "" for job in cold):
        ready = [float(job["ready_s"]) - float(job["submit_s"]) for job in cold]
        same(f"{what} ready_p99_s", value("ready_p99_s"), rank(ready, 99))
    same(f"{what} cold_start_mean_s", value("cold_start_mean_s"), mean(starts))
    same(f"{what} pulled_registry_tb", value("pulled_registry_tb"), registry / 1000 if cold else None)
    same(f"{what} pulled_rack_tb", value("pulled_rack_tb"), rack / 1000 if cold else None)
    same(f"{what} node_cache_hit_ratio", value("node_cache_hit_ratio"),
         local / (registry + rack + local) if registry + rack + local > 0 else None)
    same(f"{what} rack_cache_hit_ratio", value("rack_cache_hit_ratio"),
         rack / (registry + rack) if registry + rack > 0 else None)
    charged = [job for job in here if job["lost_write_gpu_s"] != ""]
    for column, metric in LOST.items():
        same(f"{what} {metric}", value(metric), total(charged, column) / 3600 if charged else None)
    same(f"{what} preemptions", value("preemptions"), total(here, "evictions"))
    same(f"{what} evictions_wasted", value("evictions_wasted"), total(here, "evictions_wasted"))
    for state in ("completed", "failed", "cancelled", "limit", "rejected", "pending", "running"):
        same(f"{what} jobs_{state}", value(f"jobs_{state}"), sum(job["state"] == state for job in jobs))
    same(f"{what} jobs_accepted", value("jobs_accepted"), len(here))
    same(f"{what} rejected_ratio", value("rejected_ratio"), 1 - len(here) / len(jobs) if jobs else None)
    over = [job for job in here if job["state"] == "limit"]
    same(f"{what} limit_gpu_h", value("limit_gpu_h"), total(over, "held_gpu_s") / 3600)
    kept = (total(here, "gpus", "work_s") - total(over, "gpus", "work_s")) / 3600
    same(f"{what} goodput_ratio", value("goodput_ratio"), kept / allocated if allocated > 0 else None)
    done = [job for job in here if job["start_s"] != "" and job["end_s"] != ""]
    slow = [max(1, (float(job["wait_total_s"]) + float(job["run_s"])) / max(float(job["work_s"]), 10)) for job in done]
    same(f"{what} slowdown_bounded_mean", value("slowdown_bounded_mean"), mean(slow))
    same(f"{what} slowdown_bounded_completed_mean", value("slowdown_bounded_completed_mean"),
         mean([one for one, job in zip(slow, done) if job["state"] == "completed"]))
    due = [job for job in here if job["deadline_s"] != ""]
    late = [max(0, (float(job["end_s"]) if job["end_s"] != "" else
                    float(job["submit_s"]) + float(job["wait_total_s"]) + float(job["run_s"])) -
                float(job["deadline_s"])) for job in due]
    same(f"{what} deadlines_missed", value("deadlines_missed"), sum(one > 0 for one in late) if due else None)
    same(f"{what} tardiness_mean_s", value("tardiness_mean_s"), mean(late))


def tenants_of(parents):
    """The tenant of each queue, by the paths from the top: where they part, there are the tenants."""
    paths = {}
    for queue, parent in parents.items():
        paths[queue] = (paths[parent] if parent is not None else []) + [queue]
    leaves = [paths[queue] for queue in parents if queue not in parents.values()]
    level = 0
    while len({path[level] for path in leaves}) == 1 and all(len(path) > level + 1 for path in leaves):
        level += 1
    return {queue: path[min(level, len(path) - 1)] for queue, path in paths.items()}


def main(folder):
    result = json.load(open(f"{folder}/result.json"))
    jobs, attempts, timeline = (read(folder, name) for name in ("jobs", "attempts", "timeline"))
    check_fields(jobs, attempts, timeline)
    check_jobs(jobs, attempts)
    counted = [job for job in jobs if job["is_counted"] == "1"]
    check_group("all:", result["metrics"], counted)
    tenants = tenants_of(result["facts"]["queues"])
    for job in counted:
        job["tenant"] = tenants[job["queue"]]
    for column in ("jobs_submitted", "asked_gpu_h", "allocated_gpu_h"):
        parts = sum(group[column]["value"] for group in result["by"]["tenant"].values())
        same(f"the sum of {column} over the tenants", parts, result["metrics"][column]["value"])
    for cut, column in (("class", "class"), ("tenant", "tenant"), ("queue", "queue"), ("gpu_model", "gpu_model")):
        by_key = {}
        for job in counted:
            by_key.setdefault(job[column], []).append(job)
        if set(by_key) != set(result["by"][cut]):
            wrong.append(f"by {cut}: other keys, {sorted(by_key)} and {sorted(result['by'][cut])}")
        for key, group in by_key.items():
            check_group(f"{cut} {key}:", result["by"][cut].get(key, {}), group)
    for line in wrong[:20]:
        print(line)
    print(f"{len(jobs)} jobs, {len(attempts)} attempts, {len(timeline)} samples: {len(wrong)} differences")
    return 1 if wrong else 0


sys.exit(main(sys.argv[1]))
