#!/bin/sh
# compare --base-dir: the laws of studies/comparison/proposal.h, on two folders.
#  - Each side has its own cluster, queues, policy, plug-ins and world; both run the same jobs, of either side.
#  - The gates, seeds and alpha of the base judge; gates that it does not have are shown, and judge nothing.
#  - What differs is told by path and value, what does not makes no run, and a folder is not compared with itself.
set -u
. tests/support/cli.sh

mkdir base
for folder in . base; do
    cat >$folder/scenario.json <<'END'
{"cluster": "cluster.json", "queues": [{"name": "red", "quota_gpus": 16}, {"name": "blue", "quota_gpus": 16}],
 "workload": {"trace": "jobs.csv"}, "policy": {"file": "policy.json"}}
END
    echo '{"pools": [{"name": "h100", "nodes": 4, "gpus_per_node": 8}]}' >$folder/cluster.json
    echo '{"quota": "limits", "order": ["fifo"], "blocking": "skip"}' >$folder/policy.json
    echo '{"gates": [{"metric": "queue_time_mean_s", "queue": "red", "max_increase": "1m"}]}' >$folder/gates.json
    awk 'BEGIN {
        print "job_id,submit_s,duration_s,gpus,queue,user"
        for (i = 1; i <= 60; i++) print i "," i * 300 ",3000,1," (i % 2 ? "red" : "blue") ",u" i % 3
    }' >$folder/jobs.csv
done
reset() {
    for file in scenario.json cluster.json policy.json gates.json jobs.csv; do
        cp base/$file .
    done
}
change() { # status, more options; the output is in said.out, all of it in change.json
    expected=$1
    shift
    windtunnel compare --base-dir base --scenario scenario.json --gates gates.json --no-why --quiet \
        --write json=change.json "$@"
    [ "$status" -eq "$expected" ] || fail "$*: status $status, not $expected: $(cat said.out said.err)"
}
ask() { # expression of d, its value
    python3 -c "
import json, sys
d = json.load(open('change.json'))
if ($1) != ($2):
    sys.exit('%s is %r, not %s' % (sys.argv[1], $1, sys.argv[2]))" "$1" "$2" || fail "in $(head -c 600 change.json)"
}

# ---- The same folder, and folders that do not differ. ----

ln -s . link
for folder in . link "$PWD"; do
    windtunnel compare --base-dir "$folder" --scenario scenario.json
    said 2 "--base-dir $folder" <<END
error: the folder of the base, '$folder', is that of the change
  check the merge base out elsewhere: git worktree add base "\$(git merge-base main HEAD)"
END
done
windtunnel compare --base-dir nowhere --scenario scenario.json
said 2 'no folder' <<'END'
error: there is no folder 'nowhere'
END
change 0
says said.out '^The change changes nothing that is read$'
says said.out '^Verdict: passed: nothing differs between the sides, and nothing was run$'
says said.out '^  cluster.json  *cluster  *[0-9a-f]\{16\}  *the same$'
ask 'd["is_same"], d["verdict"], d["change"]["lines"], len(d["sides"][0]["runs"])' '(True, "passed", [], 0)'
ask 'sorted((i["role"], i["path"], i["base"] == i["change"]) for i in d["change"]["inputs"])' \
    '[(n, n + ".json", True) for n in ("cluster", "gates", "policy", "scenario")] + [("trace", "jobs.csv", True)]'
for words in '{"$comment": "x", ' '{"name": "p", ' '{"summary": "words", ' '{  '; do
    sed -i "1s/^{/$words/" policy.json
    change 0
    says said.out '^  policy.json: comments or form alone$'
    reset
done

# ---- What differs is told, and judged by a run of each side as it is. ----

# The base as it is told alone, and the change as it is told alone, have these values: an oracle of the sides.
mean_of() { # folder; the mean queue time of red
    (cd "$1" && "$program" run scenario.json --quiet --out record >/dev/null &&
        python3 -c 'import json
print(json.load(open("record/result.json"))["by"]["queue"]["red"]["queue_time_mean_s"]["value"])')
    rm -rf "$1/record"
}
exact=$("$program" help compare | grep -o -- '--exact' | head -n 1)
each() { # file, edit, its line, status
    sed -i "$2" "$1"
    # shellcheck disable=SC2086 # an option, or nothing
    change "$4" $exact
    grep -qxF "  $3" said.out || fail "no line '$3': $(cat said.out)"
    ask 'd["gates"][0]["base"], d["gates"][0]["candidate"]' "($(mean_of base), $(mean_of .))"
    ask '[i["path"] for i in d["change"]["inputs"] if i["base"] != i["change"]]' "['$1']"
    reset
}
each scenario.json 's/"red", "quota_gpus": 16/"red", "quota_gpus": 3/' 'queues.red.quota_gpus: 16 → 3' 10
each cluster.json 's/"nodes": 4/"nodes": 1/' 'cluster.pools.h100.nodes: 4 → 1' 10
each policy.json 's/"limits"/"none"/' 'policy.quota: "limits" → "none"' 0
each scenario.json 's/^{/{"world": {"scheduler_period_s": 700}, /' 'world: not set → {"scheduler_period_s": 700}' 10

# ---- The jobs of either side. ----

sed -i '/^[0-9]*3,/d' jobs.csv
change 0
trace='"jobs.csv (digest [0-9a-f]*)"'
says said.out "^  the jobs: workload.trace: $trace → $trace; both sides run those of the change\$"
sed -i 's/"red", "quota_gpus": 16/"red", "quota_gpus": 3/' scenario.json
"$program" run scenario.json --quiet --out own >/dev/null
"$program" run base/scenario.json --quiet --out old >/dev/null
for side in change base; do
    change 10 --jobs-of $side --set world.warmup=0 --seeds 1
    says said.out "^  the jobs: .*; both sides run those of the $side\$"
    ask 'd["change"]["jobs_of"]' "'$side'"
    jobs=60
    [ $side = base ] || jobs=$(($(wc -l <jobs.csv) - 1))
    ask '[m["values"] for m in d["metrics"] if m["metric"] == "jobs_submitted" and len(m) == 5][0]' "[[$jobs], [$jobs]]"
done
reset
# A load that is relative to the cluster is that of the cluster of the jobs.
for folder in . base; do
    sed -i 's/"workload": {"trace": "jobs.csv"}/"workload": {"trace": "jobs.csv", "load": 0.5}/' $folder/scenario.json
done
sed -i 's/"nodes": 4/"nodes": 6/' cluster.json
for side in change base; do
    change 0 --jobs-of $side --seeds 1
    says said.out '^  the jobs: workload.load_gpus: 32, of the cluster → 48, of the cluster; '
    ask 'd["sides"][0]["runs"][0]["arrivals"] == d["sides"][1]["runs"][0]["arrivals"]' True
    ask 'any("other jobs" in w for w in d["warnings"])' False
done
sed -i 's/, "load": 0.5//' base/scenario.json
reset

# ---- Who judges. ----

sed -i 's/"red", "quota_gpus": 16/"red", "quota_gpus": 3/' scenario.json
sed -i 's/"1m"/"90%"/' gates.json
change 10
rule='gate of queue_time_mean_s of red: at most +1m 00s allowed'
says said.out "^  $rule → at most +90 % allowed; the rules of the base judge\$"
says said.out '^  change: queue_time_mean_s of red: .*, at most +1m 00s allowed: failed$'
rm gates.json
change 10
says said.out "^  $rule → not set; the rules of the base judge\$"
echo '{"gates": [{"metric": "queue_time_mean_s", "queue": "red", "max_increase": "1m"}], "alpha": 0.2}' >gates.json
sed -i 's/^{/{"alpha": 0.01, "seeds": 3, /' base/gates.json
change 10
says said.out '^  alpha: 0.01 → 0.2; the rules of the base judge$'
says said.out '^  seeds: 3 → not set; the rules of the base judge$'
ask 'd["alpha"]' 0.01
mv base/gates.json kept.json
echo '[{"metric": "jobs_completed", "max_decrease": 50}]' >base/gates.json
change 0
says said.out '^Verdict: passed: the gate$'
says said.out '^  new, judges nothing: change: queue_time_mean_s of red: .*: failed$'
ask 'len(d["gates"]), len(d["new_gates"]), d["new_gates"][0]["state"]' '(1, 1, "failed")'
rm base/gates.json
change 0
says said.out '^Verdict: no gates but new ones, which judge nothing$'
mv kept.json base/gates.json
# Gates that stand in the scenarios.
reset
for folder in . base; do
    gate='{"metric": "queue_time_mean_s", "queue": "red", "max_increase": "1m"}'
    sed -i "s/^{/{\"gates\": [$gate], /" $folder/scenario.json
done
sed -i 's/"red", "quota_gpus": 16/"red", "quota_gpus": 3/; s/"1m"/"9h"/' scenario.json
windtunnel compare --base-dir base --scenario scenario.json --no-why
[ "$status" -eq 10 ] || fail "gates of scenarios: status $status: $(cat said.out said.err)"
says said.out "^  $rule → at most +9h 00m allowed; the rules of the base judge\$"

# ---- What cannot be asked. ----

for option in --policy=fifo --trace=jobs.csv --cluster=cluster.json --plugin=x.so --side=x --baseline=b --rerun-base=w \
    --save-baseline=b --fork-at=1d; do
    windtunnel compare --base-dir base --scenario scenario.json $option
    [ "$status" -eq 2 ] || fail "$option with --base-dir: status $status"
done
for arguments in '--base-dir base' '--base-dir base --scenario /scenario.json' '--base-dir base scenario.json' \
    '--scenario scenario.json --policy fifo --policy kai --jobs-of base' \
    '--base-dir base --scenario scenario.json --jobs-of both' '--base-dir base --scenario scenario.json --time 1ms'; do
    # shellcheck disable=SC2086 # a list of words
    windtunnel compare $arguments
    [ "$status" -eq 2 ] && grep -q '^error: ' said.err || fail "$arguments: status $status: $(cat said.err)"
done

# ---- --time: the last look that is whole, and what is known then. ----

reset
cat >mix.json <<'END'
{"cluster": {"pools": [{"nodes": 4, "gpus_per_node": 8}]},
 "workload": {"load_gpus": 32, "synth": {"jobs": 300, "load_whole_gpu": 1.2, "classes": [{"name": "t", "class": "training", "share": 1,
   "arrivals": {"process": "poisson"}, "sizes": [{"weight": 1, "gpus": 1}],
   "run_time": {"distribution": "exponential", "mean": "1h"}}]}}}
END
if pkg-config --exists jansson; then
    # A run of the second look tells the comparison that its time is up, as its timer would, and waits for ever.
    for seed in 1 2 3 4 5 6 7 8; do
        "$program" run mix.json --seed $seed --quiet --out record >/dev/null
        zstd -dc record/jobs.csv.zst | python3 -c '
import csv, decimal, sys
print(int(decimal.Decimal(list(csv.DictReader(sys.stdin))[5]["submit_s"]) * 1000000000))' >submit
    done
    cat >waits.c <<END
#include "policies/plugin.h"
#include <signal.h>
#include <unistd.h>
static uint64_t rank(const struct order_view *v, const struct order_config *c)
{
    (void)c;
    if (v->submit == INT64_C($(cat submit)))
        kill(getppid(), SIGALRM), pause();
    return (uint64_t)v->submit * 2654435761u >> 32; /* any order, whose mean wait is that of the first come */
}
static const struct order_policy policy = {.name = "mine", .version = 1, .summary = "s", .rank = rank};
const struct windtunnel_plugin windtunnel_plugin = {PLUGIN_FOR(ORDER), .name = "test", .version = "1",
                                                    .policy = &policy};
END
    umask 022
    # shellcheck disable=SC2046 # a list of flags
    "${CC:-cc}" -std=gnu11 -w -O1 -I"$repository" $(pkg-config --cflags jansson) -fPIC -shared -o waits.so waits.c ||
        fail 'waits.c does not compile'
    chmod go-w waits.so .
    echo '[{"metric": "queue_time_mean_s", "max_increase": "0.001%"}]' >gates.json
    windtunnel compare --scenario mix.json --plugin waits.so --side a --side 'b:policy.order=["mine"]' \
        --gates gates.json --time 1h --no-why --quiet --write json=change.json
    [ "$status" -eq 11 ] || fail "--time: status $status: $(cat said.out said.err)"
    says said.out '^Verdict: inconclusive: '
    says said.out 'the time was up after 5 seeds$'
    says said.out '^2 sides, 5 seeds (1 to 5), look 1 of at most 4'
    ask 'd["is_time_up"], d["is_partial"], d["is_complete"], d["seeds"]' '(True, False, False, 5)'
fi
finish
