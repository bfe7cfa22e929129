#!/usr/bin/env python3
"""A scheduler in a process: strict FIFO, first fit, whole jobs.  See README.md beside it and docs/decide.md.

What a cycle costs does not grow with the queue: jobs that may start stand in a heap, the others with what they wait for,
and of each kind of member it is known which nodes may have room: those where something left since they were last looked at.

    windtunnel run scenario.json --scheduler 'python3 docs/examples/process/fifo.py'
"""
import heapq
import json
import sys


def tolerates(toleration, taint):
    kind = toleration.get("operator", "Equal")
    return (toleration.get("key", taint["key"]) == taint["key"] and toleration.get("effect", taint["effect"]) == taint["effect"]
            and (kind == "Exists" or toleration.get("value", "") == taint.get("value", "")))


class Node:
    def __init__(self, index, name, pool):
        self.index = index
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
            nodes.append(Node(len(nodes), name, pool))
    return nodes


class Fifo:
    def __init__(self, header):
        self.nodes = read_nodes(header["cluster"])
        self.by_name = {node.name: node for node in self.nodes}
        self.room = {}  # kind of member -> (heap, set) of the indices of nodes that may have room for it; no other has
        self.waiting = {}  # job id -> job
        self.ready = []  # heap of the ids of jobs that wait for space alone: ids are in the order of submission
        self.parked = {}  # (what, number) -> ids of jobs that wait until that changes
        self.running = {}  # job id -> (job, its members' shares)
        self.elements = {}  # array -> how many of its jobs run
        self.ends = {}  # job id -> did it complete?
        self.is_stuck = False  # the head has found no space, and none has come since
        self.decisions = 0  # the numbers of decisions must rise

    def tell(self, fact):
        if "job_submitted" in fact:
            job = fact["job"]
            for group in job["groups"]:
                group["kind"] = json.dumps({**group, "count": 0}, sort_keys=True)
            self.waiting[job["id"]] = job
            self.queue(job)
        elif "job_ended" in fact:
            job, shares = self.running.pop(fact["job"])
            self.elements[job.get("array", 0)] -= 1
            self.give_back(shares)
            self.end(fact["job"], fact["end"] == "completed")
            self.wake("array", job.get("array", 0))
        elif "job_cancelled" in fact:
            self.waiting.pop(fact["job"], None)
            self.is_stuck = False
            self.end(fact["job"], False)
        elif "job_released" in fact:
            self.waiting[fact["job"]]["held"] = False
            self.wake("held", fact["job"])
        elif "node_changed" in fact:
            node = self.by_name[fact["node"]]
            node.is_up = fact["state"] == "up"
            self.look_again(node)

    def obstacle(self, job):
        """What a job waits for before it waits for space; None if nothing."""
        if job.get("held"):
            return "held", job["id"]
        after = next((a["job"] for a in job.get("after", []) if a["job"] not in self.ends), None)
        if after is not None:
            return "end", after
        return ("array", job["array"]) if 0 < job.get("array_max", 0) <= self.elements.get(job["array"], 0) else None

    def queue(self, job):
        obstacle = None if self.is_hopeless(job) else self.obstacle(job)
        if obstacle:
            self.parked.setdefault(obstacle, []).append(job["id"])
        else:
            heapq.heappush(self.ready, job["id"])
            self.is_stuck = self.is_stuck and self.ready[0] != job["id"]

    def wake(self, what, number):
        for job in self.parked.pop((what, number), []):
            if job in self.waiting:
                self.queue(self.waiting[job])

    def end(self, job, is_completed):
        self.ends[job] = is_completed
        self.wake("end", job)

    def is_hopeless(self, job):
        """Shares of GPUs, islands, slices, node affinity and required domains are beyond this example; a dependency may have ended otherwise."""
        wrong = {"ok": False, "not_ok": True}
        return (any({"gpu_fraction", "gpu_memory_gb", "mig", "one_island", "slice_members", "node_affinity"} & set(group) for group in job["groups"])
                or any("required" in ask.get("topology", {}) for ask in [job] + job.get("sets", []))
                or any(self.ends.get(a["job"]) is wrong.get(a.get("kind"), 0) for a in job.get("after", [])))

    def give_back(self, shares):
        for node, ask, gpus in shares:
            node.move(ask, gpus, -1)
            self.look_again(node)

    def look_again(self, node):
        for heap, indices in self.room.values():
            if node.index not in indices:
                heapq.heappush(heap, node.index)
                indices.add(node.index)
        self.is_stuck = False

    def place(self, job):
        """All members, each on the first node that has room; None, and nothing taken, if one has none."""
        shares, pieces = [], []
        for index, ask in [(i, group) for i, group in enumerate(job["groups"]) for _ in range(group.get("count", 1))]:
            if ask["kind"] not in self.room:
                self.room[ask["kind"]] = list(range(len(self.nodes))), set(range(len(self.nodes)))
            heap, indices = self.room[ask["kind"]]
            while heap and not self.nodes[heap[0]].fits(ask):
                indices.remove(heapq.heappop(heap))
            if not heap:
                self.give_back(shares)
                return None
            node = self.nodes[heap[0]]
            shares.append(node.move(ask, node.gpus[:ask.get("gpus", 0)], 1))
            gpus = ",".join(map(str, shares[-1][2]))
            pieces.append({"node": node.name, "group": index, **({"gpus": gpus} if gpus else {})})
        self.running[job["id"]] = job, shares
        self.elements[job.get("array", 0)] = self.elements.get(job.get("array", 0), 0) + 1
        return pieces

    def cycle(self):
        decisions = []
        while self.ready and not self.is_stuck:
            job = self.waiting.get(self.ready[0])  # None: it was cancelled
            pieces = reason = None
            if job and self.is_hopeless(job):
                reason = "NeverFits"
            elif job and self.obstacle(job):  # its array is full meanwhile
                self.parked.setdefault(self.obstacle(job), []).append(job["id"])
            elif job:
                pieces = self.place(job)
                reason = None if pieces or self.running else "NeverFits"
                self.is_stuck = not pieces and not reason  # the head of the line waits for space, and all behind it
            if self.is_stuck:
                break
            heapq.heappop(self.ready)
            if not pieces and not reason:
                continue
            self.decisions += 1
            decisions.append({"start": self.decisions, "job": job["id"], "pieces": pieces} if pieces else
                             {"reject": self.decisions, "job": job["id"], "reason": reason})
            del self.waiting[job["id"]]
            if reason:
                self.end(job["id"], False)
        return decisions


scheduler = Fifo(json.loads(sys.stdin.readline()))
for line in sys.stdin:
    fact = json.loads(line)
    if "cycle" in fact:
        decisions = scheduler.cycle()
        print(*map(json.dumps, decisions + [{"done": len(decisions)}]), sep="\n", flush=True)
    else:
        scheduler.tell(fact)
