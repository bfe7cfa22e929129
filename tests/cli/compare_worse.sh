#!/bin/sh
# A policy that was made a fifth worse, on a mix that fills the cluster: its gate fails, and the message says by how
# much and in which decision it began.
set -u
. tests/support/cli.sh
seconds_max=300 # ten runs of two days

cat >gates.json <<'END'
{"gates": [{"metric": "queue_time_mean_s", "max_increase": "2%"}, {"metric": "allocation_ratio", "max_decrease": 0.02}]}
END
windtunnel compare --scenario h100-500x8 --set world.end=2d --set workload.synth.duration=2d --seeds 5 \
    --set policy.sharing.policy=as_asked --set policy.headroom.owners_ratio=0.064 \
    --side now --side worse:policy.headroom.gpus_ratio=0.038 --gates gates.json \
    --write json=c.json --write github=c.gh --write junit=c.xml
[ "$status" -eq 10 ] || fail "status $status, not 10: $(cat said.err said.out)"
python3 - <<'END' || fail 'the verdict does not say what the runs do'
import json, math, re
comparison = json.load(open('c.json'))
gate, other = comparison['gates']
assert (gate['state'], other['state']) == ('failed', 'passed'), comparison['gates']
now, worse = next(m['values'] for m in comparison['metrics'] if m['metric'] == 'queue_time_mean_s' and 'class' not in m
                  and len(m) == 5)
rise = sum(worse) / sum(now) - 1
assert 0.15 <= rise <= 0.23, f'it was not made a fifth worse: {rise}'
first = comparison['sides'][1]['first_difference']
assert first['decisions'][0] > 1000, first
ratio = math.exp(sum(math.log(b / a) for a, b in zip(now, worse)) / len(now)) - 1  # as it is told: the mean of ratios
amount = f'queue_time_mean_s: {100 * ratio:+.1f} % '
began = f'first decision that differs: at {first["at_s"]:g} s '
number = f'(decision {first["decisions"][0]})'
for name in ('said.out', 'c.gh', 'c.xml'):
    text = open(name).read().replace('%25', '%')
    for part in (amount, began, number):
        assert part in text, f'{name} does not say "{part}":\n{text[:2000]}'
assert re.search(r'now +starts it on .*\n +worse +holds space for it on ', open('said.out').read())
END

finish
