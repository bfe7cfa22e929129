#!/bin/sh
# The page of a comparison: whole or not at all, its numbers are those of comparison.json, the same bytes twice, nothing
# escapes or is fetched, records and baselines as sides, failed runs, signals, what is refused.
set -u
. tests/support/cli.sh
umask 022

cat >ten.json <<'END_OF_FILE'
{"name": "ten", "pools": [{"name": "h100", "nodes": 10, "gpus_per_node": 8, "gpu_model": "h100-80gb"}]}
END_OF_FILE
cat >mix.json <<'END_OF_FILE'
{"cluster": "ten.json", "title": "a <b>mix</b>",
 "workload": {"synth": {"duration": "1d", "load_whole_gpu": 0.9, "classes": [
   {"name": "jobs", "class": "training", "share": 0.7, "arrivals": {"process": "poisson"},
    "sizes": [{"weight": 5, "gpus": 1, "nodes": 1}, {"weight": 2, "gpus": 8, "nodes": 1}, {"weight": 1, "gpus": 16}],
    "sm_active": [0.4, 0.6],
    "run_time": {"distribution": "lognormal", "median": "30m", "sigma": 1}},
   {"name": "chat", "class": "inference", "share": 0.3, "arrivals": {"process": "poisson"},
    "sizes": [{"weight": 1, "gpus": 1, "nodes": 1}],
    "sm_active": [0.2, 0.3],
    "run_time": {"distribution": "lognormal", "median": "1h", "sigma": 0.5}}]}},
 "policy": {"preset": "fifo"},
 "world": {"end": "1d", "warmup": "2h"}}
END_OF_FILE

compare() { # expected status, arguments
    expected=$1
    shift
    windtunnel compare "$@"
    [ "$status" -eq "$expected" ] || fail "compare $*: status $status, not $expected: $(cat said.err said.out)"
}
holds() { # file, text
    grep -qF -e "$2" "$1" || fail "no '$2' in $1"
}
lacks() { # file, text
    if grep -qiF -e "$2" "$1"; then fail "'$2' in $1"; fi
}
is_absent() { # path
    [ ! -e "$1" ] || fail "$1 is there: $(ls -A "$1")"
}

# ---- The folder: a page, its numbers, and a record of each side that `report` reads. ----

gates='{"gates": [{"metric": "queue_time_p95_s", "class": "training", "max_increase": "5%"}]}'
printf '%s\n' "$gates" >gates.json
compare 0 --scenario mix.json -p fifo -p windtunnel --seeds 3 --out two --write json=c.json
[ "$(find two | sort | tr '\n' ' ')" = "two two/comparison.json two/fifo two/fifo/attempts.csv.zst \
two/fifo/jobs.csv.zst two/fifo/report.html two/fifo/result.json two/fifo/timeline.csv.zst two/report.html \
two/windtunnel two/windtunnel/attempts.csv.zst two/windtunnel/jobs.csv.zst two/windtunnel/report.html \
two/windtunnel/result.json two/windtunnel/timeline.csv.zst " ] || fail "the folder holds: $(find two | sort)"
cmp -s two/comparison.json c.json || fail 'comparison.json is not what --write json writes'
"$program" report two/windtunnel >/dev/null || fail 'the record of a side cannot be read'
grep -q '^page in two/report.html$' said.err || fail "the page is not told: $(cat said.err)"
holds two/report.html ' SM-active ' # not sM-active, as a word at the begin of a sentence
holds two/report.html '<h1>windtunnel against fifo</h1>'
holds two/report.html 'href="windtunnel/report.html"'
holds two/report.html 'a &lt;b&gt;mix&lt;/b&gt;'
holds two/report.html '<h2>Verdict: no gates</h2>'
holds two/report.html 'Where they part, with seed 1'
if [ -x /usr/bin/gnuplot ]; then
    [ "$(grep -c '<svg ' two/report.html)" -ge 5 ] || fail 'curves are missing'
fi

# ---- Every number of the page is one of comparison.json, or the mean of its values. ----

cat >check.py <<'END_OF_FILE'
import json, re, statistics, sys
from html.parser import HTMLParser
page = open(sys.argv[1] + '/report.html').read()
data = json.load(open(sys.argv[1] + '/comparison.json'))
known = set()
for metric in data['metrics']:
    for d in metric['differences']:
        known |= {d['base'], d['candidate']}
    for values in metric['values']:
        values = [v for v in values if v is not None]
        if values:
            known.add(sum(values) / len(values))
near = sorted(v for v in known if v is not None)
import bisect
shown = re.findall(r'<data value="([^"]*)">([^<]*)</data>', page)
if len(shown) < 150:
    raise SystemExit('only %d numbers' % len(shown))
for value, text in shown:
    if value == 'null':
        if text != '\u2013':
            raise SystemExit('%s is shown as %s' % (value, text))
        continue
    number = float(value)
    at = bisect.bisect_left(near, number - 1e-12 * abs(number))
    if at == len(near) or abs(near[at] - number) > 1e-12 * abs(number):
        raise SystemExit('%s (%s) is not in comparison.json' % (value, text))

# Headline numbers, by name.
for label, name in (('Allocated, of all GPU time', 'allocation_ratio'), ('Lost GPU hours', 'lost_gpu_h'),
                    ('Admission of inference, p99', 'admission_p99_s')):
    metric = [m for m in data['metrics'] if m['metric'] == name and not set(m) & {'class', 'queue', 'size',
              'workload_class', 'class_size', 'gpu_model'}][0]
    row = re.search(re.escape(label) + r'</th>(.*?)</tr>', page).group(1)
    cells = [float(v) for v in re.findall(r'<data value="([^"]*)">', row)]
    means = [statistics.fmean(x for x in v if x is not None) for v in metric['values']]
    if len(cells) != len(means) or any(abs(a - b) > 1e-9 * max(1, abs(b)) for a, b in zip(cells, means)):
        raise SystemExit('%s: %s, not %s' % (label, cells, means))

class Nest(HTMLParser):
    def __init__(self):
        super().__init__()
        self.stack = []
    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ('src', 'srcset', 'action', 'xlink:href') or name.startswith('on'):
                raise SystemExit('%s has %s' % (tag, name))
            if name == 'href' and (value.startswith('/') or ':' in value or '//' in value):
                raise SystemExit('a link to %s' % value)
        if tag in ('script', 'link', 'img', 'iframe', 'object', 'embed', 'base'):
            raise SystemExit(tag)
        if tag not in ('meta', 'br', 'wbr', 'path', 'rect', 'use', 'circle', 'polygon', 'line'):
            self.stack.append(tag)
    def handle_startendtag(self, tag, attributes):
        pass
    def handle_endtag(self, tag):
        if tag in ('path', 'rect', 'use', 'circle', 'polygon', 'line'):
            return
        if not self.stack or self.stack.pop() != tag:
            raise SystemExit('</%s> closes something else' % tag)
nest = Nest()
nest.feed(page)
if nest.stack:
    raise SystemExit('not closed: %s' % nest.stack)
if re.search(r'@import|url\(|https?://|javascript:', page):
    raise SystemExit('the page refers to something outside')
END_OF_FILE
check_page() { # folder
    python3 check.py "$1" >check.said 2>&1 || fail "$1: $(cat check.said)"
}
check_page two

# ---- The same comparison gives the same bytes, over an earlier one too, whatever the number of workers. ----

sums() { # folder
    (cd "$1" && find . -type f | sort | xargs cksum)
}
sums two >two.sums
compare 0 --scenario mix.json -p fifo -p windtunnel --seeds 3 --out two --jobs 1
sums two | cmp -s - two.sums || fail 'the same comparison gives other bytes'
compare 0 --scenario mix.json -p fifo -p windtunnel --seeds 3 --out deep/in/new
sums deep/in/new | cmp -s - two.sums || fail 'another folder changes the bytes'

# ---- With gates the verdict stands on top; another comparison takes the place of the earlier one. ----

compare 10 --scenario mix.json --side good --side worse:cluster.pools.h100.nodes=8 --gates gates.json --out deep/in/new
holds deep/in/new/report.html 'Verdict: failed: 1 of 1 gates</h2>'
holds deep/in/new/report.html '<li class="unmet">worse: queue_time_p95_s of training: +'
holds deep/in/new/report.html 'cluster.pools.h100.nodes</th>'
is_absent deep/in/new/fifo
check_page deep/in/new

# ---- Names of sides: escaped on the page, harmless as folders. ----

compare 0 --scenario mix.json --side '<script>alert(1)</script>' --side '../../up" onclick "x' --side report.html \
    --side 'Report.HTML' --side . --seeds 2 --out nasty
check_page nasty
holds nasty/report.html '&lt;script&gt;alert(1)&lt;/script&gt;'
lacks nasty/report.html '<script'
lacks nasty/report.html '" onclick'
folders=$(find nasty -mindepth 1 -maxdepth 1 -printf '%f\n' | LC_ALL=C sort | tr '\n' ' ')
wanted='Report.HTML-3 comparison.json report.html report.html-2 side-script-alert-1-script- side. '
[ "$folders" = "${wanted}side..-..-up-onclick-x " ] || fail "folders: $folders"
for folder in nasty/*/; do
    [ -f "$folder/result.json" ] || fail "$folder is no record"
done
[ "$(find nasty -name result.json | wc -l)" -eq 5 ] || fail "not a record for each side: $(find nasty)"
[ "$(find . -name result.json | wc -l)" -eq 9 ] || fail "a record elsewhere: $(find . -name result.json)"

# ---- Records as sides: read where they are, linked, and left alone. ----

mkdir 'my runs'
"$program" run mix.json -p fifo --quiet --out 'my runs/a&b' >/dev/null
"$program" run mix.json -p easy --quiet --out rec >/dev/null
cksum rec/* 'my runs/a&b'/* >records.sums
compare 0 'my runs/a&b' rec --out pages/r
holds pages/r/report.html 'href="../../my%20runs/a%26b/report.html"'
holds pages/r/report.html 'href="../../rec/report.html"'
[ "$(find pages/r | wc -l)" -eq 3 ] || fail "pages/r holds: $(find pages/r)"
cksum rec/* 'my runs/a&b'/* | cmp -s - records.sums || fail 'the records were touched'
check_page pages/r
# One of each kind; without its other files a record has values and no curves.
rm rec/timeline.csv.zst
compare 0 mix.json rec --out pages/r
holds pages/r/report.html 'rec has no curves: '
holds pages/r/report.html 'timeline.csv.zst'
holds pages/r/report.html 'href="mix/report.html"'
check_page pages/r

# ---- A baseline as the base has no curves. ----

compare 0 --scenario mix.json -p fifo --seeds 2 --save-baseline base.json --out one
holds one/report.html '<h2>In numbers</h2>'
compare 0 --scenario mix.json -p windtunnel --baseline base.json --seeds 2 --out based
holds based/report.html 'baseline has no curves: a baseline keeps values alone.'
holds based/report.html '>a baseline</td>'
[ "$(ls based | tr '\n' ' ')" = 'comparison.json report.html windtunnel ' ] || fail "based holds: $(ls based)"
check_page based

# ---- A failed run: said on top, and it has no record. ----

if pkg-config --exists jansson; then
    cat >bad.c <<'END_OF_FILE'
#include "policies/plugin.h"
#include <stdlib.h>
static uint64_t rank(const struct order_view *v, const struct order_config *c)
{
    (void)v, (void)c;
    abort();
}
static const struct order_policy policy = {.name = "bad", .version = 1, .summary = "s", .rank = rank};
const struct windtunnel_plugin windtunnel_plugin = {PLUGIN_FOR(ORDER), .name = "test", .version = "1",
                                                    .policy = &policy};
END_OF_FILE
    # shellcheck disable=SC2046 # a list of flags
    "${CC:-cc}" -std=gnu11 -w -O1 -I"$repository" $(pkg-config --cflags jansson) -fPIC -shared -o bad.so bad.c ||
        fail 'bad.c does not compile'
    compare 5 --scenario mix.json --side a:policy.order='["bad"]' --side b:policy.order='["bad"]' --seeds 2 \
        --plugin ./bad.so --out failed
    is_absent failed # nothing succeeded: no page
    compare 10 --scenario mix.json --side good --side bad:policy.order='["bad"]' --seeds 2 --plugin ./bad.so \
        --out failed
    holds failed/report.html '<p class="warn">Incomplete: 2 of 4 runs failed.'
    holds failed/report.html '<p class="warn">The run of bad with seed 1 failed: signal 6 (Aborted)</p>'
    holds failed/report.html 'bad has no curves: the run that they would show failed.'
    holds failed/report.html 'There is no seed that both sides have run: nothing can be compared.'
    holds failed/report.html 'href="good/report.html"'
    is_absent failed/bad
else
    echo 'note: no jansson for a plug-in: failed runs are not tested'
fi

# ---- A signal: a partial page if something was compared, else what is there stays; never a piece of one. ----

start_endless() { # folder
    "$program" compare --scenario mix.json -p fifo -p windtunnel --seeds 1000 --jobs 2 --no-why --out "$1" \
        >endless.out 2>endless.err &
    endless=$!
}
for seconds in 0.5 1 3 10 30 90; do # on a busy machine it takes long until something was compared
    start_endless two
    while [ -z "$(find two -maxdepth 1 -name '.windtunnel*')" ]; do sleep 0.02; done
    sleep $seconds
    kill -TERM $endless
    wait $endless
    status=$?
    [ $status -eq 143 ] || fail "after SIGTERM: status $status, not that of the signal"
    grep -q Partial two/report.html && break
done
holds two/report.html '<p class="warn">Partial: the comparison was stopped before its end.'
check_page two
[ -z "$(find two -name '.windtunnel*')" ] || fail "left behind: $(find two)"
# Killed at once: the earlier page stays as it is, and the next one clears what was left.
sums deep/in/new >new.sums
start_endless deep/in/new
while [ -z "$(find deep/in/new -name '.windtunnel*')" ]; do sleep 0.02; done
kill -KILL $endless
wait $endless
(cd deep/in/new && find . -type f ! -path '*/.windtunnel*' | sort | xargs cksum) | cmp -s - new.sums ||
    fail 'a killed comparison touched the earlier page'
sleep 1
compare 0 --scenario mix.json -p fifo -p windtunnel --seeds 1 --out deep/in/new
[ -z "$(find deep/in/new -name '.windtunnel*')" ] || fail "not cleared: $(find deep/in/new)"

# ---- Refused, and nothing is touched. ----

refuse() { # folder, what is said
    find "$1" -type f | sort | xargs -d '\n' cksum >before.sums
    compare 2 --scenario mix.json -p fifo -p windtunnel --seeds 1 --out "$1"
    holds said.err "$2"
    find "$1" -type f | sort | xargs -d '\n' cksum | cmp -s - before.sums || fail "$1 was touched"
}
mkdir mine && echo keep >mine/notes.txt
refuse mine "error: 'mine' is not written over: it holds 'notes.txt', which is not of a comparison"
refuse rec "error: 'rec' is not written over: it holds '"
echo keep >based/notes.txt
refuse based "error: 'based' is not written over: it holds 'notes.txt', which is not of the comparison there"
rm based/notes.txt
echo keep >based/windtunnel/notes.txt
refuse based "error: 'based/windtunnel' is not written over: it holds 'notes.txt', which is not of the comparison there"
compare 2 two/fifo two/windtunnel --out two
holds said.err "error: 'two' is not written over: the side 'fifo' is a record in it"
compare 2 --scenario mix.json -p fifo -p windtunnel --out ''
compare 4 --scenario mix.json -p fifo -p windtunnel --seeds 1 --out ten.json
# A scenario that is wrong leaves no folder.
compare 2 --scenario mix.json -p fifo -p nosuch --out none
is_absent none

finish
