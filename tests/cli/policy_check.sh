#!/bin/sh
# policy check: presets hold; a policy with a planted bug breaks the law that the bug is about, and the scenario that is
# written shows it again.
set -u
. tests/support/cli.sh

fifo="$repository/docs/examples/process/fifo.py"

# ---- What holds ----

for preset in fifo kai windtunnel; do
    windtunnel policy check $preset
    [ "$status" -eq 0 ] || fail "$preset: status $status: $(cat said.out said.err)"
    grep -q '^  holds   starts ' said.out || fail "$preset: starts is not told: $(cat said.out)"
    [ ! -e policy-check ] || fail "$preset: a folder was made, though all holds"
done
grep -q '^  holds   reclaim ' said.out || fail "reclaim: $(cat said.out)"
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

# The same seed, the same findings, by any number of processes.
windtunnel policy check windtunnel --worlds 40 --seed 5 --jobs 1
cp said.out one.out
windtunnel policy check windtunnel --worlds 40 --seed 5 --jobs 3
cmp one.out said.out || fail 'the number of processes changes what is found'

# ---- What breaks ----

breaks() { # law, what is said of it, words of the command
    law=$1
    pattern=$2
    shift 2
    rm -rf out
    windtunnel policy check "$@" --worlds "$worlds" --shrink "$shrink" --out out
    [ -z "${TIMES:-}" ] || echo "$law $1 $(date +%s)"
    [ "$status" -eq 10 ] || fail "$law, $1: status $status: $(cat said.out said.err)"
    grep -q "^  BROKEN  $law " said.out || fail "$law, $1: another law: $(cat said.out)"
    [ "$(grep -c '^  BROKEN ' said.out)" -eq 1 ] || fail "$law, $1: more than one law broke: $(cat said.out)"
    grep -q "$pattern" said.out || fail "$law, $1: it does not say '$pattern': $(cat said.out)"
    [ -s "out/$law/scenario.json" ] && [ -s "out/$law/j.jsonl" ] || fail "$law, $1: no scenario was written"
    [ -z "$(find "$(dirname "$scratch")" -maxdepth 1 -name 'windtunnel-check-*' -newer one.out -user "$(id -un)" \
        -empty 2>/dev/null)" ] || fail "$law, $1: files were left"
}

shows() { # status and words of `run --check` on the scenario, with its other options
    expected=$1
    pattern=$2
    shift 2
    windtunnel run "out/$law/scenario.json" --check "$@"
    [ "$status" -eq "$expected" ] && grep -q "$pattern" said.err ||
        fail "$law: the scenario shows: status $status: $(cat said.err)"
}

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
        self.again = mode == "loop"
        old = sorted(self.running)
        waiting = [job for job in self.ready if job in self.waiting and not self.is_hopeless(self.waiting[job])]
        if mode == "never":
            return []
        if mode == "dies" and self.cycles == 3:
            sys.exit(7)
        if mode == "hangs" and self.now >= 7200 * 10**9:
            time.sleep(1000)
        if mode == "endless" and old:  # nobody ever gets far
            self.again = True
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
breaks no_loop 'which was evicted for it' "$bad loop" --claim no_loop
breaks minimal 'which fits without that' "$bad needless" --claim minimal
breaks gang 'fewer than its minimum' "$bad parts" --claim gang
shows 3 'fewer members than must run together' --scheduler "$bad parts"
breaks strict 'which was submitted earlier' "$bad lifo" --claim strict

# Policy files.
worlds=48
shrink=60
printf '{"name": "promises", "quota": "fairshare", "blocking": "skip", "guarantees": ["gang", "reclaim"]}' >promises.json
breaks reclaim 'its queue deserves what others borrow' promises.json
printf '{"name": "hoards", "blocking": "skip", "gang": {"policy": "hoard"}, "guarantees": ["gang"]}' >hoards.json
breaks gang 'fewer than its minimum' hoards.json
breaks strict 'which was submitted earlier' priority --claim strict
breaks starts 'waits for ever' kubernetes
[ "$(wc -l <out/starts/j.jsonl)" -le 6 ] || fail "the deadlock was not made smaller: $(cat out/starts/j.jsonl)"

# Plug-ins.
compile() { # name; C on stdin
    { echo '#include "policies/plugin.h"' && cat; } >"$1.c"
    ${CC:-cc} -std=gnu11 -shared -fPIC -I"$repository" -o "$1.so" "$1.c" 2>cc.err ||
        fail "$1.c does not compile: $(cat cc.err)"
}
export_as() { # SEAM
    echo "const struct windtunnel_plugin windtunnel_plugin = {PLUGIN_FOR($1), .name = \"mine\",
        .version = \"1\", .policy = &policy};"
}
{ echo '#include <stdlib.h>
static uint64_t rank(const struct order_view *v, const struct order_config *c)
{ if (v->submit > 0) abort(); return 0; }
static const struct order_policy policy = {.name = "mine", .version = 1, .summary = "s", .rank = rank};' &&
    export_as ORDER; } | compile crashes
breaks answers "crashed in its hook 'rank': SIGABRT" ./crashes.so
{ echo 'static volatile int zero;
static uint64_t rank(const struct order_view *v, const struct order_config *c)
{ while (v->submit >= 7200 * TIME_NS_PER_S) zero++; return 0; }
static const struct order_policy policy = {.name = "mine", .version = 1, .summary = "s", .rank = rank};' &&
    export_as ORDER; } | compile spins
worlds=0
shrink=0
breaks answers 'after 1 s of CPU time' ./spins.so --plugin-timeout 1
worlds=48
shrink=60
{ echo 'static uint64_t rank(const struct order_view *v, const struct order_config *c)
{ static uint64_t n; return n++; }
static const struct order_policy policy = {.name = "mine", .version = 1, .summary = "s", .rank = rank};' &&
    export_as ORDER; } | compile guesses
breaks answers 'gave two ranks for the same job' ./guesses.so
{ echo 'static int64_t score(const struct spot *s)
{ ((struct ledger *)(uintptr_t)s->ledger)->is_kept[0] = 1; return 0; }
static const struct placement_policy policy = {.name = "mine", .summary = "s", .score = score};' &&
    export_as PLACEMENT; } | compile scribbles
breaks invariants 'a node stands in the wrong bucket' ./scribbles.so
shows 5 'a node stands in the wrong bucket'
{ echo 'static queue_id forbids(struct queue_tree *t, queue_id q, const int64_t *a) { return q; }
static const struct quota_policy policy = {.name = "mine", .summary = "s", .is_flat = true, .forbids = forbids};' &&
    export_as QUOTA; } | compile refuses
breaks starts 'waits for ever' ./refuses.so

# ---- Refused ----

refused_plainly 2 policy check fifoo <<'END'
error: there is no policy preset 'fifoo'
  `windtunnel policy list` lists them; a policy file ends in .json, a plug-in in .so, and a command holds a blank or '/'
END
refused_plainly 2 policy check fifo --claim all <<'END'
error: '--claim' must be gang, reclaim, no_loop, minimal or strict, got 'all'
END
windtunnel policy check none.json
[ "$status" -eq 4 ] || fail "a file that is not there: status $status: $(cat said.err)"
echo '{"order": ["nothing"]}' >wrong.json
windtunnel policy check wrong.json
[ "$status" -eq 2 ] && grep -q 'wrong.json:1:' said.err || fail "a wrong policy: status $status: $(cat said.err)"

finish
