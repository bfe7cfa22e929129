#!/usr/bin/env python3
"""Check a trace of `windtunnel export --to perfetto` against the attempts of the same record.

    trace_nests.py TRACE.json FOLDER      (of `windtunnel export --to csv`)

On each track slices must lie beside or inside each other; whole GPUs are alone on theirs, so nothing overlaps there.
The attempts that the trace shows, their slices and the GPU time must be those of the attempts.  Times are compared as
decimals, exactly.  Prints one line of counts; exit status 1 and a line per broken rule otherwise.
"""
import collections
import csv
import decimal
import json
import re
import sys

broken = []


def check(is_right, rule):
    if not is_right:
        broken.append(rule)


def gpus_of(mask):
    return sum(int(part.split("-")[-1]) - int(part.split("-")[0]) + 1 for part in mask.split(","))


def pieces_of(placement):
    """(nodes, GPUs of each, share) of each run of a placement."""
    for token in placement.split(" "):
        found = re.fullmatch(r"(.*?)(?:\[(\d+)-(\d+)\])?(?::([\d,-]+))?(?:@(\d+))?", token)
        nodes = int(found[3]) - int(found[2]) + 1 if found[2] else 1
        yield nodes, gpus_of(found[4]) if found[4] else 0, int(found[5] or 1000)


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def main(trace_path, folder):
    with open(trace_path, encoding="utf-8") as file:
        events = json.load(file, parse_float=decimal.Decimal, parse_int=decimal.Decimal)["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    named = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}
    tracks = collections.defaultdict(list)
    for event in slices:
        tracks[event["pid"], event["tid"]].append(event)
    for track, on_it in tracks.items():
        check(track in named, f"track {track} has no name")
        on_it.sort(key=lambda event: (event["ts"], -event["dur"]))
        open_until = []
        for event in on_it:
            while open_until and open_until[-1] <= event["ts"]:
                open_until.pop()
            check(not open_until or event["ts"] + event["dur"] <= open_until[-1],
                  f"track {track}: slices cross at {event['ts']} us")
            check(not open_until or event["dur"] == 0, f"track {track}: slices overlap at {event['ts']} us")
            open_until.append(event["ts"] + event["dur"])

    shown = collections.Counter((int(event["args"]["attempt"]), event["args"]["job"]) for event in slices)
    gpu_us = sum(event["dur"] * event["args"].get("share", 1) for event in slices if event["args"]["gpus"] > 0)
    expected, expected_gpu_us, expected_slices = set(), decimal.Decimal(0), 0
    names = {row["job_id"]: row["name"] for row in rows_of(f"{folder}/jobs.csv")}
    for row in rows_of(f"{folder}/attempts.csv"):
        expected.add((int(row["attempt"]), names[row["job_id"]]))
        span_us = (decimal.Decimal(row["end_s"]) - decimal.Decimal(row["start_s"])) * 1000000
        for nodes, gpus, share_milli in pieces_of(row["placement"]):
            expected_slices += nodes * max(gpus, 1)
            expected_gpu_us += nodes * gpus * share_milli * span_us / 1000
    check(set(shown) == expected, f"{len(shown)} attempts are shown, the record has {len(expected)}")
    check(len(slices) == expected_slices, f"{len(slices)} slices, the placements make {expected_slices}")
    check(gpu_us == expected_gpu_us, f"{gpu_us} GPU us, the attempts held {expected_gpu_us}")
    for rule in broken[:20]:
        print(rule)
    if broken:
        return 1
    print(f"{len(slices)} slices of {len(shown)} attempts on {len(tracks)} tracks, {gpu_us / 3600000000:.6f} GPU hours")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
