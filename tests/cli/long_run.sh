#!/bin/sh
# One long run: means of the steady state with intervals by batch means, in report --steady and in comparisons of one
# run of each side, against a plain computation from the record's files.
set -u
. tests/support/cli.sh
command -v python3 >/dev/null || exit 77

# Some jobs never fit, some still wait at the end, and there is a warm-up of the scenario's own.
# Each awk has a rand() of its own, so the numbers are drawn here (Park and Miller, CACM 31, 1988).
awk 'function draw() { state = state * 16807 % 2147483647; return state / 2147483647 }
BEGIN {
    state = 8
    print "job_id,submit_s,duration_s,gpus,class"
    for (i = 1; i <= 9000; i++) {
        t += -log(1 - draw()) * 66
        last = is_last || t < 343000 ? 0 : 120 # it waits for a nearly empty cluster when the run ends
        is_last = is_last || last
        printf "%d,%.3f,%d,%d,%s\n", i, t, 300 + 3000 * draw(), i % 700 == 0 ? 800 : last ? last : 2 ^ int(4 * draw()),
            draw() < 0.1 ? "inference" : "training"
    }
}' >trace.csv
cat >long.json <<'END'
{"cluster": {"pools": [{"name": "h100", "nodes": 16, "gpus_per_node": 8, "gpu_model": "h100-80gb"}]},
 "workload": {"trace": "trace.csv"}, "policy": {"preset": "fifo"},
 "world": {"warmup": "6h", "end": "4d"}}
END

# ---- The plain computation. ----

cat >oracle.py <<'END'
import csv, io, json, math, statistics, subprocess, sys

T = {9: 2.2621571628540993, 19: 2.093024054408263, 29: 2.045229642132703}  # R: qt(0.975, df)
Z = 1.2815515655446004  # R: qnorm(0.9)

def rows(folder, name):
    text = subprocess.run(['zstd', '-dcq', '%s/%s.csv.zst' % (folder, name)], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    return list(csv.DictReader(io.StringIO(text)))

def warmup(values):
    means = [statistics.fmean(values[i:i + 5]) for i in range(0, len(values) - len(values) % 5, 5)]
    limit, best = len(means) // 2, None
    for d in range(limit + 1):
        kept = means[d:]
        middle = statistics.fmean(kept) if kept else 0
        error = sum((z - middle) ** 2 for z in kept) / len(kept) ** 2 if kept else 0
        if best is None or error < best[0]:
            best = error, d
    return best[1] * 5, best[1] < limit

def cut(values, k):
    """The size of a batch, their mean, the squares and cubes around it, the autocorrelation."""
    size = len(values) // k
    used = values[len(values) - k * size:]
    means = [statistics.fmean(used[i * size:(i + 1) * size]) for i in range(k)]
    middle = statistics.fmean(means)
    squares = sum((m - middle) ** 2 for m in means)
    steps = sum((b - a) ** 2 for a, b in zip(means, means[1:]))
    return size, middle, squares, sum((m - middle) ** 3 for m in means), 1 - steps / (2 * squares)

def growth(rho):
    return (1 + rho) / (1 - rho) if rho > 0 else 1

def is_apart(front, rest):
    if len(rest) < 100:
        return True
    size, _, squares, _, rho = cut(rest, 20)
    one = squares / 19 * size * growth(min(rho, 0.9))
    return abs(statistics.fmean(front) - statistics.fmean(rest)) > 6 * math.sqrt(one / len(front) + one / len(rest))

def end(t, bend):
    """Willink's quantile."""
    root = 1 + 6 * bend * (t - bend)
    return (math.copysign(abs(root) ** (1 / 3), root) - 1) / (2 * bend)

def steady(values):
    """What a member of the JSON says of a series: mean, low, high, values before the first that is used, batches."""
    first, is_found = warmup(values)
    if is_found and first > 0 and not is_apart(values[:first], values[first:]):
        first = 0
    values = values[first:]
    if len(values) < 100:
        return statistics.fmean(values), None, None, first, 0
    for k in (30, 20, 10):
        size, middle, squares, cubes, rho = cut(values, k)
        if rho * math.sqrt((k * k - 1) / (k - 2)) <= Z:
            break
    error = math.sqrt(squares / (k - 1) / k * growth(rho))
    bend = cubes / k / (squares / k) ** 1.5 * math.sqrt(k * (k - 1)) / (k - 2) / (6 * math.sqrt(k))
    is_shown = is_found and rho * math.sqrt((k * k - 1) / (k - 2)) <= Z
    return (middle, middle - end(T[k - 1], bend) * error if is_shown else None,
            middle - end(-T[k - 1], bend) * error if is_shown else None,
            first + len(values) - k * size, k)

def close(a, b):
    return a is None and b is None or a is not None and b is not None and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)

intervals = 0

def check(what, told, values):
    global intervals
    mean, low, high, first, batches = steady(values)
    assert close(told['mean'], mean) and close(told['low'], low) and close(told['high'], high), (what, told, mean, low, high)
    assert (told['warmup'], told['batches']) == (first, batches), (what, told, first, batches)
    assert close(told['mean_all'], statistics.fmean(values)), what
    assert (told['reason'] is None) == (low is not None), what
    intervals += low is not None

def jobs_of(folder):
    return sorted((job for job in rows(folder, 'jobs') if job['is_counted'] == '1'), key=lambda job: int(job['job_id']))

def check_report(folder, gpus):
    told = json.loads(subprocess.run([sys.argv[1], 'report', folder, '--steady', '--json'], stdout=subprocess.PIPE,
                                     check=True).stdout)
    metrics, told = told['metrics'], told['steady']
    jobs = jobs_of(folder)
    for kind in (None, 'training', 'inference'):
        own = [job for job in jobs if kind in (None, job['class'])]
        waiting = [job for job in own if job['state'] != 'rejected']
        of = told['queue_time_mean_s'] if kind is None else told['queue_time_mean_s_by_class'][kind]
        check((folder, kind), of, [float(job['wait_s']) for job in waiting])
        assert of['jobs'] == len(waiting) and of['left_out'] == len(own) - len(waiting)
        assert of['pending'] == sum(job['start_s'] == '' for job in waiting)
        assert close(of['from_s'], float(waiting[of['warmup']]['submit_s']))
    assert told['queue_time_mean_s']['left_out'] > 5 and told['queue_time_mean_s']['pending'] > 0
    assert set(told['queue_time_mean_s_by_class']) == {'training', 'inference'}
    assert math.isclose(told['queue_time_mean_s']['mean_all'], metrics['queue_time_mean_s']['value'], rel_tol=1e-9)
    at = {float(row['time_s']): float(row['allocated_gpu_s']) for row in rows(folder, 'timeline')}
    # world.end does not lie beyond the last submission, so GPU time is measured up to it
    values = [(at[t + 600] - at[t]) / 600 / gpus for t in range(6 * 3600, 4 * 86400, 600)]
    check((folder, 'allocation'), told['allocation_ratio'], values)
    assert told['allocation_ratio']['steps'] == len(values) and told['allocation_ratio']['step_s'] == 600

def check_comparison(file, base, candidate, side):
    d = json.load(open(file))
    told = d['sides'][side]['one_long_run']
    assert d['is_exact'] and d['seeds'] == 1
    a, b = jobs_of(base), jobs_of(candidate)
    assert [job['job_id'] for job in a] == [job['job_id'] for job in b]
    for kind in (None, 'training', 'inference'):
        both = [(x, y) for x, y in zip(a, b) if kind in (None, x['class'])]
        pairs = [(x, y) for x, y in both if 'rejected' not in (x['state'], y['state'])]
        of = told['queue_time_difference_s'] if kind is None else told['by_class'][kind]
        check((file, kind), of, [float(y['wait_s']) - float(x['wait_s']) for x, y in pairs])
        assert of['jobs'] == len(pairs) and of['left_out'] == len(both) - len(pairs)
        assert of['pending'] == sum('' in (x['start_s'], y['start_s']) for x, y in pairs)
        assert close(of['from_s'], float(pairs[of['warmup']][0]['submit_s']))
        if 'rejected' not in file:
            row = [m for m in d['metrics'] if m['metric'] == 'queue_time_mean_s' and m.get('class') == kind and
                   set(m) <= {'metric', 'class', 'unit', 'better', 'values', 'differences'}][0]
            assert math.isclose(of['mean_all'], row['differences'][side - 1]['difference'], rel_tol=1e-6), (of, row)

for folder in ('fifo', 'skip', 'fewer'):
    check_report(folder, 120 if folder == 'fewer' else 128)
check_comparison('c.json', 'fifo', 'skip', 1)
check_comparison('c.json', 'fifo', 'fewer', 2)
check_comparison('rejected.json', 'fifo', 'limited', 1)
assert json.load(open('rejected.json'))['sides'][1]['one_long_run']['queue_time_difference_s']['left_out'] > 50
a, b = (json.load(open(file))['sides'] for file in ('c.json', 'r.json'))
assert a[1]['one_long_run'] == b[1]['one_long_run'], 'records and runs differ'
assert intervals > 10, intervals
END
run() { # folder, arguments
    folder=$1
    shift
    windtunnel run long.json --quiet --out "$folder" "$@"
    [ "$status" -eq 0 ] || fail "$folder: $(cat said.err)"
}
run fifo
run skip --set policy.blocking=skip
run fewer --set cluster.pools.h100.nodes=15
run limited --set world.queue_limit=15
windtunnel compare --exact --scenario long.json --side fifo --side skip:policy.blocking=skip \
    --side fewer:cluster.pools.h100.nodes=15 --write json=c.json
cp said.out compared.out
windtunnel compare fifo limited --write json=rejected.json
windtunnel compare fifo skip --write json=r.json
python3 oracle.py "$program" >oracle.log 2>&1 || fail "the plain computation: $(tail -n 3 oracle.log)"

# ---- In words. ----

says compared.out '^3 sides, this replay alone, n = 1; the base is fifo$'
says compared.out '^  One long run: the queue time of each job less that of the base, by batch means$'
says compared.out '^    - all jobs  *+[0-9ms ]* (+.* to +.*), [123]0 batches of [0-9,]* jobs from '
says compared.out '^    left out: [0-9]* (rejected, or on one side only)$'
says compared.out '^    had not started at the end: [0-9]* (their wait so far counts)$'
windtunnel report fifo --steady
says said.out '^Steady state: means after the warm-up, 95 % intervals by batch means$'
says said.out '^  queue time, training .*([0-9hms. ]* to .*), [123]0 batches of [0-9,]* jobs from .* on; without'
says said.out '^  allocation  .* %  *([0-9.]* % to [0-9.]* %), [123]0 batches of '
windtunnel report fifo
grep -q 'Steady state' said.out && fail 'a report tells the steady state without --steady'
windtunnel compare --exact --scenario long.json --side a --side b --format markdown
says said.out '^| `=` training | .* equal for each of [0-9,]* jobs |$'

# ---- Where there is none. ----

windtunnel compare --exact --scenario small.json --side all --side slow:world.scheduler_period_s=40
says said.out '^    ? training    .* (no interval: 3 jobs after the warm-up, and 100 are needed)$'
windtunnel run small.json --quiet --out short
windtunnel report short --steady
says said.out '^  queue time, training .* (no interval: 3 jobs after the warm-up, and 100 are needed)$'
sed 's/, "end": "4d"//' long.json >whole.json
windtunnel compare --exact --scenario whole.json --side all --side overloaded:cluster.pools.h100.nodes=8
says said.out '^    ? all jobs  .* (no interval: the warm-up has no end in the first half of the [0-9],[0-9]* jobs)$'
windtunnel compare --exact --scenario long.json --side a --side b --shake 1m --seeds 2 --write json=s.json
grep -q 'One long run' said.out && fail 'two seeds, and one long run'
grep -q 'one_long_run' s.json && fail 'two seeds, and one long run as JSON'
windtunnel compare --exact --scenario long.json --side a --save-baseline base.json
windtunnel compare --exact --scenario long.json --side new:policy.blocking=skip --baseline base.json --write json=b.json
says said.out '^  not known: baseline: a baseline has no queue times of single jobs$'
says b.json '"one_long_run": {"unknown": "baseline: a baseline has no queue times of single jobs"}'
windtunnel compare fifo skip --gates /dev/stdin <<'END'
{"gates": [{"metric": "queue_time_mean_s", "max_increase": "1%"}]}
END
says said.out 'this replay alone, n = 1'
windtunnel run long.json --set workload.duration_scale=0.9 --quiet --out other
windtunnel compare fifo other
says said.out '^  not known: the sides have other jobs$'
finish
