"""The tables of runs, by name: what runs, what is shown.  tools/tables/runs.py says what a table is."""
import csv
import functools
import itertools
import json
import os
import pathlib
import re
import statistics

from tables.runs import Table, Failed, mean, metric, number, of_names, waits, windtunnel

MAIN = "scenarios/h100-500x8.json"
TRACES = os.environ.get("WINDTUNNEL_TRACES", "../shared/traces")
TRACES_OPTION = ("--traces", TRACES, "the folder of the traces; else $WINDTUNNEL_TRACES, else ../shared/traces")
KEEPS = "policy.headroom.owners_ratio=0.064"  # space for owners of quota, as in the rows of `headline`
RATIO, TENTH, HUNDREDTH = "{:.3f}", "{:,.1f}", "{:,.2f}"
BY_CLASS = {name: ("class", name) for name in ("inference", "training", "interactive")}


def there(args, file, name):
    """The path of a trace; None, and it is said, if it is not there."""
    path = pathlib.Path(args.traces) / file
    if not path.exists():
        print(f"{name}: no file {file} in {args.traces}", flush=True)
        return None
    return path


# ---- preset ----

VARIANTS = {"": (), "unsaved": ("policy.preemption.policy=kill",), "kill": ('policy.preemption={"policy": "kill"}',)}


def preset_row(name, args):
    preset, _, variant = name.partition("+")
    if variant not in VARIANTS:
        raise Failed(f"'{name}': there is no variant '{variant}'; there are {', '.join(filter(None, VARIANTS))}")
    return ("--policy", preset), VARIANTS[variant]


PRESET = Table(
    """The main scenario under presets.

    `windtunnel+kill` is the preset windtunnel with "preemption": {"policy": "kill"} and nothing else there: victims go at
    once, unsaved, and what that costs is not weighed.  In `windtunnel+unsaved` all other settings stay.""",
    scenario=MAIN, is_transposed=True, row=preset_row,
    rows=("fifo", "kubernetes", "kai", "kueue", "slurm", "windtunnel", "windtunnel+unsaved", "windtunnel+kill"),
    columns=(
        metric("inference: admission p99, s", "admission_p99_s", TENTH, BY_CLASS["inference"]),
        metric("inference: started in free space", "admissions_free", by=BY_CLASS["inference"]),
        metric("inference: in the headroom", "admissions_headroom", by=BY_CLASS["inference"]),
        metric("inference: by evictions, no grace", "admissions_grace_0", by=BY_CLASS["inference"]),
        metric("inference: by other evictions", "admissions_eviction", by=BY_CLASS["inference"]),
        metric("training: queue time p50, s", "queue_time_p50_s", TENTH, BY_CLASS["training"]),
        metric("training: queue time p95, s", "queue_time_p95_s", by=BY_CLASS["training"]),
        metric("interactive: queue time p50, s", "queue_time_p50_s", TENTH, BY_CLASS["interactive"]),
        metric("interactive: queue time p95, s", "queue_time_p95_s", by=BY_CLASS["interactive"]),
        *(metric(name, name, RATIO) for name in ("allocation_ratio", "sm_active_ratio", "goodput_ratio")),
        *(metric(name, name) for name in ("preemptions", "lost_by_preemption_gpu_h", "lost_per_eviction_s",
                                          "partial_gang_gpu_h")),
    ),
)

# ---- backfill ----

# file, format, cluster (a file, or nodes of one GPU), load (None: as recorded), does it declare limits?
BACKFILL_TRACES = {
    "NASA": ("swf/NASA-iPSC-1993-3.1-cln.swf.zst", "swf", 128, 0.9, False),
    "Lublin": ("swf/lublin_256.swf.zst", "swf", 256, 0.9, False),
    "LCG": ("swf/LCG-2005.swf.zst", "swf", "topologies/dgx-h100-500.json", 0.9, False),
    "Philly": ("philly/philly_jobs.csv.zst", "philly", "topologies/philly-352.json", 0.9, False),
    "Batsim": ("batsim/medium_late.json.zst", "batsim", 32, None, True),
}
ESTIMATES = {
    "perfect": ("world.estimates.kind=perfect", "policy.estimate=declared"),
    "declared": ("world.estimates.kind=as_declared",),
    "noisy": ("world.estimates.kind=noisy", "policy.estimate=declared"),
    "history": ("world.estimates.kind=as_declared", "policy.estimate=history"),
}


def backfill_group(name, args, root):
    file, form, cluster, load, _ = BACKFILL_TRACES[name]
    trace = there(args, file, name)
    if trace is None:
        return None
    if isinstance(cluster, int):
        pool = {"name": "node", "gpu_model": "generic", "gpus_per_node": 1, "nodes": cluster}
        cluster = root / f"{name}.json"
        cluster.write_text(json.dumps({"name": f"{pool['nodes']} nodes of one GPU", "pools": [pool]}))
    return (("--trace", str(trace), "--format", form, "--cluster", str(cluster)),
            () if load is None else (f"workload.load={load}",))


def backfill_row(name, args):
    policy, _, estimates = name.partition(", ")
    exact = ("policy.backfill.depth=0",) if policy == "conservative" else ()  # the preset has a bound
    return ("--policy", policy), (*exact, *ESTIMATES[estimates or "perfect"])


BACKFILL = Table(
    """Real traces under backfill policies, with perfect, declared, noisy and learned estimates.

    Traces that are not there are left out.  Where a trace declares limits they are believed in the rows `declared` alone
    and bound what is learned in the rows `history`; where it declares none, `declared` plans nothing.
    late      jobs that started after the time at which they had been promised to start at the latest (the head of the
              line; under `conservative` everybody) although nothing had outlived its plan since: there must be none, else
              the exit status is 1""",
    groups=tuple(BACKFILL_TRACES), group=backfill_group, row=backfill_row, options=(TRACES_OPTION,),
    rows=("fifo", *(f"{policy}, {name}" for policy in ("easy", "conservative", "slurm") for name in ESTIMATES)),
    judge=lambda row: row.sum(lambda record: record.value("facts.late_starts")) == 0,
    columns=(
        metric("mean wait, s", "queue_time_mean_s"), metric("p50, s", "queue_time_p50_s"),
        metric("p95, s", "queue_time_p95_s"), metric("bounded slowdown", "slowdown_bounded_completed_mean", HUNDREDTH),
        metric("promised", "facts.promised_starts"), metric("late", "facts.late_starts"),
    ),
)

# ---- packing ----

PUBLISHED = {"random": "01-Random", "dot_product": "02-DotProd", "gpu_clustering": "03-GpuClustering",
             "gpu_packing": "04-GpuPacking", "weighted_best_fit": "05-BestFit", "fgd": "06-FGD"}
PERCENTS = ("100", "130")  # of arrived load


@functools.lru_cache
def published_means(traces):
    """By list, policy and percent: allocated and fragmented; none if there is no such file."""
    path = pathlib.Path(traces) / "openb" / "expected_mean.csv"
    if not path.exists():
        return {}
    with path.open() as file:
        return {(row["workload"].removeprefix("openb_pod_list_"), row["policy"], row["arrived_pct"]):
                (float(row["alloc_mean"]), float(row["frag_pct_of_cluster_mean"])) for row in csv.DictReader(file)}


def packing_group(name, args, root):
    folder = pathlib.Path(args.traces) / "openb"
    if not folder.is_dir():
        raise Failed(f"no folder {folder}; name that of the traces by --traces")
    cluster, trace = folder / "openb_node_list_gpu_node.csv.zst", folder.resolve() / f"openb_pod_list_{name}.csv.zst"
    shapes = root / f"{name}-shapes.json"
    shapes.write_text(windtunnel(["trace", "info", str(trace), "--cluster", str(cluster), "--shapes"], name))
    args.typical = f"policy.typical={shapes}"
    return ("--cluster", str(cluster)), (f"workload.trace={trace}",)


def packing_row(name, args):
    policy = name.removesuffix(" learned")  # fgd learns the typical jobs, in place of being told them
    return (), (f"policy.placement={policy}", *((args.typical,) if name == "fgd" else ()))


def packing_columns(percent):
    def values(row, at):
        name = ("allocation_ratio", "fgd_fragmentation_ratio")[at]
        return [100 * record.value(name, ("arrived_pct", percent)) for record in row.records]

    def known(row, at):
        return published_means(row.args.traces).get((row.group, PUBLISHED.get(row.name), percent), (None, None))[at]

    def deviation(row):
        return f"{statistics.stdev(values(row, 0)):.2f}" if len(row.records) > 1 else "-"

    def beside(at):
        return (("published", lambda row: "-" if known(row, at) is None else f"{known(row, at):.2f} %"),
                ("difference", lambda row: "-" if known(row, at) is None else
                 f"{statistics.mean(values(row, at)) - known(row, at):+.2f}"))

    return ((f"{percent} %: allocated", lambda row: f"{statistics.mean(values(row, 0)):.2f} %"), ("deviation", deviation),
            *beside(0), ("fragmented", lambda row: f"{statistics.mean(values(row, 1)):.2f} %"), *beside(1))


PACKING = Table(
    """A GPU-sharing cluster filled under packing policies, beside published means.

    Runs scenarios/openb.json (Alibaba's cluster of 2023) for each list of pods, policy and seed, and shows what is
    allocated and fragmented when 100 and 130 % of the load have arrived.  The published means, of ten seeds, are those of
    the experiments in Weng et al., "Beware of Fragmentation" (USENIX ATC 2023), in expected_mean.csv beside the lists.
    Differences are in percent of the cluster's GPUs.  The row `fgd learned` learns the typical jobs, in place of being told
    them.""",
    scenario="scenarios/openb.json", groups=("default",), group=packing_group, rows=tuple(PUBLISHED), row=packing_row,
    options=(TRACES_OPTION,), seeds="1,2,3,4,5,6,7,8,9,10",
    columns=tuple(column for percent in PERCENTS for column in packing_columns(percent)),
)

# ---- topology ----

GROUP_GPUS = 8
# file, nodes of a unit, nodes of an NVLink domain, GPUs of a unit, settings
CLUSTERS = {
    "dgx": ("topologies/dgx-h100-500.json", 32, 1, 256, ()),
    "dgx4": ("topologies/dgx-h100-500.json", 32, 1, 256, ("cluster.fabric.leaf_oversubscription=4",)),
    "nvl72": ("topologies/nvl72-8.json", 18, 18, 72, ()),
}
DOMAINS = ("least_free", "fewest", "balanced", "block")
MODES = ("loose", "preferred", "required")
PLACE = re.compile(r"n(?:\[(\d+)-(\d+)\]|(\d+)):([\d,-]+)(@\d+)?$")


def gpus_by_node(placement):
    """{node: GPUs} of "n[0-7]:0-7 n9:2"."""
    nodes = {}
    for word in placement.split():
        first, last, only, indices, _ = PLACE.match(word).groups()
        gpus = sum(int(high or low) - int(low) + 1 for low, _, high in (part.partition("-") for part in indices.split(",")))
        for node in range(int(only or first), int(only or last) + 1):
            nodes[node] = nodes.get(node, 0) + gpus
    return nodes


def split_groups(row):
    """Tensor-parallel groups whose GPUs are not in one NVLink domain."""
    domain_nodes, split = CLUSTERS[row.group][2], 0
    for attempt in row.all(lambda record: record.attempts):
        if number(attempt["gpus"]) >= 2 * GROUP_GPUS:
            domains = {}
            for node, count in gpus_by_node(attempt["placement"]).items():
                domains[node // domain_nodes] = domains.get(node // domain_nodes, 0) + count
            split += sum(count % GROUP_GPUS != 0 for count in domains.values())
    return split


def one_unit(row):
    """The part of the gangs that are in one unit, of those that could be, by GPU time."""
    _, unit_nodes, _, unit_gpus, _ = CLUSTERS[row.group]
    all_h = near_h = 0.0
    for attempt in row.all(lambda record: record.attempts):
        gpus = number(attempt["gpus"])
        if 2 * GROUP_GPUS <= gpus <= unit_gpus:
            gpu_h = gpus * (number(attempt["end_s"]) - number(attempt["start_s"])) / 3600
            all_h += gpu_h
            near_h += gpu_h * (len({node // unit_nodes for node in gpus_by_node(attempt["placement"])}) == 1)
    return f"{near_h / all_h if all_h else 0.0:.3f}"


def topology_row(name, args):
    way, _, placement = name.partition("+")
    mode, _, domains = way.partition("/")
    if mode not in MODES:
        raise KeyError(name)
    return (), (f"policy.topology.mode={mode}", *((f"policy.topology.domains={domains}",) if domains else ()),
                *((f"policy.placement={placement}",) if placement else ()))


TOPOLOGY = Table(
    """A mix of gangs under topology modes and variants: what near and far cost, on three clusters.

    Runs scenarios/gangs.json: gangs of tensor-parallel groups of 8 GPUs that had better be in one unit, and small jobs.
    clusters  dgx: 500 nodes of 8 in units of 32, 1:1; dgx4: the same with leaves oversubscribed 4:1; nvl72: 8 racks of 18
              nodes of 4 that share NVLink, a rack a unit
    rows      loose, preferred, required: policy.topology.mode; preferred/VARIANT: with policy.topology.domains, where it
              differs from best_fit; MODE+topology: with the placement policy `topology`
    used      of the GPUs, from the warm-up to the end
    wait      hours to the first start, median and 95th percentile: of jobs of up to 8 GPUs, of up to 64, and of more; a job
              that still waits at the end counts with the time waited so far
    GB/s      of each GPU over the narrowest link of its gang, mean and 10th percentile by GPU time
    one unit  part of the gangs that are in one unit, of those that could be (by GPU time)
    split     tensor-parallel groups whose GPUs are not in one NVLink domain; with any, the exit status is 1""",
    scenario="scenarios/gangs.json", groups=tuple(CLUSTERS), row=topology_row,
    group=lambda name, args, root: (("--cluster", CLUSTERS[name][0]), ("workload.load_gpus=cluster", *CLUSTERS[name][4])),
    rows=(*MODES[:2], *(f"preferred/{variant}" for variant in DOMAINS), MODES[2], *(f"{mode}+topology" for mode in MODES)),
    judge=lambda row: split_groups(row) == 0,
    columns=(
        metric("used", "allocation_ratio", RATIO), *waits(1, 8), *waits(9, 64), *waits(65, 10**9),
        metric("GB/s, mean", "gang_link_gb_per_s_mean", TENTH), metric("p10", "gang_link_gb_per_s_p10", TENTH),
        ("one unit", one_unit), ("split", lambda row: str(split_groups(row))),
    ),
)

# ---- headroom ----

HEADROOM_ROWS = {name: (f"policy.headroom.owners_ratio={name}",) for name in ("0", "0.016", "0.032", "0.064")}
HEADROOM_ROWS["0, no nodes"] = ("policy.headroom.nodes_ratio=0",)
HEADROOM = Table(
    """The main scenario with space kept free for owners of quota (owners_ratio), or without nodes kept free for services.

    preemptions, GPU hours lost    by evictions
    goodput                        work that was kept over the GPU time that was held, in percent
    small training, p99            queue time in minutes; large training, p95: in hours
    inference, p99                 from submission to start, in seconds""",
    scenario=MAIN, rows=tuple(HEADROOM_ROWS), row=of_names(HEADROOM_ROWS), seeds="1,2,3,4,5",
    columns=(
        metric("preemptions", "preemptions"), metric("GPU hours lost", "lost_gpu_h"),
        metric("goodput, %", "goodput_ratio", TENTH, unit=0.01),
        metric("small training: p99, min", "queue_time_p99_s", TENTH, ("workload_class", "small training"), 60),
        metric("large training: p95, h", "queue_time_p95_s", TENTH, ("workload_class", "large training"), 3600),
        metric("inference: p99, s", "admission_p99_s", TENTH, BY_CLASS["inference"]),
    ),
)

# ---- equal ----

# Loads at which what was tried meets the levels of `headline` with most seeds, under `windtunnel` or `kai`.
EQUAL_MIXES = {"main at 1.0": (MAIN, "1.0"), "research at 0.9": ("scenarios/h100-500x8-research.json", "0.9")}
EQUAL_SETS = {"kai": ("policy.quota.firm_needs_quota=false",)}
EQUAL = Table(
    """Presets with the same pieces of GPUs, those that jobs ask for, and the same jobs: what scheduling brings alone.

    inference: p99          from submission to start, in seconds; all other waits are 95th percentiles of queue times
    useful, SM-active, %    GPU time of work that was kept, and busy SMs, over all GPU time""",
    groups=tuple(EQUAL_MIXES), seeds="1,2,3,4,5", rows=("windtunnel", "kai", "kubernetes", "slurm"),
    group=lambda name, args, root: (
        (EQUAL_MIXES[name][0],), (f"workload.synth.load_whole_gpu={EQUAL_MIXES[name][1]}",)),
    row=lambda name, args: (("--policy", name), ("policy.sharing.policy=as_asked", *EQUAL_SETS.get(name, ()))),
    columns=(
        metric("inference: p99, s", "admission_p99_s", TENTH, BY_CLASS["inference"]),
        metric("interactive, s", "queue_time_p95_s", by=("workload_class", "interactive")),
        metric("small training, s", "queue_time_p95_s", by=("workload_class", "small training")),
        metric("large training, h", "queue_time_p95_s", TENTH, ("workload_class", "large training"), 3600),
        metric("useful, %", "useful_ratio", TENTH, unit=0.01),
        metric("SM-active, %", "sm_active_ratio", TENTH, unit=0.01),
        metric("GPU hours lost", "lost_gpu_h"),
    ),
)

# ---- sharing ----

CUTS = ("cluster.pools.h100.mig_recut=true", "policy.geometry=on_demand")
MIG = "scenarios/mig-inference.json"
SHARING_ROWS = {
    "static": (MIG, "policy.geometry=static"),
    "on_demand": (MIG, "policy.geometry=on_demand"),
    "as_asked": (MAIN, "policy.sharing=as_asked", KEEPS),
    "whole": (MAIN, "policy.sharing=whole", KEEPS),
    "mig": (MAIN, "policy.sharing=mig", *CUTS, KEEPS),
    "mps": (MAIN, "policy.sharing=mps", KEEPS),
    "timeslice": (MAIN, "policy.sharing=timeslice", KEEPS),
    "timeslice 12": (MAIN, "policy.sharing.policy=timeslice", "policy.sharing.clients_max=12", KEEPS),
    "trust": (MAIN, "policy.sharing=trust", *CUTS, KEEPS),
}
CAUSES = ("out_of_memory", "runaway", "fatal")


def sharing_row(name, args):
    scenario, *sets = SHARING_ROWS[name]
    faults = (f"world.faults.{cause}_per_job_h={args.faults}" for cause in CAUSES if float(args.faults) > 0)
    return (scenario,), (*sets, *faults)


SHARING = Table(
    """A MIG mix under geometry policies and the main scenario under sharing policies: what is stranded, what is used.

    The first rows are a mix of MIG instances under its own policy with another `geometry`; the others the main scenario
    under its own policy with another `sharing`, and with space kept for owners of quota.  Where instances are to be had
    GPUs may be cut on demand.  `--set world.sharing=free` has all jobs run at the speed of what they asked.
    stranded     memory slices that are free on partitioned GPUs and cannot become part of an instance that a typical job
                 asks: the mean over time
    cuts         GPUs that were cut anew, and the GPU hours that took
    admission    99th percentile of the time from submission to START of latency-critical inference, in seconds
    sm_active    busy SMs over all SMs and all time; allocation: GPUs given away over all GPUs
    unserved     what services and notebooks were asked for and could not serve: SM time on whole GPUs
    goodput      work that was kept, at the speed of what was asked, over the GPU time held: of inference and of
                 interactive jobs; less than 1 is what pieces and neighbours cost them, and evictions
    at the end   jobs that still wait
    With --faults (docs/scenario.md, "Faults of neighbours"):
    killed       times that a job was taken by the fault of another: out of memory, runaway kernel, fatal fault
    lost         GPU hours that these lost
    blast        the most GPUs that one fault took from other jobs
    all lost     GPU hours lost by evictions and faults of all kinds, the jobs' own too""",
    row=sharing_row, rows=tuple(SHARING_ROWS), options=(("--faults", "0", "of each cause, per job hour"),),
    columns=(
        metric("stranded", "mig_slices_unplaceable", missing=0), metric("cuts", "facts.recuts"),
        metric("GPU h", "facts.recut_gpu_h", TENTH),
        metric("admission p99, s", "admission_p99_s", by=BY_CLASS["inference"], missing=0),
        metric("sm_active", "sm_active_ratio", RATIO), metric("allocation", "allocation_ratio", RATIO),
        metric("unserved, GPU h", "unserved_gpu_h", missing=0),
        metric("goodput: inference", "goodput_ratio", RATIO, BY_CLASS["inference"], missing=0),
        metric("interactive", "goodput_ratio", RATIO, BY_CLASS["interactive"], missing=0),
        metric("at the end", "jobs_pending"),
        *(metric(f"killed: {cause}", f"killed_by_neighbour_{cause}") for cause in CAUSES),
        metric("lost, GPU h", "lost_by_neighbour_gpu_h", TENTH), metric("blast, GPUs", "blast_radius_gpus_max", TENTH),
        metric("all lost, GPU h", "lost_gpu_h"),
    ),
)

# ---- network ----

PLACEMENTS = ("best_fit", "pack", "spread", "topology", "fastest")


def network_row(name, args):
    for word in name.split("+"):
        if word not in MODES + PLACEMENTS:
            raise KeyError(name)
    return (), [f"policy.topology.mode={word}" if word in MODES else f"policy.placement={word}" for word in name.split("+")]


def done(row):
    def part(record):
        asked = sum(number(job["gpus"]) * number(job["work_asked_s"]) for job in record.jobs)
        return sum(number(job["gpus"]) * number(job["work_s"]) for job in record.jobs) / asked

    return mean([part(record) for record in row.records], RATIO)


NETWORK = Table(
    """Gangs that communicate under placements and topology modes, on oversubscribed fabrics: what each costs.

    Runs scenarios/gangs-network.json: gangs of 8 to 512 GPUs with parallel plans or sensitivities, which ask for one unit
    as a preference, and small jobs that declare nothing.  500 nodes of 8 H100, in units of 32 nodes.
    groups    cluster.fabric.leaf_oversubscription: 8 is 8:1
    rows      PLACEMENT: policy.placement, with the topology as asked; MODE: policy.topology.mode, with best_fit;
              MODE+PLACEMENT: both
    slowdown  of the gangs by communication: GPU time of their work over the same at the best place alone; mean and 95th
              percentile over gangs (communication_slowdown_mean, _p95)
    GB/s      that each GPU of a gang in several nodes got on the network while it sent (network_gb_per_s_mean)
    MFU       of the gangs with plans (mfu_ratio)
    waiting   thousands of GPU hours in which GPUs waited for communication that nothing hides (communication_gpu_h)
    slowed    thousands of GPU hours that the work took more than at the best place alone (slowed_gpu_h)
    wait      hours to the first start, median and 95th percentile: of jobs of up to 4 GPUs, of gangs of 8 to 64, and of
              more; a job that still waits at the end counts with the time waited so far
    used      of the GPUs, from the warm-up to the end (allocation_ratio)
    done      of the GPU hours of work that all jobs asked, from the first to the end, the part that was done; work counts
              as at the best place alone, so GPU time that a gang is slowed is no work
    Jobs submitted during the warm-up count in `used` and `done` alone.""",
    scenario="scenarios/gangs-network.json", groups=("1", "4", "8"), row=network_row,
    group=lambda name, args, root: ((), (f"cluster.fabric.leaf_oversubscription={name}",)),
    rows=("loose+spread", "loose", "spread", "best_fit", "topology", "pack", "required", "required+pack", "fastest",
          "required+fastest"),
    columns=(
        metric("slowdown", "communication_slowdown_mean", RATIO), metric("p95", "communication_slowdown_p95", RATIO),
        metric("GB/s", "network_gb_per_s_mean", TENTH), metric("MFU", "mfu_ratio", RATIO),
        metric("waiting, k GPU h", "communication_gpu_h", TENTH, unit=1000),
        metric("slowed", "slowed_gpu_h", TENTH, unit=1000), *waits(1, 4), *waits(5, 64), *waits(65, 10**9),
        metric("used", "allocation_ratio", RATIO), ("done", done),
    ),
)

# ---- cold-start ----

# Weights: 7B and 70B parameters of 2 bytes.  All else is assumed: the sizes of images and data, how many of each there
# are, and the bandwidths.
COLD = {
    "registry_gb_per_s": 50, "node_gb_per_s": 5, "rack_gb_per_s": 25,
    "jobs": [
        {"class": "inference", "gpus_max": 1, "image": {"size_gib": 8},
         "weights": {"size_gib": 13, "distinct": 200, "zipf": 1}},
        {"class": "inference", "image": {"size_gib": 8}, "weights": {"size_gib": 130, "distinct": 20, "zipf": 1}},
        {"class": "interactive", "image": {"size_gib": 10, "scope": "queue", "distinct": 3}},
        {"class": "training", "image": {"size_gib": 12, "scope": "queue", "distinct": 3},
         "data": {"size_gib": 50, "scope": "queue"}},
    ],
}


def cold_start_row(name, args):
    node, rack, weight = name.split("+")
    cold = json.loads(pathlib.Path(args.cold_starts).read_text()) if args.cold_starts else dict(COLD)
    cold.update(node_cache_gib=float(node), rack_cache_gib=float(rack))
    if float(rack) == 0:
        cold.pop("rack_gb_per_s", None)
    return (), (f"world.cold_starts={json.dumps(cold)}", f"policy.warm_weight={weight}")


COLD_START = Table(
    """The main scenario with cold starts under sizes of caches, with and without a weight for warm nodes.

    A row is a size of the caches of nodes, one of the caches of racks, both in GiB, and a warm_weight
    (docs/cold-starts.md).  What jobs pull is COLD in tools/tables/table.py, unless --cold-starts names a file with
    another object for world.cold_starts.
    ready        from submission until a job was ready to work: the 99th percentile, of inference and of all jobs
    cold start   from the first start until ready: median, mean and 99th percentile of inference
    pulled       from the registry and from caches of racks, in 10^12 bytes, of all jobs
    hits         of the bytes needed on nodes the part that was there
    lost         GPU hours in which jobs held GPUs and waited for pulls
    queue        mean wait until the first start, of all jobs""",
    scenario=MAIN, row=cold_start_row, options=(("--cold-starts", "", "a file: world.cold_starts"),),
    rows=tuple("+".join(sizes) for sizes in itertools.product(("0", "200", "1000"), ("0", "4000"), ("0", "500"))),
    columns=(
        metric("ready p99, s: inference", "ready_p99_s", by=BY_CLASS["inference"], missing=0),
        metric("all", "ready_p99_s", missing=0),
        metric("cold start p50, s", "cold_start_p50_s", TENTH, BY_CLASS["inference"], missing=0),
        metric("mean", "cold_start_mean_s", TENTH, BY_CLASS["inference"], missing=0),
        metric("p99", "cold_start_p99_s", TENTH, BY_CLASS["inference"], missing=0),
        metric("registry, TB", "pulled_registry_tb", missing=0), metric("racks, TB", "pulled_rack_tb", missing=0),
        metric("node hits", "node_cache_hit_ratio", RATIO, missing=0),
        metric("lost, GPU h", "lost_to_pull_gpu_h", missing=0), metric("queue mean, s", "queue_time_mean_s"),
    ),
)

# ---- idle ----

ACTIVITY = [
    {"workload_class": "interactive", "kind": "notebook", "level": 0.4, "level_sd": 0.12, "abandoned": 0.05,
     "burst": {"distribution": "lognormal", "median": "5m", "sigma": 1},
     "gap": {"distribution": "lognormal", "median": "10m", "sigma": 1.2}},
    {"class": "inference", "kind": "inference", "prefill": 0.6, "decode": 0.15, "prefill_share": 0.25,
     "diurnal_peak_to_mean": 2},
    {"class": "training", "kind": "training", "level": 0.7, "level_sd": 0.12, "stall_level": 0.02,
     "work": {"distribution": "exponential", "mean": "10m"}, "stall": {"distribution": "exponential", "mean": "1m"}},
]
# when they are evicted, not from time to time
SAVES = 'workload.synth.classes.interactive.checkpoint={"interval": "1000d", "duration": 30, "restart": 60}'


def reclaim(**terms):
    return (SAVES, "policy.idle=" + json.dumps({"policy": "reclaim", **terms}))


IDLE_ROWS = {
    "none": (SAVES, "policy.idle=none"),
    "tell": (SAVES, "policy.idle=tell"),
    "reclaim": reclaim(),
    "grace 1 h": reclaim(grace_s=3600),
    "threshold 0.3": reclaim(threshold=0.3),
    "0.3 and 1 h": reclaim(threshold=0.3, grace_s=3600),
    "noise 0.05": (*reclaim(), "world.monitor.noise=0.05"),
    "noise 0.2": (*reclaim(), "world.monitor.noise=0.2"),
}


def all_waits(row):
    def hours(record):
        return sum(record.value(name) or 0 for name in record.result["metrics"]
                   if name.startswith("wait_") and name.endswith("_job_h"))

    return mean([hours(record) for record in row.records])


IDLE = Table(
    """The main scenario under idle policies: GPU hours given back, jobs disturbed wrongly, waits.

    The jobs have the SM activity of docs/activity.md: interactive jobs are notebooks, of which some are abandoned.  They
    save their state in 30 s when they are evicted, and restart in 60 s (assumed).  A monitor measures all jobs each
    minute.  Notebooks are on GPUs of their own, in a cluster that is full: idle GPUs matter most there.
    told         jobs whose submitter was told
    evictions    of jobs that seemed idle
    wrong        the part of these that disturbed a job that was busy then, or would have been within 10 minutes
    given back   GPU hours that these jobs gave back
    idle-held    GPU hours that jobs held while no SM of theirs was busy
    lost         GPU hours lost by evictions of all kinds, saving and restarting included
    interactive, training, inference   mean queue time of the class until the first start, in minutes
    rested       job hours that evicted jobs rested (reason Idle); waits    job hours of all waits, rests included
    at the end   jobs that still wait""",
    scenario=MAIN, rows=tuple(IDLE_ROWS), row=of_names(IDLE_ROWS),
    base=("workload.activity=" + json.dumps(ACTIVITY), "world.monitor={}", "policy.sharing.policy=as_asked", KEEPS),
    columns=(
        metric("told", "idle_jobs_told", missing=0), metric("evictions", "idle_evictions", missing=0),
        metric("wrong", "idle_disturbed", missing=0), metric("given back", "given_back_gpu_h", missing=0),
        metric("idle-held", "idle_held_gpu_h", missing=0), metric("lost", "lost_gpu_h", missing=0),
        *(metric(name, "queue_time_mean_s", TENTH, BY_CLASS[name], 60, 0) for name in ("interactive", "training", "inference")),
        metric("rested", "wait_idle_job_h", missing=0), ("waits", all_waits), metric("at the end", "jobs_pending", missing=0),
    ),
)

# ---- physics ----

PARTS = {  # the setting that switches it off
    "network": "world.network=free",
    "sharing": "world.sharing=free",
    "faults": "world.faults=null",
    "checkpoints": "world.checkpoints=null",
    "cold starts": "world.cold_starts=null",
    "activity": "workload.activity=[]",
    "monitor": "world.monitor=null",
}


def physics_row(name, args):
    if name not in ("none", "all", *PARTS):
        raise KeyError(name)
    hours = f"{float(args.days) * 24:g}h"
    sets = (f"workload.synth.duration={hours}", f"world.end={hours}", "world.warmup=0")
    return (), (*sets, *(off for part, off in PARTS.items() if name not in (part, "all")))


def cost(row):
    return sum(record.cost for record in row.records)


def events(row):
    return row.sum(lambda record: record.value("facts.events"))


PHYSICS = Table(
    """What each part of the physics costs in instructions: all parts off, each alone, and all on.

    All rows have the same jobs and the same policy.
    instructions   of the whole program, in millions, counted by valgrind's callgrind; a record is not written
    of none        over those of the first row
    events         of the world: what parts make of the same jobs differs, and so does the work of the scheduler
    per event      instructions, over those of the first row
    The exit status is 1 if all parts together take more than --most times the instructions of none.""",
    scenario="scenarios/h100-500x8-physics.json", rows=("none", *PARTS, "all"), row=physics_row, cost="instructions alone",
    options=(("--days", "2", "simulated"), ("--most", "3", "what all parts may take, of none")),
    judge=lambda row: row.name != "all" or cost(row) <= float(row.args.most) * cost(row.first),
    columns=(
        ("instructions, 10^6", lambda row: f"{cost(row) / 1e6:,.0f}"),
        ("of none", lambda row: f"{cost(row) / cost(row.first):.2f}"),
        ("events", lambda row: f"{events(row):,}"),
        ("per event", lambda row: f"{cost(row) / cost(row.first) * events(row.first) / events(row):.2f}"),
    ),
)

# ---- cliff ----

PERFECT = "world.estimates.kind=perfect"
# file, format, cluster, its GPUs, load, window of the short run: Philly's first weeks hold few jobs
CLIFF_TRACES = {
    "philly": ("philly/philly_jobs.csv.zst", "philly", "topologies/philly-352.json", 2816, 0.9,
               ["2017-10-01", "2017-10-10"]),
    "lcg": ("swf/LCG-2005.swf.zst", "swf", "topologies/dgx-h100-500.json", 4000, 0.95, None),
}
QUEUE_JOBS = {f"queue-{jobs}": jobs for jobs in (1, 1000, 10000)}


def cliff_group(name, args, root):
    end = () if args.end == "none" else (f"world.end={args.end}",)
    if name in QUEUE_JOBS:
        return (("scenarios/bench-windtunnel.json",),
                ("workload.synth.load_whole_gpu=1000", "cluster.pools.h100.nodes=25", PERFECT,
                 f"workload.synth.jobs={QUEUE_JOBS[name]}"))
    if name in ("main", "main+"):
        load = (f"workload.synth.load_whole_gpu={args.load}",) if args.load else ()
        return (args.mix,), ("world.warmup=0", *end, *load, *((PERFECT,) if name == "main+" else ()))
    file, form, cluster, gpus, load, window = CLIFF_TRACES[name]
    trace = there(args, file, name)
    if trace is None:
        return None
    words = ("--trace", str(trace), "--format", form, "--cluster", cluster)
    sets = (f"workload.load={load}", PERFECT, *((f"workload.window={json.dumps(window)}",) if window and end else ()))
    names = root / f"{name}.names"
    windtunnel(["run", "--quiet", "--policy", "fifo", "--out", str(names), *words,
                *(word for one in (*sets, "world.end=1s") for word in ("--set", one))], name)
    queues = sorted(json.loads((names / "result.json").read_text())["facts"]["queues"])
    tree = [{"name": queue, "quota_gpus": gpus // len(queues) + (q < gpus % len(queues))} for q, queue in enumerate(queues)]
    return words, (*sets, *end, "queues=" + json.dumps(tree))


def started(row):
    """How many jobs left the queues: all that came but those that wait still or never could."""
    return row.sum(lambda record: record.value("jobs_submitted") - record.value("jobs_pending") -
                   record.value("jobs_rejected"))


def share_started(row):
    return started(row) / started(row.first) if started(row.first) > 0 else 1.0


def growth(row):
    """Of the largest queue: what a job costs over what one of the next smaller queue costs, the cost of one job taken off."""
    costs = row.args.__dict__.setdefault("queue_costs", {})
    costs[row.group, row.name] = cost(row)
    one, small, large = (costs.get((name, row.name)) for name in QUEUE_JOBS)
    if row.group != "queue-10000" or None in (one, small):
        return None
    return (large - one) / 10000 / ((small - one) / 1000) if small > one else float("inf")


def cliff_holds(row):
    if row.group in QUEUE_JOBS:
        return growth(row) is None or growth(row) <= float(row.args.most_queue)
    return share_started(row) >= 0.95 and cost(row) <= float(row.args.most) * cost(row.first)


CLIFF = Table(
    """What presets cost on the main scenario, on traces and on a queue that grows, as multiples of what fifo costs.

    groups    `main` is the main scenario as it is, `main+` the same with perfect estimates; `philly` is Philly at load 0.9
              from October on, when many jobs come, and `lcg` LCG at load 0.95, both with perfect estimates and with queues
              whose quotas sum to the cluster; `queue-N`: N jobs come at one instant to a small cluster
    cost      instructions of the whole program, in millions, counted by valgrind; with `--cost 'instructions alone'` it
              writes no record then; with `--cost seconds` processor time, in one run
    ratio     to fifo, of the same group
    started   jobs, over those that fifo starts
    growth    what a job of 10,000 costs, over what one of 1,000 costs
    The exit status is 1 if a row takes more than --most times what fifo takes, grows more than --most-queue, or starts less
    than 95 % of what fifo starts.  `--end none` replays whole traces.""",
    groups=("main", "main+", *CLIFF_TRACES, *QUEUE_JOBS), group=cliff_group, cost="instructions",
    row=lambda name, args: (("--policy", name), ()),
    rows=("fifo", "easy", "conservative", "slurm", "priority", "kubernetes", "kai", "kueue", "volcano", "ray", "fgd",
          "tiresias", "hived", "windtunnel"),
    options=(TRACES_OPTION, ("--end", "36h", "simulate so long, all groups but `queue`; none: to the end"),
             ("--mix", MAIN, "the scenario of `main` and `main+`"), ("--load", "", "of whole GPUs, of `main` and `main+`"),
             ("--most", "20", "to fifo"), ("--most-queue", "2", "growth"), ("--cost", "instructions", "or seconds")),
    judge=cliff_holds,
    columns=(
        ("cost", lambda row: f"{cost(row):,.2f} s" if row.args.cost == "seconds" else f"{cost(row) / 1e6:,.1f} M"),
        ("ratio", lambda row: f"{cost(row) / cost(row.first):.1f}"), ("started", lambda row: f"{share_started(row):.1%}"),
        ("growth", lambda row: "" if growth(row) is None else f"{growth(row):.2f}"),
    ),
)

# ---- shake ----

SHAKES = {"none": (0, 0), "10 s": (10, 0), "1 m": (60, 0), "5 m": (300, 0), "0.5 %": (0, 0.005), "1 %": (0, 0.01),
          "5 %": (0, 0.05), "1 m and 1 %": (60, 0.01)}
SHAKEN_CLUSTER = {"name": "20 nodes", "pools": [{"name": "h100", "nodes": 20, "gpus_per_node": 8, "gpu_model": "h100-80gb"}]}
SHAKEN_MIX = {
    "cluster": SHAKEN_CLUSTER,
    "workload": {"load_gpus": 160, "synth": {
        "duration": "7d", "load_whole_gpu": 0.95,
        "tenants": {"organisations": 1, "teams": 4, "projects": 12, "zipf_exponent": 1},
        "classes": [{
            "name": "jobs", "class": "training", "share": 1, "arrivals": {"process": "poisson", "diurnal_peak_to_mean": 2},
            "sizes": [{"weight": 60, "gpus": 1, "nodes": 1}, {"weight": 20, "gpus": 4, "nodes": 1},
                      {"weight": 16, "gpus": 8, "nodes": 1}, {"weight": 4, "gpus": 32}],
            "run_time": {"distribution": "lognormal", "median": "1h", "sigma": 1.3}}]}},
}


def shake_group(name, args, root):
    """The mix as a frozen trace, the same for all policies."""
    trace, scenario = root / "mix.jsonl", root / "mix.json"
    if not trace.exists():
        scenario.write_text(json.dumps(SHAKEN_MIX))
        windtunnel(["trace", "freeze", str(scenario), "--out", str(trace)], "the mix")
        (root / "nodes.json").write_text(json.dumps(SHAKEN_CLUSTER))
    return (("--trace", str(trace), "--cluster", str(root / "nodes.json"), "--policy", name),
            ("world.end=7d", PERFECT, "policy.estimate=declared"))


def shake_row(name, args):
    arrivals_s, sigma = SHAKES[name]
    shake = {"arrivals_s": arrivals_s, "run_time_sigma": sigma}
    return (), ((f"workload.shake={json.dumps(shake)}",) if arrivals_s or sigma else ())


def deviation(head, name, form="{:,.0f}"):
    """The standard deviation over the seeds."""
    return head, lambda row: form.format(statistics.stdev(record.value(name) for record in row.records)
                                         if len(row.records) > 1 else 0)


SHAKE = Table(
    """A frozen mix at load 0.95 under two policies, shaken by several amounts: what its numbers owe to accidents.

    A row moves arrivals by up to so much, or multiplies run times by a lognormal factor with so large a sigma, or both
    (workload.shake); `none` is the trace as it is, the same with every seed.
    mean wait, p95 wait   of all jobs, in seconds: mean over the seeds, and standard deviation""",
    groups=("slurm", "kai"), group=shake_group, rows=tuple(SHAKES), row=shake_row,
    seeds=",".join(str(seed) for seed in range(1, 11)),
    columns=(metric("mean wait, s", "queue_time_mean_s"), deviation("deviation", "queue_time_mean_s"),
             metric("p95 wait, s", "queue_time_p95_s"), deviation("deviation", "queue_time_p95_s")),
)

TABLES = {"preset": PRESET, "backfill": BACKFILL, "packing": PACKING, "topology": TOPOLOGY,
          "headroom": HEADROOM, "equal": EQUAL,
          "sharing": SHARING, "network": NETWORK, "cold-start": COLD_START, "idle": IDLE, "physics": PHYSICS,
          "cliff": CLIFF, "shake": SHAKE}
