#!/bin/sh
# policy check: presets hold; a policy with a planted bug breaks the law that the bug is about, and the scenario that is
# written shows it again.
set -u
. tests/support/cli.sh
. "$repository/tests/support/policy_check.sh"

# ---- What holds ----

for preset in fifo kai windtunnel; do
    windtunnel policy check $preset
    [ "$status" -eq 0 ] || fail "$preset: status $status: $(cat said.out said.err)"
    grep -q '^  holds   starts ' said.out || fail "$preset: starts is not told: $(cat said.out)"
    [ ! -e policy-check ] || fail "$preset: a folder was made, though all holds"
done
grep -q '^  holds   reclaim ' said.out || fail "reclaim: $(cat said.out)"

# The same seed, the same findings, by any number of processes.
windtunnel policy check windtunnel --worlds 40 --seed 5 --jobs 1
cp said.out one.out
windtunnel policy check windtunnel --worlds 40 --seed 5 --jobs 3
cmp one.out said.out || fail 'the number of processes changes what is found'

# ---- What breaks ----

# Policy files.
worlds=48
shrink=60
printf '{"name": "promises", "quota": "fairshare", "blocking": "skip", "guarantees": ["gang", "reclaim"]}' \
    >promises.json
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
