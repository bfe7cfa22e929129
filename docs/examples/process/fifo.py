#!/usr/bin/env python3
"""A scheduler in a process: strict FIFO, first fit, whole jobs.  See README.md beside it and docs/decide.md.

    windtunnel run scenario.json --scheduler 'python3 docs/examples/process/fifo.py'
"""
import json
import sys


def tolerates(toleration, taint):
    kind = toleration.get("operator", "Equal")
    return (toleration.get("key", taint["key"]) == taint["key"] and toleration.get("effect", taint["effect"]) == taint["effect"]
            and (kind == "Exists" or toleration.get("value", "") == taint.get("value", "")))


class Node:
    def __init__(self, name, pool):
        cut = pool.get("gpus_layout", [])  # GPUs in MIG instances are neither whole nor shared
        self.gpus = [i for i in range(pool["gpus_per_node"]) if not cut[i:i + 1] or not cut[i]]
        self.name, self.model, self.is_up = name, pool.get("gpu_model"), True
        self.labels = pool.get("labels", {})
        self.taints = [taint for taint in pool.get("taints", []) if taint["effect"] != "PreferNoSchedule"]
        self.tasks = pool.get("max_tasks", 10**9)
        self.cpus, self.memory = pool.get("cpus", 10**6), pool.get("memory_gb", 2**20)

    def fits(self, ask):
        models = ask["gpu_model"].split("|") if "gpu_model" in ask else [self.model]
        return (self.is_up and ask.get("node_selector", {}).items() <= self.labels.items()
                and all(any(tolerates(t, taint) for t in ask.get("tolerations", [])) for taint in self.taints)
                and self.tasks > 0 and len(self.gpus) >= ask.get("gpus", 0) and self.model in models
                and self.cpus >= ask.get("cpus", 0) and self.memory >= ask.get("memory_gb", 0))

    def move(self, ask, gpus, sign):
        """A member comes (1) to these GPUs, or leaves them (-1)."""
        self.gpus = sorted(set(self.gpus) ^ set(gpus))
        self.tasks -= sign
        self.cpus = round(self.cpus - sign * ask.get("cpus", 0), 3)
        self.memory -= sign * ask.get("memory_gb", 0)
        return self, ask, gpus


def read_nodes(cluster):
    nodes = []
    for pool in cluster["pools"]:
        for i in range(pool["nodes"]):  # node_name counts over all pools: "n%u" or "n%04u"
            name = pool["node_names"][i] if "node_names" in pool else pool.get("node_name", "n%u") % len(nodes)
            nodes.append(Node(name, pool))
    return nodes


class Fifo:
    def __init__(self, header):
        self.nodes = read_nodes(header["cluster"])
        self.waiting = []  # jobs in the order in which they came
        self.running = {}  # job id -> (job, its members' shares)
        self.ends = {}  # job id -> did it complete?
        self.decisions = 0  # the numbers of decisions must rise

    def tell(self, fact):
        if "job_submitted" in fact:
            self.waiting.append(fact["job"])
        elif "job_ended" in fact:
            for node, ask, gpus in self.running.pop(fact["job"])[1]:
                node.move(ask, gpus, -1)
            self.ends[fact["job"]] = fact["end"] == "completed"
        elif "job_cancelled" in fact:
            self.waiting = [job for job in self.waiting if job["id"] != fact["job"]]
            self.ends[fact["job"]] = False
        elif "job_released" in fact:
            for job in self.waiting:
                job["held"] = job.get("held", False) and job["id"] != fact["job"]
        elif "node_changed" in fact:
            for node in self.nodes:
                node.is_up = fact["state"] == "up" if node.name == fact["node"] else node.is_up

    def is_hopeless(self, job):
        """Shares of GPUs, islands, slices, node affinity and required domains are beyond this example; a dependency may have ended otherwise."""
        wrong = {"ok": False, "not_ok": True}
        return (any({"gpu_fraction", "gpu_memory_gb", "mig", "one_island", "slice_members", "node_affinity"} & set(group) for group in job["groups"])
                or any("required" in ask.get("topology", {}) for ask in [job] + job.get("sets", []))
                or any(self.ends.get(a["job"]) is wrong.get(a.get("kind"), 0) for a in job.get("after", [])))

    def is_ready(self, job):
        """Is nothing in its way but space?"""
        array = [other for other, _ in self.running.values() if other.get("array") == job.get("array", 0)]
        return (not job.get("held") and all(a["job"] in self.ends for a in job.get("after", []))
                and not 0 < job.get("array_max", 0) <= len(array))

    def place(self, job):
        """All members, each on the first node that has room; None, and nothing taken, if one has none."""
        shares, pieces = [], []
        for index, ask in [(i, group) for i, group in enumerate(job["groups"]) for _ in range(group.get("count", 1))]:
            node = next((node for node in self.nodes if node.fits(ask)), None)
            if node is None:
                for node, ask, gpus in shares:
                    node.move(ask, gpus, -1)
                return None
            shares.append(node.move(ask, node.gpus[:ask.get("gpus", 0)], 1))
            gpus = ",".join(map(str, shares[-1][2]))
            pieces.append({"node": node.name, "group": index, **({"gpus": gpus} if gpus else {})})
        self.running[job["id"]] = job, shares
        return pieces

    def cycle(self):
        decisions, passed = [], []
        while self.waiting:
            job = self.waiting.pop(0)
            pieces = None if self.is_hopeless(job) or not self.is_ready(job) else self.place(job)
            self.decisions += 1
            if pieces:
                decisions.append({"start": self.decisions, "job": job["id"], "pieces": pieces})
            elif self.is_hopeless(job) or (self.is_ready(job) and not self.running):
                decisions.append({"reject": self.decisions, "job": job["id"], "reason": "NeverFits"})
                self.ends[job["id"]] = False
            else:
                passed.append(job)
                if self.is_ready(job):
                    break  # the head of the line waits for space, and all behind it
        self.waiting = passed + self.waiting
        return decisions


scheduler = Fifo(json.loads(sys.stdin.readline()))
for line in sys.stdin:
    fact = json.loads(line)
    if "cycle" in fact:
        decisions = scheduler.cycle()
        print(*map(json.dumps, decisions + [{"done": len(decisions)}]), sep="\n", flush=True)
    else:
        scheduler.tell(fact)
