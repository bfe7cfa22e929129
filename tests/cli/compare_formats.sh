#!/bin/sh
# What CI systems read of a comparison: its JUnit obeys a schema in wide use (tests/cli/junit.xsd), and each annotation
# has the form that GitHub documents, whatever the gates say and the sides and files are called.
set -u
. tests/support/cli.sh
umask 022

line_end='
'
compare() { # expected status, arguments
    expected=$1
    shift
    windtunnel compare --seeds 5 --jobs 2 --write junit=c.xml --write github=c.txt "$@"
    [ "$status" -eq "$expected" ] || fail "compare $*: status $status, not $expected: $(cat said.err said.out)"
    xmllint --nonet --noout --schema "$repository/tests/cli/junit.xsd" c.xml 2>xml.err ||
        fail "compare $*: its JUnit breaks the schema: $(cat xml.err c.xml)"
}

cat >mix.json <<'END'
{"cluster": "four.json",
 "workload": {"synth": {"duration": "1d", "load_whole_gpu": 0.9, "classes": [
   {"name": "jobs", "class": "training", "share": 1, "arrivals": {"process": "poisson"},
    "sizes": [{"weight": 3, "gpus": 1}, {"weight": 1, "gpus": 8, "nodes": 1}],
    "run_time": {"distribution": "lognormal", "median": "20m", "sigma": 1}}]}},
 "policy": {"preset": "fifo"},
 "world": {"end": "1d"}}
END

# ---- Gates of every state, alone and together. ----

passed='{"metric": "queue_time_p95_s", "max": "30d"}'
failed='{"metric": "jobs_completed", "class": "training", "max_increase": -1000}'
inconclusive='{"metric": "queue_time_p95_s", "class": "training", "max_increase": "-50%"}'
undefined='{"metric": "queue_time_p95_s", "class": "inference", "max": "1m"}'

states() { # expected status; the gates, one a line; the elements in the test cases
    expected_status=$1
    printf '{"gates": [\n%s\n]}\n' "$2" >gates.json
    compare "$expected_status" --scenario mix.json -p fifo -p windtunnel --gates gates.json
    python3 - "$3" <<'END' || fail "another JUnit: $(cat c.xml)"
import sys, xml.etree.ElementTree as tree
suite = tree.parse('c.xml').getroot().find('testsuite')
cases = suite.findall('testcase')
kinds = ['passed' if case[0].tag == 'system-out' else case[0].tag for case in cases]
count = lambda kind: str(kinds.count(kind))
for case in cases:
    if not case[0].text.startswith('windtunnel: '):
        raise SystemExit('no text in %s' % case.get('name'))
    for words in 'allowed: ', '5 seeds (1 to 5)', '\nto repeat: windtunnel compare --seeds 5 --scenario mix.json -p fifo ':
        if words not in case[0].text:
            raise SystemExit('%r is not in %r' % (words, case[0].text))
    if case[0].tag == 'failure' and not case[0].text.startswith(case[0].get('message')):
        raise SystemExit('the text lacks the message')
raise SystemExit(' '.join(kinds) != sys.argv[1] or suite.get('tests') != str(len(cases)) or
                 suite.get('failures') != count('failure') or suite.get('skipped') != count('skipped') or
                 suite.get('errors') != '0')
END
}

annotations() { # what stands before the messages; standard input: one a line, the last of the verdict
    cat >expected
    sed 's/::[^:]*: .*//' c.txt >heads
    diff -u expected heads || fail "other annotations: $(cat c.txt)"
}

states 0 "$passed" 'passed'
annotations <<'END'
::notice title=windtunnel compare
END
states 10 "$failed" 'failure'
annotations <<'END'
::error title=windtunnel compare,file=gates.json,line=2
::notice title=windtunnel compare
END
states 11 "$inconclusive" 'skipped'
annotations <<'END'
::warning title=windtunnel compare,file=gates.json,line=2
::notice title=windtunnel compare
END
states 11 "$undefined" 'skipped'
grep -q 'not defined$' c.xml || fail "no reason: $(cat c.xml)"
states 10 "$passed,
$undefined,
$inconclusive,
$failed" 'passed skipped skipped failure'
annotations <<'END'
::warning title=windtunnel compare,file=gates.json,line=3
::warning title=windtunnel compare,file=gates.json,line=4
::error title=windtunnel compare,file=gates.json,line=5
::notice title=windtunnel compare
END
form='windtunnel: jobs_completed of training: [^ ]* (interval [^ ]* to [^ ]*), at most -1,000 allowed: failed'
means="means: fifo [0-9]*, windtunnel [0-9]*; 5 seeds (1 to 5)"
grep -q "^::error .*::$form.*%0A$means%0Ato repeat: .*%0Afirst decision " \
    c.txt || fail "no reason in: $(cat c.txt)"

# ---- Gates that stand in no file that a reader could open. ----

compare 10 --scenario mix.json -p fifo -p windtunnel --set "gates=[$failed]"
grep -q '^::error title=windtunnel compare::' c.txt || fail "a gate of --set has a file: $(cat c.txt)"
"$program" run mix.json --set "gates=[$failed]" --quiet --out rec >/dev/null || fail 'no record'
windtunnel compare rec rec --write github=c.txt
grep -q '^::error title=windtunnel compare::rec-2: jobs' c.txt || fail "a gate of a record has a file: $(cat c.txt)"
# A scenario's own gates stand in it.
sed "s/^ \"world\"/ \"gates\": [\n  $failed],\n&/" mix.json >gated.json
compare 10 --scenario gated.json -p fifo -p windtunnel
grep -q '^::error title=windtunnel compare,file=gated.json,line=8::' c.txt || fail "another place: $(cat c.txt)"

# ---- Runs that fail, and names that nobody should use. ----

# The name of a file, a side and a class of jobs: what both forms must escape, a control character, no UTF-8.
odd=$(printf 'a,b:c%%3A<&>"\001\377')$line_end
python3 - <<'END'
import json
base = json.load(open('mix.json'))
name = 'r,s:t%2C\nu<&>"'
base['workload']['synth']['classes'][0]['name'] = name
base['gates'] = [{'metric': 'jobs_completed', 'workload_class': name, 'max_increase': -1000}]
json.dump(base, open('odd.json', 'w'), indent=1)
END
cp odd.json "$odd.json"
line=$(grep -n '"metric"' odd.json | sed 's/:.*//')
# One side whose runs fail, and say so with the name of the trace.
trace=$(printf 'u,v:w%%0A<&>"\001')$line_end.csv
printf 'job_id,submit_s,duration_s,gpus\n1,0,60,<&">\n' >"$trace"
python3 -c '
import json, sys
json.dump({"cluster": "four.json", "workload": {"trace": sys.argv[1]}}, open("fails.json", "w"))' "$trace"
compare 10 "a$odd=$odd.json" "b$odd=$odd.json" "c$odd=fails.json"
python3 - "$odd" $((line - 1)) <<'END' || fail "annotations: $(cat c.txt)"
import re, sys
odd, line = sys.argv[1:]
form = re.compile('::(error|warning|notice) title=([^:,]*)(?:,file=([^:,]*),line=([1-9][0-9]*))?::(.+)')

def plain(text):
    for escaped, character in ('%0A', '\n'), ('%0D', '\r'), ('%3A', ':'), ('%2C', ','), ('%25', '%'):
        text = text.replace(escaped, character)
    return text

found = []
with open('c.txt', encoding='utf-8', errors='surrogateescape', newline='') as file:
    lines = file.read().split('\n')
if lines.pop() != '':
    raise SystemExit('the last line has no end')
for command in lines:
    match = form.fullmatch(command)
    if not match or re.search('%(?!25|0A|0D|3A|2C)', command) or '\r' in command:
        raise SystemExit('not a command: %r' % command)
    found.append((match[1], match[3] and plain(match[3]), match[4], plain(match[5])))
kinds = [(kind, file, at) for kind, file, at, text in found]
place = (odd + '.json', line)
if kinds[:2] != [('error', *place), ('warning', *place)] or kinds[2:7] != [('error', None, None)] * 5:
    raise SystemExit('other commands: %r' % kinds)
shown = odd.translate({1: '\u2401', 0xdcff: '\ufffd', 10: '\u240a'})
if not found[0][3].startswith('b%s: jobs_completed of r,s:t%%2C\u240au<&>": ' % shown):
    raise SystemExit('another message: %r' % found[0][3])
if not all(text.startswith("the run of 'c%s' with seed" % shown) for _, _, _, text in found[2:7]):
    raise SystemExit('another message: %r' % found[2][3])
END
python3 - "$odd" <<'END' || fail "JUnit: $(cat c.xml)"
import sys, xml.etree.ElementTree as tree
odd = sys.argv[1].translate({1: '\u2401', 0xdcff: '\ufffd', 10: '\u240a'})
cases = tree.parse('c.xml').getroot().findall('testsuite/testcase')
names = [case.get('name') for case in cases]
wanted = [side + odd + ': jobs_completed of r,s:t%2C\u240au<&>", at most -1,000 allowed' for side in 'bc']
wanted += ['c%s: seed %d' % (odd, seed) for seed in range(1, 6)]
if names != wanted:
    raise SystemExit('%r, not %r' % (names, wanted))
for case, side in zip(cases, 'bc'):  # a name is the same wherever it stands
    if not case[0].text.startswith(side + odd + ': '):
        raise SystemExit('%r: another name in %r' % (case.get('name'), case[0].text))
errors = [case.find('error') for case in cases[2:]]
raise SystemExit(not all('u,v:w%0A<&>"' in error.text for error in errors))
END
finish
