#!/bin/sh
# Law: each format has one escaping for the names in it, so a name is a name in every output: it ends no line, begins no
# row, and holds no character that controls a terminal or that the format cannot hold.  Names of all kinds are written
# in all formats and read back by other programs; the counts of rows are equal.
set -u
. tests/support/cli.sh

command -v python3 >/dev/null || {
    echo 'skipped: no python3'
    exit 77
}

# Names of jobs, users, queues, classes, models, pools, nodes, sides and of the policy.
python3 - <<'END' || fail 'no inputs'
import json
evil = ['q\n9 0 0 100 8 -1 -1 8 -1 -1 1 1 1 -1 1 -1 -1 -1', 'cr\rlf\r\nx', 'quo"te\'s', 'tab\tbell\x07esc\x1b[2J', 'bar|comma,semi;',
        '<b>&amp;</b>', '#comment', ';comment', '=1+1', '\x7f\u009b31m', 'c\u00f6l\u00f6r \U0001f600', 'back\\slash\\', ' blank ', '"', ',,',
        '\u2028line', '--', "'; DROP TABLE jobs; --", '%0A::error::x', '\ufffe\uffff']
json.dump({'name': evil[0], 'pools': [{'name': evil[4], 'nodes': 4, 'gpus_per_node': 8, 'gpu_model': 'h100-80gb',
           'node_names': 'n%d'}]}, open('c.json', 'w'))
with open('evil.jsonl', 'w') as out:
    for i, name in enumerate(evil):
        print(json.dumps({'job_id': name, 'submit_s': i, 'duration_s': 100, 'gpus': 1, 'queue': name, 'user': name,
                          'workload_class': name}), file=out)
json.dump({'name': evil[5], 'cluster': 'c.json', 'workload': {'trace': 'evil.jsonl'}, 'policy': {'preset': 'fifo', 'set':
           {'name': evil[1], 'summary': evil[0]}}, 'title': evil[2]}, open('s.json', 'w'))
END
count=20
sed -i 's/, "node_names": "n%d"//' c.json

works() { # arguments
    windtunnel "$@"
    [ "$status" -eq 0 ] || fail "$*: status $status: $(cat said.err)"
}
works run s.json --out rec --events
cp said.out terminal.txt
works report rec
cat said.out >>terminal.txt
works explain rec --all
cat said.out >>terminal.txt
works trace info evil.jsonl
cat said.out >>terminal.txt
works export rec --to csv --out tables
works export rec --to batsim --out jobs-batsim.csv
works export rec --to openmetrics --out metrics.txt
works export rec --to perfetto --out trace.json
works export rec --to sqlite --out rec.db
works trace convert evil.jsonl --out back.csv
works trace convert evil.jsonl --out back.jsonl
works trace convert evil.jsonl --out back.swf
works trace freeze s.json --out frozen.jsonl
works trace info evil.jsonl --html info.html
works compare --scenario s.json --side 'a<b|"&' --side "$(printf 'c\nd\033[2J')" --seeds 1 --out cmp \
    --write junit=j.xml --write markdown=m.md --write github=g.txt --write json=c.json
cat said.out >>terminal.txt
cp rec/report.html cmp/report.html info.html . 2>/dev/null
cat >gates.json <<'END'
[{"metric": "queue_time_p95_s", "user": "q\n9 0", "max": 0}]
END
echo '{"scenario": "s.json",
       "factors": {"a\nb,\"c": {"path": "policy.preset", "levels": ["fifo", "easy"]}}}' >sweep.json

python3 - $count <<'END' || fail 'a name is more than a name'
import csv, glob, html.parser, io, json, re, sqlite3, subprocess, sys, xml.etree.ElementTree as xml
count = int(sys.argv[1])
bad = []
controls = re.compile('[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]')

def check(is_good, what):
    if not is_good:
        bad.append(what)

def text(path, may_hold=''):
    data = subprocess.run(['zstd', '-dqc', path], capture_output=True, check=True).stdout if path.endswith('.zst') else open(path, 'rb').read()
    said = data.decode('utf-8')  # all outputs are UTF-8
    check(controls.search(said) is None, path + ': a control character ' + repr(controls.search(said)))
    return said

def rows(path, wanted):
    said = text(path)
    table = list(csv.reader(io.StringIO(said)))
    check(len(table) == wanted + 1, f'{path}: {len(table) - 1} rows, not {wanted}')
    check(said.count('\n') == wanted + 1, f'{path}: {said.count(chr(10)) - 1} lines, not {wanted}')
    check(len({len(row) for row in table}) == 1, f'{path}: rows of several lengths')
    return table

for path in ['rec/jobs.csv.zst', 'tables/jobs.csv', 'back.csv', 'jobs-batsim.csv']:
    table = rows(path, count)
    check(len({tuple(row) for row in table}) == count + 1, path + ': rows that are equal')
rows('rec/attempts.csv.zst', count)
rows('tables/attempts.csv', count)
for path in ['back.jsonl', 'frozen.jsonl']:
    jobs = [json.loads(line) for line in text(path).split('\n') if 'job_id' in line]
    check(len(jobs) == count or path == 'frozen.jsonl', path + ': other jobs')
for line in text('rec/events.jsonl.zst').split('\n')[:-1]:
    json.loads(line)
for path in ['rec/result.json', 'trace.json', 'c.json']:
    json.loads(text(path))
numbers = [line for line in text('back.swf').split('\n')[:-1] if not line.startswith(';')]
check(len(numbers) == count and all(len(line.split()) == 18 for line in numbers), f'back.swf: {len(numbers)} rows')
check(sum(line.startswith('; Queue: ') for line in text('back.swf').split('\n')) == count, 'back.swf: other queues')
label = re.compile(r'^windtunnel_[a-z0-9_]+(\{([a-z_]+="(\\[\\n"]|[^\\"\n])*",?)*\})? [-+.e0-9naif]+ [0-9.]+$', re.I)
said = text('metrics.txt').split('\n')
check(said[-2:] == ['# EOF', ''], 'metrics.txt: no end')
for line in said[:-2]:
    check(line.startswith('# ') or label.match(line), 'metrics.txt: ' + line)
base = sqlite3.connect('rec.db')
check(base.execute('SELECT count(*) FROM jobs').fetchone()[0] == count, 'rec.db: other jobs')
base.execute('SELECT * FROM jobs').fetchall()
suites = xml.fromstring(text('j.xml'))
check(suites.tag == 'testsuites', 'j.xml')
for path in ['rec/report.html', 'cmp/report.html', 'info.html', 'm.md', 'g.txt', 'terminal.txt']:
    said = text(path)
    check('<b>' not in said or path in ('terminal.txt', 'g.txt'), path + ': markup of a name')
    check('\n9 0 0 100 8' not in said, path + ': a line of a name')
    check(not any(line.startswith('::error::x') for line in said.split('\n')), path + ': a command of a name')
class Tags(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes):
        check(tag != 'b', 'a tag of a name')
for path in ['rec/report.html', 'cmp/report.html', 'info.html']:
    Tags().feed(text(path))
print('\n'.join(bad))
sys.exit(1 if bad else 0)
END

# What was written is read again: as many jobs, users and queues.
for file in back.csv back.jsonl back.swf; do
    works trace info $file
    says said.out "$count jobs\|jobs *$count\|^jobs.* $count"
done
works report rec --json
works trace convert back.csv --out twice.csv
cmp -s back.csv twice.csv || fail 'a converted trace is another one when it is read again'

# Bytes that are not UTF-8, in a format that is bytes.
printf 'job_id,submit_s,duration_s,gpus,user\na\377b,0,10,1,u\200\n' >bytes.csv
windtunnel run --trace bytes.csv --cluster four.json --policy fifo --out bytes
if [ "$status" -eq 0 ]; then
    zstd -dqc bytes/jobs.csv.zst | iconv -f UTF-8 -t UTF-8 >/dev/null || fail 'a record is not UTF-8'
    works export bytes --to sqlite --out bytes.db
fi
finish
