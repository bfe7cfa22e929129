"""Runs of windtunnel and the tables made of them: what tools/table shares among all tables.

A table is a value of Table: its groups (clusters, traces), its rows (policies, settings), its columns.  For each row of
each group it makes a run with each seed; a column is a head and a function from a Row to a text.
"""
import csv
import functools
import io
import json
import math
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import time

STOP_S = 30  # a run that is asked to stop still writes its record


class Failed(Exception):
    """A run ended with an error, or an argument is no good; the text says which and why."""


class Table:
    """about: a paragraph, and a legend.  row(name, args): (words, settings) of a run, KeyError if there is no such row.
    group(name, args, root): the same of a group; None: left out.  judge(row): does the row hold what the table promises?
    options: (name, default, help) of options of its own."""

    def __init__(self, about, columns, rows, row, scenario=None, groups=("",), group=None, base=(), options=(),
                 seeds="1", cost=None, judge=None, is_transposed=False):
        self.about, self.columns, self.rows, self.row, self.scenario = about, columns, rows, row, scenario
        self.groups, self.group, self.base, self.options = groups, group, base, options
        self.seeds, self.cost, self.judge, self.is_transposed = seeds, cost, judge, is_transposed


class Record:
    """What one run wrote, and what it cost."""

    def __init__(self, folder, cost=None):
        self.folder, self.cost = folder, cost

    @functools.cached_property
    def result(self):
        return json.loads((self.folder / "result.json").read_text())

    def value(self, name, by=()):
        """A metric, or a fact as "facts.NAME"; None: undefined.  by: such as ("class", "inference")."""
        if name.startswith("facts."):
            return self.result["facts"][name[6:]]
        of = self.result["by"].get(by[0], {}).get(by[1], {}) if by else self.result["metrics"]
        return of.get(name, {}).get("value")

    def rows(self, file):
        text = subprocess.run(["zstd", "-dcq", str(self.folder / file)], stdout=subprocess.PIPE, text=True, check=True)
        return list(csv.DictReader(io.StringIO(text.stdout)))

    @functools.cached_property
    def jobs(self):
        return self.rows("jobs.csv.zst")

    @functools.cached_property
    def attempts(self):
        return self.rows("attempts.csv.zst")


class Row:
    """The runs of one row; records is None if one was stopped.  first: the first row of its group."""

    def __init__(self, group, name, records, args, first=None):
        self.group, self.name, self.records, self.args = group, name, records, args
        self.first = first or self

    def all(self, figures):
        """A list of all seeds from lists of each."""
        return [figure for record in self.records for figure in figures(record)]

    def sum(self, figure):
        return sum(figure(record) for record in self.records)


# ---- Columns ----


# Student's t at 97.5 %, by degrees of freedom
T = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}


def half_width(values):
    """Of the 95 % interval of their mean; infinite of one value."""
    if len(values) < 2:
        return math.inf
    return T.get(len(values) - 1, 1.96) * statistics.stdev(values) / math.sqrt(len(values))


def mean(values, form="{:,.0f}"):
    """The mean of the values of the seeds; of several with its 95 % interval."""
    if not values:
        return "-"
    half = f" ± {form.format(half_width(values))}" if len(values) > 1 else ""
    return form.format(statistics.fmean(values)) + half


def metric(head, name, form="{:,.0f}", by=(), unit=1, missing=None):
    """The mean over the seeds of a metric or a fact; `missing` stands for one that is undefined."""

    def text(row):
        values = [record.value(name, by) for record in row.records]
        values = [missing if value is None else value for value in values]
        return mean([value / unit for value in values if value is not None], form)

    return head, text


def number(text):
    return float(text) if text else 0.0


def quantile(values, percent):
    values = sorted(values)
    return values[max(0, -(-percent * len(values) // 100) - 1)] if values else 0.0


def waits(low, high):
    """Hours to the first start of jobs of so many GPUs; a job that still waits counts with the time so far."""

    def hours(record):
        return [number(job["wait_s"]) / 3600 for job in record.jobs
                if number(job["is_counted"]) != 0 and job["state"] != "rejected" and low <= number(job["gpus"]) <= high]

    name = f"{low}-{high}" if high < 10**9 else f"{low}+"
    return ((f"{name}: wait, h", lambda row: f"{quantile(row.all(hours), 50):.2f}"),
            ("p95", lambda row: f"{quantile(row.all(hours), 95):.2f}"))


def of_names(rows):
    """The `row` of a table whose rows are {name: settings}."""
    return lambda name, args: ((), rows[name])


# ---- Runs ----


def words_of(sets):
    return [word for one in sets for word in ("--set", one)]


def windtunnel(words, what):
    """What it prints."""
    done = subprocess.run([os.environ.get("WINDTUNNEL", "./windtunnel"), *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{what}: {done.stderr.strip() or f'exit status {done.returncode}'}")
    return done.stdout


def wait(child, timeout_s):
    """Its exit status and processor time; None and 0 if it has not ended in that time."""
    until = time.monotonic() + timeout_s
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid != 0:
            child.returncode = os.waitstatus_to_exitcode(status)
            return child.returncode, usage.ru_utime + usage.ru_stime
        if time.monotonic() >= until:
            return None, 0.0
        time.sleep(0.05)


def call(words, timeout_s, what):
    """Run it; its processor time, or None if it was stopped."""
    with open(os.devnull, "wb") as nothing:
        child = subprocess.Popen(words, stdout=nothing, stderr=subprocess.PIPE, text=True)
        status, cpu_s = wait(child, timeout_s)
        if status is None:
            child.send_signal(signal.SIGTERM)
            if wait(child, STOP_S)[0] is None:
                child.kill()
                child.wait()
            return None
        complaint = child.stderr.read().strip()
    if status != 0:
        raise Failed(f"{what}: {complaint or f'exit status {status}'}")
    return cpu_s


def instructions(words, log, timeout_s, what):
    """What callgrind counts of it; None if it was stopped."""
    if call(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--log-file={log}", *words],
            timeout_s, what) is None:
        return None
    found = re.search(r"Collected : (\d+)", pathlib.Path(log).read_text(encoding="utf-8"))
    if found is None:
        raise Failed(f"{what}: valgrind counted nothing")
    return int(found[1])


def run(args, words, folder, what, cost=None):
    """The record of a run in the folder; None if it was stopped.  cost: "instructions" or "seconds" are counted, with
    what the record costs, or "instructions alone", without."""
    program = [os.environ.get("WINDTUNNEL", "./windtunnel"), "run", "--quiet", *words]
    recording, log = [*program, "--out", str(folder)], f"{folder}.log"
    if cost == "instructions":
        spent = instructions(recording, log, args.timeout, what)
    else:
        spent = call(recording, args.timeout, what)
        if cost == "instructions alone" and spent is not None:
            spent = instructions(program, log, args.timeout, what)
    return None if spent is None else Record(folder, spent)


# ---- Lines ----


class Lines:
    """Prints rows as they come, in columns as wide as their heads, or as Markdown."""

    def __init__(self, heads, names, is_markdown):
        self.is_markdown = is_markdown
        self.widths = [max(map(len, (heads[0], *names)))] + [max(8, len(head)) for head in heads[1:]]
        self.show(heads)
        if is_markdown:
            print("|---|" + "---:|" * (len(heads) - 1))

    def show(self, row):
        if self.is_markdown:
            print("| " + " | ".join(row) + " |", flush=True)
            return
        texts = [text.rjust(width) if at else text.ljust(width) for at, (text, width) in enumerate(zip(row, self.widths))]
        print("  ".join(texts).rstrip(), flush=True)


def complain(text):
    print(f"{sys.argv[0]}: {text}", file=sys.stderr)
