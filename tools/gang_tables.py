"""What tools/topology_table and tools/network_table share: one run, the rows of its record, the lines of a table."""
import csv
import io
import os
import subprocess
import sys


class RunFailed(Exception):
    """A run ended with an error; the text says which and why."""


def add_options(parser, scenario):
    """The options that all these tables have."""
    parser.add_argument("--scenario", default=scenario)
    parser.add_argument("--seeds", default="1", help="by commas")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", dest="sets")
    parser.add_argument("--markdown", action="store_true")


def unknown(*lists):
    """The first name of a list by commas that is not known; each list is (text, known names)."""
    for text, known in lists:
        for name in text.split(","):
            if name not in known:
                return name
    return None


def run(what, args, seed, sets, folder, more=()):
    """Run the scenario with settings; the record goes to the folder."""
    words = [os.environ.get("WINDTUNNEL", "./windtunnel"), "run", args.scenario, "--quiet", "--seed", seed]
    words += ["--out", str(folder), *more]
    for one in (*sets, *args.sets):
        words += ["--set", one]
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise RunFailed(f"{sys.argv[0]}: {what}: {done.stderr.strip() or done.returncode}")


def read_rows(file):
    text = subprocess.run(["zstd", "-dcq", str(file)], stdout=subprocess.PIPE, text=True, check=True).stdout
    return csv.DictReader(io.StringIO(text))


def number(text):
    return float(text) if text else 0.0


class Waits:
    """Hours to the first start, by the most GPUs of a size; who still waits counts with the time waited so far."""

    def __init__(self, *sizes):
        self.hours = {size: [] for size in sizes}

    def add(self, job):
        if number(job["is_counted"]) != 0 and job["state"] != "rejected":
            size = min(size for size in self.hours if number(job["gpus"]) <= size)
            self.hours[size].append(number(job["wait_s"]) / 3600)

    def cells(self):
        return [f"{quantile(hours, percent):.2f}" for hours in self.hours.values() for percent in (50, 95)]


def quantile(values, percent):
    values = sorted(values)
    return values[max(0, -(-percent * len(values) // 100) - 1)] if values else 0.0


def mean(values):
    return sum(values) / len(values)


def show_head(heads, is_markdown):
    show(heads, heads, is_markdown)
    if is_markdown:
        print("|---|" + "---:|" * (len(heads) - 1))


def show(heads, row, is_markdown):
    if is_markdown:
        print("| " + " | ".join(row) + " |", flush=True)
    else:
        texts = [text.ljust(22) if at == 0 else text.rjust(max(8, len(heads[at]))) for at, text in enumerate(row)]
        print(" ".join(texts).rstrip(), flush=True)
