#!/bin/sh
# Blocks of a trace drawn with replacement: what a seed gives is whole weeks or whole users of the trace, every draw is
# told apart, on average it is as much as the trace has; it is the same again; comparisons name it; what is refused.
set -u
. tests/support/cli.sh
seconds_max=120

# 400 jobs over 39 days, more and more of them: five weeks and four days that stay.
awk 'BEGIN {
    srand(5)
    print "job_id,submit_s,duration_s,gpus,queue,user,array,array_max,after"
    for (i = 1; i <= 400; i++) {
        user = i % 19 == 0 ? "" : "u" int(12 * rand() * rand())
        submit = i == 1 ? 50 : 50 + int(39 * 86400 * sqrt((i - 1 + rand()) / 400))
        printf "%d,%d,%d,%d,q%d,%s,%s,%s,%s\n", i, submit, 600 + 20000 * rand(), 2 ^ int(4 * rand()), i % 3, user,
            i % 7 < 2 ? "a" int(i / 21) : "", i % 7 < 2 ? 1 : "", i % 5 == 0 ? i - 3 ";ok:" i - 1 : ""
    }
}' >trace.csv
cat >replay.json <<'END'
{"cluster": "four.json", "workload": {"trace": "trace.csv"}, "policy": {"preset": "windtunnel"}}
END

# ---- The law, from the frozen jobs of many seeds. ----

cat >oracle.py <<'END'
import json, subprocess, sys

program, kind = sys.argv[1:3]
WEEK, WEEKS, SEEDS = 7 * 86400, 5, 40

def freeze(*arguments):
    subprocess.run([program, 'trace', 'freeze', 'replay.json', '--out', 'jobs.jsonl', *arguments], check=True,
                   stderr=subprocess.DEVNULL)
    lines = [json.loads(line) for line in open('jobs.jsonl')]
    return lines[1:]

def block(job):
    if kind == 'users':
        return job.get('user')
    week = int(job['submit_s'] // WEEK)
    return week if week < WEEKS else None  # None: stays

def split(name):
    name, _, copy = str(name).partition('#')
    return name, int(copy or 1)

def plain(job):  # what does not depend on the draw
    return {k: v for k, v in job.items() if k not in ('job_id', 'submit_s', 'user', 'after', 'array')}

def afters(job):
    return [after.split(':') if ':' in after else ['', after] for after in job.get('after', '').split(';') if after]

trace = freeze()
by_id = {str(job['job_id']): job for job in trace}
sizes = {}
for job in trace:
    sizes[block(job)] = sizes.get(block(job), 0) + 1
drawn_blocks = [b for b in sizes if b is not None]
B = len(drawn_blocks)
assert B == (WEEKS if kind == 'weeks' else 12) and None in sizes, sizes
counts, inside = [], 0
for seed in range(1, SEEDS + 1):
    jobs = freeze('--set', 'workload.blocks="%s"' % kind, '--seed', str(seed))
    if seed == 3:
        assert jobs == freeze('--set', 'workload.blocks="%s"' % kind, '--seed', '3'), 'another at the second time'
    counts.append(len(jobs))
    times = [job['submit_s'] for job in jobs]
    assert times == sorted(times)
    assert len({job['job_id'] for job in jobs}) == len(jobs), 'two jobs have one id'
    draws = {}  # (block, copy) -> {id: job}
    for job in jobs:
        name, copy = split(job['job_id'])
        old = by_id[name]
        assert plain(job) == plain(old), (job, old)
        draws.setdefault((block(old), copy), {})[name] = job
        if kind == 'users' and 'user' in old:
            assert split(job['user']) == (old['user'], copy), job
        else:
            assert job.get('user') == old.get('user')
    shifts, numbers = {}, []
    for (which, copy), own in draws.items():
        assert len(own) == sizes[which], 'a part of a block'
        assert copy == 1 or (which, copy - 1) in draws, 'a copy is left out'
        by = {round(job['submit_s'] - by_id[name]['submit_s'], 6) for name, job in own.items()}
        assert len(by) == 1, 'a block is not moved as a whole'
        shifts[which, copy] = by.pop()
        for name, job in own.items():  # dependencies within the block stay, of the same copy
            want = [[kind_, str(own[other]['job_id'])] for kind_, other in afters(by_id[name]) if other in own]
            assert afters(job) == want, (job, want)
            inside += len(want)
        arrays = {}
        for name, job in own.items():
            arrays.setdefault(by_id[name].get('array'), set()).add(job.get('array'))
        assert all(len(of) == 1 for of in arrays.values()), 'an array is torn'
        numbers += [number for of in arrays.values() for number in of if number is not None]
    assert numbers and len(numbers) == len(set(numbers)), 'two draws share an array'
    assert sum(1 for which, _ in draws if which is not None) == B, 'another number of draws'
    assert shifts.get((None, 1), 0) == 0 and (None, 2) not in shifts
    if kind == 'weeks':
        slots = sorted(which + round(by / WEEK) for (which, _), by in shifts.items() if which is not None)
        assert slots == list(range(WEEKS)) and all(by % WEEK == 0 for by in shifts.values()), slots
    else:
        assert not any(shifts.values())
assert inside > 100
mean = sum(counts) / SEEDS
size = sum(sizes[b] for b in drawn_blocks) / B
error = (sum((sizes[b] - size) ** 2 for b in drawn_blocks) / SEEDS) ** 0.5
assert len(set(counts)) > 5 and abs(mean - len(trace)) < 4 * error, (mean, len(trace), error)
END
for kind in weeks users; do
    python3 oracle.py "$program" $kind >oracle.log 2>&1 || fail "$kind: $(tail -n 3 oracle.log)"
done

# ---- A run has what was frozen, with the same fingerprint. ----

told() { # key, record folder
    sed -n 's/^ *"'"$1"'": "\([0-9a-f]*\)",$/\1/p' "$2/result.json"
}
for kind in weeks users; do
    "$program" run replay.json --set "workload.blocks=\"$kind\"" --seed 4 --quiet --out $kind >/dev/null
    "$program" trace freeze replay.json --set "workload.blocks=\"$kind\"" --seed 4 --out $kind.jsonl 2>/dev/null
    "$program" run replay.json --trace $kind.jsonl --seed 4 --quiet --out $kind.frozen >/dev/null
    for key in arrivals fingerprint; do
        [ -n "$(told $key $kind)" ] || fail "$kind: no $key"
        [ "$(told $key $kind)" = "$(told $key $kind.frozen)" ] || fail "$kind: the frozen trace has another $key"
    done
done
[ "$(told arrivals weeks)" != "$(told arrivals users)" ] || fail 'weeks and users give the same jobs'
# Blocks of blocks: names have one '#' more, so each is still told apart.
"$program" trace freeze replay.json --trace users.jsonl --set 'workload.blocks="users"' --out more.jsonl 2>/dev/null
grep -q '"user":"u[0-9]*##2"' more.jsonl || fail 'no copy of a user in blocks of blocks'
[ -z "$(grep -o '"job_id":[^,]*' more.jsonl | sort | uniq -d)" ] || fail 'blocks of blocks: two jobs have one id'
# Standard input is read once, and kept.
"$program" run replay.json --trace - --set 'workload.blocks="weeks"' --seed 4 --quiet --out piped <trace.csv >/dev/null
[ "$(told arrivals piped)" = "$(told arrivals weeks)" ] || fail 'standard input gives other jobs than the file'

# ---- A table of communication names the users of the trace, and means their copies too. ----

cat >rows.json <<'END'
{"cluster": "four.json", "policy": {"preset": "fifo"},
 "workload": {"trace": "trace.csv", "communication": [{"user": "u0", "gpus_min": 2, "sensitivity": "all_reduce_bound"}]}}
END
for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
    "$program" trace freeze rows.json --set 'workload.blocks="users"' --seed $seed --out rows.$seed.jsonl 2>/dev/null
done
python3 - <<'END' || fail 'a row for a user is not for its copies'
import json
copies = 0
for seed in range(1, 13):
    for line in list(open('rows.%d.jsonl' % seed))[1:]:
        job = json.loads(line)
        gpus = sum(group.get('gpus', 0) * group['count'] for group in job['groups'])
        is_row = job.get('user', '').split('#')[0] == 'u0' and gpus > 1
        assert ('sensitivity' in job) == is_row, job
        copies += is_row and '#' in job['user']
assert copies > 0
END

# ---- Comparisons. ----

windtunnel compare --scenario replay.json --side a --side b --blocks weeks --seeds 4 --write json=c.json
[ "$status" -eq 0 ] || fail "compare: $(cat said.err)"
says said.out '^2 sides, 4 seeds (1 to 4), weeks resampled; the base is a$'
is_silent said.err 'drawn blocks'
python3 - <<'END' || fail 'a comparison of drawn weeks'
import json
d = json.load(open('c.json'))
assert d['blocks'] == 'weeks' and d['shake'] is None and not d['is_exact']
arrivals = [[run['arrivals'] for run in side['runs']] for side in d['sides']]
assert arrivals[0] == arrivals[1] and len(set(arrivals[0])) == 4
assert {x['mark'] for m in d['metrics'] for x in m['differences']} <= {'=', '?'}
END
windtunnel compare --scenario replay.json --side a --side b --blocks users --shake 1h --seeds 2
says said.out '^2 sides, 2 seeds (1 to 2) of a shaken trace (arrivals by up to 1h 00m), users resampled; the base'

# ---- What is refused. ----

windtunnel compare --scenario replay.json --side a --side b --blocks days
said 2 'blocks of days' <<'END'
error: '--blocks' wants users or weeks, got 'days'
END
windtunnel compare weeks users --blocks weeks
said 2 'blocks of records' <<'END'
error: '--blocks' is for scenarios, and all sides are records
END
refused 2 run replay.json --set 'workload.blocks="days"' <<'END'
error: --set workload.blocks: 'blocks' must be one of 'users', 'weeks'; got "days"
  at /workload/blocks
END
refused 2 run replay.json --set 'workload.blocks="weeks"' --set workload.fill.load=1 <<'END'
error: --set workload.blocks: 'blocks' cannot stand beside 'fill', which uses no times of the trace
  at /workload/blocks
END
refused 3 run small.json --set 'workload.blocks="weeks"' <<'END'
error: small.csv cannot be drawn by weeks: it has 0 whole weeks, and at least 2 are needed
  use 'workload.blocks': "users", or 'workload.shake'
END
cut -d, -f1-5 small.csv >nobody.csv
refused 3 run small.json --trace nobody.csv --set 'workload.blocks="users"' <<'END'
error: nobody.csv cannot be drawn by users: it names none
  use 'workload.blocks': "weeks", or 'workload.shake'
END
finish
