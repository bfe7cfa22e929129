#!/bin/sh
# policy check of a scheduler in a process: the example keeps what is claimed for it; one with a planted bug breaks the
# law that the bug is about.
set -u
. tests/support/cli.sh
. "$repository/tests/support/policy_check.sh"

fifo="$repository/docs/examples/process/fifo.py"

windtunnel policy check "python3 $fifo" --worlds 12 --claim strict --claim gang --json
[ "$status" -eq 0 ] || fail "the example: status $status: $(cat said.out said.err)"
python3 - <<'END' || fail "the JSON: $(cat said.out)"
import json
found = json.load(open("said.out"))
assert found["holds"] and found["seed"] == 1 and found["worlds"] > 12, found
laws = {law["law"]: law for law in found["laws"]}
assert laws["strict"]["claimed"] and laws["strict"]["seen"] > 50, laws["strict"]
assert not laws["reclaim"]["claimed"] and laws["reclaim"]["holds"]
END

# A scheduler like the example, with one bug.
cat >bad.py <<'END'
import sys, time
fifo, mode = sys.argv[1:3]
exec(open(fifo).read().split("\nscheduler = ")[0])


class Bad(Fifo):
    cycles, last = 0, None

    def tell(self, fact):
        if "job_evicted" in fact and fact["job"] in self.running:
            job, shares = self.running.pop(fact["job"])
            self.elements[job.get("array", 0)] -= 1
            self.give_back(shares)
            self.waiting[job["id"]] = job
            self.queue(job)
        else:
            super().tell(fact)

    def evict(self, job, for_job=None):
        self.decisions += 1
        return {"evict": self.decisions, "job": job, **({"for_job": for_job} if for_job is not None else {})}

    def cycle(self):
        self.cycles += 1
        old = sorted(self.running)
        waiting = [job for job in self.ready if job in self.waiting and not self.is_hopeless(self.waiting[job])]
        self.again = mode in ("loop", "endless") and bool(waiting)
        if mode == "never":
            return []
        if mode == "dies" and self.cycles == 3:
            sys.exit(7)
        if mode == "hangs" and self.now >= 7200 * 10**9:
            time.sleep(1000)
        if mode == "endless" and old:  # nobody ever gets far
            return [self.evict(job) for job in old if job != self.last]
        if mode == "loop" and old and waiting:  # whoever waits goes before whoever runs
            self.last = min(waiting)
            return [self.evict(old[0], self.last)]
        if mode == "loop" and self.last in self.ready:
            self.ready.remove(self.last)
            self.ready.insert(0, self.last)
        if mode == "needless" and old and waiting and waiting[0] != self.last:
            self.last = waiting[0]
            return [self.evict(job, waiting[0]) for job in old]
        if mode == "lifo":
            self.ready = sorted(self.ready, reverse=True)
        decisions = super().cycle()
        for decision in decisions:
            if mode == "lies" and decision.get("pieces", [{}])[0].get("gpus") == "0" and old:
                decision["pieces"] = [{"node": "n0", "gpus": "99"}]
            if mode == "parts" and len(decision.get("pieces", [])) > 1:
                decision["pieces"].pop()
        return decisions


scheduler = Bad(json.loads(sys.stdin.readline()))
for line in sys.stdin:
    fact = json.loads(line)
    if "cycle" in fact:
        scheduler.now = fact["cycle"]
        decisions = scheduler.cycle()
        done = {"done": len(decisions), **({"wake_at": scheduler.now + 10**9} if scheduler.again else {})}
        print(*map(json.dumps, decisions + [done]), sep="\n", flush=True)
    else:
        scheduler.tell(fact)
END
bad="python3 bad.py $fifo"
worlds=0
shrink=0

breaks starts 'waits for ever: nothing runs, and it does not start' "$bad never"
breaks answers "ended with status 7 before it had answered" "$bad dies"
shows 3 'ended with status 7' --scheduler "$bad dies"
breaks answers 'gave no answer to a cycle within 1 s' "$bad hangs" --scheduler-timeout 1
breaks answers 'no GPU 99\|GPU' "$bad lies"
breaks ends 'made no progress\|no progress' "$bad endless"
breaks no_loop 'is evicted' "$bad loop" --claim no_loop
breaks minimal 'which fits without that' "$bad needless" --claim minimal
breaks gang 'fewer than its minimum' "$bad parts" --claim gang
shows 3 'fewer members than must run together' --scheduler "$bad parts"
breaks strict 'which was submitted earlier' "$bad lifo" --claim strict

finish
