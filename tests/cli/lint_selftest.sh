#!/bin/sh
# Every rule of the lint passes on a small clean project and finds the one thing that is then broken in it.
set -eu

root=$PWD
cc=${CC:-cc}
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
failures=0

# ---- The clean project: the rules themselves, and a little of every layer ----

mkdir -p "$copy/tools" "$copy/base" "$copy/topologies" "$copy/workloads" "$copy/policies/order" "$copy/policies/books" \
    "$copy/policies/cycle" "$copy/sim/engine" "$copy/reports" "$copy/tests/unit"
cp -r "$root/tools/lint" "$root/tools/docs_check" "$copy/tools/"
cp "$root/.clang-format" "$copy/"
cd "$copy"

law='base:
topologies: base
workloads: base topologies
policies: base topologies workloads/job
policies/sched:
policies/order: policies/sched
policies/books [books]: policies/sched
policies/cycle [-]: policies/sched policies/order
    policies/books
sim: base topologies workloads policies
reports: base workloads/job sim/record
tools: *
tests: *
tests/unit/test_notes: * policies/books/notes'
printf '%s\n' "$law" >tools/lint/layers
exported='# who calls them
the rest of the program: sched_cycle record_rows engine_run
tests: job_truth'
printf '%s\n' "$exported" >tools/lint/exported

header() { # path, body
    guard=$(echo "$1" | tr 'a-z/.' 'A-Z__')
    printf '#ifndef %s\n#define %s\n\n%s\n\n#endif\n' "$guard" "$guard" "$2" >"$1"
}

header base/text.h 'int text_width(const char *text);'
header base/input.h 'int input_read(void);'
header workloads/job.h '#include "base/text.h"

int job_width(void);'
header workloads/job_truth.h 'int job_truth(void);'
header sim/record.h '#include "workloads/job.h"

int record_rows(void);'
header sim/engine.h 'int engine_run(void);'
header policies/sched.h '#include "workloads/job.h"

int sched_cycle(void);'
printf '#include "base/text.h"\n\n#include <string.h>\n\n%s' \
    'int text_width(const char *text)
{
    return (int)strlen(text);
}
' >base/text.c
printf '#include "workloads/job.h"\n\nint job_width(void)\n{\n    return text_width("job");\n}\n' >workloads/job.c
printf '#include "workloads/job_truth.h"\n\nint job_truth(void)\n{\n    return 7;\n}\n' >workloads/job_truth.c
printf '#include "sim/record.h"\n\nint record_rows(void)\n{\n    return job_width();\n}\n' >sim/record.c
printf '#include "sim/engine.h"\n\nint engine_run(void)\n{\n    return 1;\n}\n' >sim/engine.c
header policies/books/books.h 'int books_count(void);'
header policies/books/notes.h 'int notes_count(void);'
printf '#include "policies/books/books.h"\n#include "policies/books/notes.h"\n\n%s' \
    'int books_count(void)
{
    return notes_count();
}
' >policies/books/books.c
printf '#include "policies/books/notes.h"\n\nint notes_count(void)\n{\n    return 3;\n}\n' >policies/books/notes.c
printf '#include "policies/books/notes.h"\n' >tests/unit/test_notes.c
cat >policies/cycle/facts.c <<'END'
#include "policies/books/books.h"
#include "policies/sched.h"

static const char *const names[] = {"fifo", "priority"};

int sched_cycle(void)
{
    return job_width() + text_width(names[0]) + books_count();
}
END

compile() { # source
    mkdir -p "objects/$(dirname "$1")"
    "$cc" -std=gnu11 -D_GNU_SOURCE -I. -O2 -fPIC -fno-builtin -c -o "objects/${1%.c}.o" "$1"
}
for source in base/text.c workloads/job.c workloads/job_truth.c sim/record.c sim/engine.c policies/books/books.c \
    policies/books/notes.c policies/cycle/facts.c; do
    compile "$source"
done

# ---- The checks ----

passes() { # rule, arguments
    rule=$1
    shift
    if ! said=$("tools/lint/$rule" "$@" 2>&1); then
        echo "the clean project fails '$rule':"
        echo "$said"
        failures=$((failures + 1))
    fi
}

# The rule fails and names the broken file and what is wrong with it.
finds() { # file, text in the message, rule, arguments
    file=$1 text=$2 rule=$3
    shift 3
    if said=$("tools/lint/$rule" "$@" 2>&1); then
        echo "'$rule' passes although $file is broken ($text)"
        failures=$((failures + 1))
    elif ! echo "$said" | grep -F "$file" | grep -qF "$text"; then
        echo "'$rule' fails, but does not say '$text' of $file:"
        echo "$said"
        failures=$((failures + 1))
    fi
}

# Write a broken source, compile it, see the rule find it, take it away.
source_breaks() { # file, text in the message, rule, body
    printf '%s\n' "$4" >"$1"
    compile "$1"
    finds "$1" "$2" "$3" objects
    rm "$1" "objects/${1%.c}.o"
}

# The same for rules that read the sources alone.
file_breaks() { # file, text in the message, rule, body
    printf '%s\n' "$4" >"$1"
    finds "$1" "$2" "$3"
    rm "$1"
}

for rule in includes headers writers observers texts sizes; do
    passes $rule
done
passes symbols objects
passes no_world objects

file_breaks base/up.c 'base may not include sim/record.h' includes '#include "sim/record.h"'
file_breaks policies/peek.c 'policies may not include workloads/job_truth.h' includes '#include "workloads/job_truth.h"'
file_breaks policies/order/peek.c 'policies/order may not include sim/engine.h' includes '#include "sim/engine.h"'
# Rooms: up the list, into what is private, out through a face, and a circle in the law itself.
file_breaks policies/order/up.c 'policies/order may not include policies/books/books.h' includes \
    '#include "policies/books/books.h"'
file_breaks policies/books/up.h 'policies/books may not include policies/order/order.h' includes \
    '#include "policies/order/order.h"'
file_breaks policies/cycle/deep.c 'policies/books/notes.h is private to policies/books' includes \
    '#include "policies/books/notes.h"'
file_breaks tests/unit/test_deep.c 'policies/books/notes.h is private to policies/books' includes \
    '#include "policies/books/notes.h"'
cp policies/books/books.h books.saved
header policies/books/books.h '#include "policies/books/notes.h"'
finds policies/books/books.h 'policies/books/notes.h is private to policies/books' includes
mv books.saved policies/books/books.h
printf '%s\npolicies/deep: policies/deeper\npolicies/deeper: policies/deep\n' "$law" >tools/lint/layers
finds tools/lint/layers 'policies/deep may not use policies/deeper, which has no line above it' includes
# A room that names its own layer may use the files of the layer that are in no room, and no others.
printf '%s\nreports/later:\nreports/room: reports\n' "$law" >tools/lint/layers
mkdir reports/room reports/later
header reports/page.h 'int page_write(void);'
header reports/later/late.h 'int late_write(void);'
header reports/room/room.h '#include "reports/page.h"

int room_write(void);'
passes includes
file_breaks reports/room/over.c 'reports/room may not include reports/later/late.h' includes \
    '#include "reports/later/late.h"'
file_breaks reports/down.c 'reports may not include reports/room/room.h' includes '#include "reports/room/room.h"'
rm -r reports/room reports/later reports/page.h
printf '%s\n' "$law" >tools/lint/layers

# Members of the scheduler's state: each has one room that writes it.
mkdir policies/state
header policies/state/sched_state.h 'struct sched {
    /* ---- books ---- */
    int jobs;
    int now; /* of the last fact; writer: order */
    /* ---- order ---- */
    int ranks, at[MANY]; /* not books, cycle; */
    /* ---- scratch ---- */
    int pieces;
};'
writes() { # field, statement that writes it
    file_breaks policies/cycle/writes.c "writes sched->$1, which policies/order alone writes" writers \
        "void f(struct sched *sched) { $2; }"
}
writes ranks 'sched->ranks = 1'
writes ranks '++sched->ranks'
writes ranks 'sched->ranks.count--'
writes at 'sched->at[i].count += 2'
writes at 'sched->at[0]->x |= 1'
writes at 'sched->at[sched->pieces[1].x].y++'
writes ranks 'sched->jobs[sched->ranks++] = 1'
writes ranks 'struct rank *r = &sched->ranks'
writes now 'sched->now = 1'
printf 'void f(struct sched *sched) { sched->ranks = 1; }\n' >policies/order/writes.c
printf '%s\n' 'bool f(struct sched *sched)
{
    const struct rank *rank = &sched->ranks;
    sched->pieces = 1;
    sched->jobs = 2;
    return sched->ranks == sched->at[1] && sched->now >= 0;
}' >policies/cycle/writes.c
passes writers
rm -r policies/state policies/order/writes.c policies/cycle/writes.c

# Observers: each has a row, below those that it names.
printf '    ROW(%s) \\\n' 'early, ""' 'late, "early"' >policies/cycle/observers.c
printf 'const struct observer %s_observer = {0};\n' early late >policies/order/observers.c
passes observers
file_breaks policies/order/more.c 'the observer more has no row' observers 'const struct observer more_observer = {0};'
rm policies/order/observers.c
printf 'const struct observer late_observer = {0};\n' >policies/order/late.c
finds policies/cycle/observers.c:1 'there is no observer early' observers
printf 'const struct observer early_observer = {0};\n' >policies/order/early.c
printf '    ROW(%s) \\\n' 'late, "early"' 'early, ""' >policies/cycle/observers.c
finds policies/cycle/observers.c:1 'no row of early stands above that of late' observers
rm policies/cycle/observers.c policies/order/early.c policies/order/late.c

file_breaks reports/deep.c 'reports may not include sim/engine.h' includes '#include "sim/engine.h"'
file_breaks reports/deep.c 'reports may not include policies/sched.h' includes '#include "policies/sched.h"'
file_breaks base/bare.c 'must name its folder' includes '#include "text.h"'
header workloads/job.h '#include "workloads/job_truth.h"

int job_width(void);'
finds policies/sched.h 'workloads/job_truth.h, reached through workloads/job.h' includes
header workloads/job.h '#include "base/text.h"

int job_width(void);'

source_breaks topologies/up.c 'uses job_width of workloads/job.c' symbols \
    'int job_width(void); int up(void); int up(void) { return job_width(); }'
source_breaks policies/peek.c 'uses job_truth of workloads/job_truth.c' symbols \
    'int job_truth(void); int peek(void); int peek(void) { return job_truth(); }'
source_breaks policies/order/up.c 'uses books_count of policies/books/books.c, which policies/order may not' symbols \
    'int books_count(void); int up(void); int up(void) { return books_count(); }'
source_breaks policies/books/up.c 'uses sched_cycle of policies/cycle/facts.c, which policies/books may not' symbols \
    'int sched_cycle(void); int up(void); int up(void) { return sched_cycle(); }'
source_breaks reports/deep.c 'uses engine_run of sim/engine.c' symbols \
    'int engine_run(void); int deep(void); int deep(void) { return engine_run(); }'

# Two files of one room that call each other.
printf 'int back(void); int forth(void); int forth(void) { return back(); }\n' >policies/order/forth.c
compile policies/order/forth.c
printf 'int forth(void); int back(void); int back(void) { return forth(); }\n' >policies/order/back.c
compile policies/order/back.c
finds policies/order/back.c 'is in a circle of calls with policies/order/forth.c' symbols objects
rm policies/order/back.c objects/policies/order/back.o policies/order/forth.c objects/policies/order/forth.o

# A function that no other file calls; an exception that is none, because another file calls it or it is not there.
source_breaks policies/order/alone.c 'no other file calls alone: make it static' symbols \
    'int alone(void); int alone(void) { return 1; }'
printf 'static int alone(void);\nstatic int alone(void) { return 1; }\nint (*const order_alone)(void) = alone;\n' \
    >policies/order/alone.c
compile policies/order/alone.c
passes symbols objects
rm policies/order/alone.c objects/policies/order/alone.o
for name in books_count nobody; do
    printf '%s\ntests: %s\n' "$exported" $name >tools/lint/exported
    finds tools/lint/exported:4 "$name needs no exception" symbols objects
done
printf '%s\n' "$exported" >tools/lint/exported

# A part of the world that is not in the table of parts.
source_breaks sim/engine/lonely.c 'engine_part_lonely is not in ENGINE_PARTS' symbols \
    'extern const int engine_part_lonely; const int engine_part_lonely = 1;'

for call in 'time(0)' 'clock_gettime(0, 0)' 'getenv("A")' 'fopen("a", "r")' 'open("a", 0)' 'printf("a")' 'rand()' \
    'random()' 'pthread_self()' 'exit(1)' 'abort()' 'malloc(1)'; do
    function=${call%%(*}
    source_breaks policies/world.c "uses $function," no_world \
        "long $function(); long world(void); long world(void) { return (long)$function(${call#*(}; }"
done
source_breaks policies/order/world.c 'uses stderr,' no_world \
    'extern void *stderr; void *world(void); void *world(void) { return stderr; }'
source_breaks policies/state.c 'keeps state in calls' no_world \
    'int state(void); int state(void) { static int calls; return ++calls; }'
source_breaks policies/state.c 'keeps state in level' no_world 'int level = 3;'
source_breaks policies/state.c 'keeps state in worker' no_world '_Thread_local int worker;'

file_breaks base/alone.h 'does not compile alone' headers '#ifndef BASE_ALONE_H
#define BASE_ALONE_H
size_t alone(void);
#endif'
file_breaks base/twice.h 'does not compile alone (or has no guard)' headers 'struct twice {
    int a;
};'

tab=$(printf '\t')
file_breaks base/tab.c 'a tab' texts "int${tab}tab;"
file_breaks base/blank.c 'a blank at the end' texts 'int blank; '
file_breaks base/wide.c '121 columns (at most 120)' texts "$(printf '// %118s' x)"
file_breaks base/wide.sh '121 columns (at most 120)' texts "$(printf 'cat <<END\n%200s\nEND\n# %119s' x x)"
printf '// %116sé\n' x >base/fits.c
printf "cat <<'END'\n%200s\nEND\n" x >base/data.sh
passes texts
file_breaks base/says.c 'there is no tests/cli/nothere' texts '/* tests/cli/nothere.sh checks it. */'
rm base/fits.c base/data.sh
slash=/
file_breaks notes.md 'a path of one machine' texts "see ${slash}home/someone/notes"
file_breaks notes.md 'a host of a package registry' texts "from http:${slash}/registry.example.org/x"

long_function=$(printf 'int long_one(void)\n{\n'; for i in $(seq 91); do echo "    f($i);"; done; printf '}\n')
file_breaks base/long.c '91 lines (at most 90): int long_one(void)' sizes "$long_function"
file_breaks base/long.c '601 lines without tables' sizes "$(for i in $(seq 601); do echo "int v$i;"; done)"
table=$(printf 'static const int table[] = {\n'; for i in $(seq 700); do echo "    $i,"; done; printf '};\n')
printf '%s\n' "$table" >base/table.c
passes sizes
rm base/table.c

mkdir docs
passes figures

# What users may name has a row in the page that lists it.
mkdir sim/record
printf 'const struct order_policy order_last = {\n    .name = "last",\n};\n' >policies/order/last.c
printf 'int f(void) { return json_get_int(&object, "depth", 0, 9, 1) + choose_member(o, "policy"); }\n' >policies/order/read.c
printf '    [METRIC_WAIT_S] = {"wait_s", NAN, "s"},\n' >reports/metric_table.c
printf 'const char record_job_columns[] =\n    "submit_s,"\n    "end_s";\n' >sim/record/record.c
printf '| %s |\n' '`last`' 'this or' '`first`, `depth`' >docs/policies.md
printf '| %s |\n' '`wait_s`' '`submit_s`, `end_s`' >docs/record.md
passes documented
page_lacks() { # page, name, place of the name, what it is
    sed "s/\`$2\`/$2/" "docs/$1" >docs/saved
    mv docs/saved "docs/$1"
    finds "$3" "the $4 $2 has no row in a table of docs/$1" documented
}
page_lacks policies.md last policies/order/last.c:2 policy
page_lacks policies.md depth policies/order/read.c:1 key
page_lacks record.md wait_s reports/metric_table.c:1 metric
page_lacks record.md submit_s sim/record/record.c:3 column
page_lacks record.md end_s sim/record/record.c:3 column
rm -r docs/policies.md docs/record.md sim/record reports/metric_table.c policies/order/last.c policies/order/read.c
file_breaks docs/page.md 'these figures name no command' figures '| load | wait |
|---|---|
| 0.7 | 1.0 s |
| 0.8 | 2m 03s |
| 0.9 | 7h 28m |'

printf 'int library(void); int library(void) { return 1; }\n' >library.c
"$cc" -shared -fPIC -o clean.so library.c -Wl,--no-as-needed -ljansson
passes library clean.so
"$cc" -shared -fPIC -o broken.so library.c -Wl,--no-as-needed -lzstd
finds broken.so 'needs libzstd' library broken.so
rm library.c

# Without clang-format, which building and testing do not need, the rule about layout cannot run at all.
if command -v clang-format >/dev/null; then
    passes format
    file_breaks base/layout.c 'should be clang-formatted' format 'int  f( void ){return 1;}'
fi

if [ "$failures" -ne 0 ]; then
    echo "$failures checks failed"
    exit 1
fi
