#!/bin/sh
# Policies as shared objects: the worked example, the project's own policies as plug-ins (they decide the same), and
# every way in which a plug-in is refused, crashes, hangs or answers nonsense.
set -u
. tests/support/cli.sh

if ! pkg-config --exists jansson; then
    echo 'skipped: no pkg-config, or no jansson'
    exit 77
fi
case ${WINDTUNNEL_BUILD-build/release} in
*sanitized*) is_sanitized=1 ;; # their own handler has the last word after a crash
*) is_sanitized= ;;
esac
umask 022

# The headers are compiled once, where the compiler is gcc; clang looks for no such file.
mkdir -p compiled/policies
compiling="${CC:-cc} -std=gnu11 -w -O0 -fPIC -Icompiled -I$repository $(pkg-config --cflags jansson)"
echo "#include \"$repository/policies/plugin.h\"" >compiled/policies/plugin.h
$compiling -x c-header -o compiled/policies/plugin.h.gch compiled/policies/plugin.h || fail 'the headers do not compile'

# Compile stdin, after the headers and before nothing, into $1.so.
compile() { # name
    { echo '#include "policies/plugin.h"' && cat; } >"$1.c"
    $compiling -shared -o "$1.so" "$1.c" || fail "$1.c does not compile"
}

# What ends a plug-in for a seam, whose struct is `policy`.
export_as() { # SEAM
    echo "const struct windtunnel_plugin windtunnel_plugin = {PLUGIN_FOR($1),
        .name = \"test\", .version = \"1\", .policy = &policy};"
}

# ---- The worked example, against the source tree ----

cp -R "$repository/docs/examples/plugin" example
chmod -R go-w example
make -s -C example SOURCE="$repository" CC="${CC:-cc}" || fail 'the example does not build'
[ "$(wc -l <example/widest_ageing.c)" -lt 100 ] || fail 'the example is not short any more'

windtunnel policy list --plugin example/widest_ageing.so
if ! grep -q '^  widest_ageing  most GPUs first' said.out ||
    ! grep -q 'order policy; widest-ageing 1.0, example/widest_ageing.so' said.out; then
    fail "policy list does not show it: $(cat said.out said.err)"
fi

# The path counts from the policy file; the manifest tells what was loaded.
mkdir sub
cat >sub/wide.json <<'END'
{"cluster": "../four.json", "workload": {"trace": "wide.csv"}, "policy": {"file": "../example/policy.json"}}
END
cat >sub/wide.csv <<'END'
job_id,submit_s,duration_s,gpus,queue,user
1,0,100,32,red,ann
2,1,100,8,red,ann
3,2,100,32,red,ann
END
windtunnel run sub/wide.json --quiet --out record
[ "$status" -eq 0 ] || fail "the example does not run: $(cat said.err)"
plugin='"role": "plugin", "name": "sub/../example/widest_ageing.so"'
digest=$(sed -n "s|.*$plugin, \"digest\": \"\([0-9a-f]\{32\}\)\", \"plugin\": \"widest-ageing\", \
\"version\": \"1.0\"}.*|\1|p" record/result.json)
[ -n "$digest" ] || fail "the manifest does not name the plug-in: $(grep inputs record/result.json)"
# The job of 32 GPUs goes before the one of 8 that came earlier.
order=$(zstd -dcq record/attempts.csv.zst 2>/dev/null | awk -F, 'NR > 1 { printf "%s ", $1 }')
if command -v zstd >/dev/null && [ "$order" != '0 2 1 ' ]; then
    fail "the order is '$order'"
fi

# In a scenario, in its policy, and on the command line: the same run.
fingerprint() { # arguments of run
    windtunnel run "$@"
    [ "$status" -eq 0 ] || fail "run $*: $(cat said.err)"
    sed -n 's/.*fingerprint \([0-9a-f]*\).*/\1/p' said.err
}
policy='{"order": ["widest_ageing", "fifo"], "blocking": "skip"}'
expected=$(fingerprint sub/wide.json)
cat >sub/top.json <<END
{"cluster": "../four.json", "workload": {"trace": "wide.csv"}, "plugins": ["../example/widest_ageing.so"], "policy": $policy}
END
cat >sub/preset.json <<'END'
{"cluster": "../four.json", "workload": {"trace": "wide.csv"},
 "policy": {"preset": "fifo", "plugins": ["../example/widest_ageing.so"],
            "set": {"order": ["widest_ageing", "fifo"], "blocking": "skip"}}}
END
cat >sub/plain.json <<END
{"cluster": "../four.json", "workload": {"trace": "wide.csv"}, "policy": $policy}
END
for arguments in sub/top.json sub/preset.json 'sub/plain.json --plugin example/widest_ageing.so' \
    'sub/wide.json --plugin example/widest_ageing.so'; do
    # shellcheck disable=SC2086
    got=$(fingerprint $arguments)
    [ "$got" = "$expected" ] || fail "$arguments: fingerprint '$got', not '$expected'"
done
windtunnel validate sub/wide.json --resolved
cp said.out resolved.json
got=$(fingerprint resolved.json)
[ "$got" = "$expected" ] || fail "the resolved scenario: fingerprint '$got', not '$expected'"

# A case finds them in its policy, in the policy's file and on the command line.
write_case() { # policy
    cat >sub/case.json <<END
{"name": "wide", "policy": $1, "nodes": [{"name": "n0", "gpus": 8}],
 "jobs": [{"name": "narrow", "tasks": [{"gpus": 1}]}, {"name": "wide", "tasks": [{"gpus": 8}]}],
 "expect": {"wide": {"status": "running"}, "narrow": {"status": "pending"}}}
END
}
passes() { # what, arguments
    what=$1
    shift
    windtunnel case sub/case.json "$@"
    [ "$status" -eq 0 ] || fail "case, $what: $(cat said.out said.err)"
}
write_case '{"preset": "fifo", "plugins": ["../example/widest_ageing.so"], "set": {"order": ["widest_ageing"]}}'
passes 'beside a preset'
write_case '{"plugins": ["../example/widest_ageing.so"], "order": ["widest_ageing"]}'
passes 'in the fields'
write_case '{"file": "../example/policy.json"}'
passes 'in a file'
write_case '{"order": ["widest_ageing"]}'
passes 'on the command line' --plugin example/widest_ageing.so
windtunnel case sub/case.json
[ "$status" -eq 10 ] || fail 'a case finds a plug-in that nobody named'

# ---- The project's own policies, compiled as plug-ins, decide as they do at home ----

scenario=$repository/scenarios/h100-500x8.json
short='--set workload.synth.duration=3h --set world.warmup=0 --set world.end=3h --set cluster.pools.h100.nodes=60'
# The file under another name: what it defines becomes `policy`, called "mine".
as_plugin() { # file, its symbol, its name, SEAM
    sed -e "s/\"$3\"/\"mine\"/" -e "s/\\b$2\\b/policy/" "$repository/$1" >mine.body
    { cat mine.body && export_as "$4"; } | compile mine
}
same() { # policy with NAME in it, name at home
    printf '%s\n' "$1" | sed "s/NAME/$2/" >home.json
    printf '%s\n' "$1" | sed "s/NAME/mine/" >mine.json
    # shellcheck disable=SC2086
    at_home=$(fingerprint "$scenario" $short --policy ./home.json)
    # shellcheck disable=SC2086
    as_mine=$(fingerprint "$scenario" $short --policy ./mine.json --plugin mine.so)
    if [ -z "$at_home" ] || [ "$at_home" != "$as_mine" ]; then
        fail "$2 as a plug-in decides otherwise: '$as_mine', not '$at_home'"
    fi
}
as_plugin policies/order/las.c order_las las ORDER
same '{"order": ["NAME"], "blocking": "skip"}' las
as_plugin policies/quota/drf.c quota_drf drf QUOTA
same '{"quota": "NAME", "blocking": "skip", "preemption": {"policy": "checkpoint"}}' drf
as_plugin policies/placement/spread.c placement_spread spread PLACEMENT
same '{"placement": "NAME", "blocking": "skip"}' spread
as_plugin policies/gang/all_or_nothing.c gang_all_or_nothing all_or_nothing GANG
same '{"gang": {"policy": "NAME"}, "blocking": "skip"}' all_or_nothing
as_plugin policies/estimate/declared.c estimate_declared declared ESTIMATE
same '{"estimate": "NAME", "backfill": {"policy": "easy"}}' declared
as_plugin policies/estimate/history.c estimate_history history ESTIMATE
same '{"estimate": "NAME", "backfill": {"policy": "easy"}}' history
{
    echo 'static uint64_t rank(const struct victim_view *view) { return (uint64_t)view->running; }'
    echo 'static const struct victim_key policy = {.name = "mine", .summary = "s", .rank = rank};'
    export_as VICTIM
} | compile mine
same '{"order": ["priority", "fifo"], "blocking": "skip", "preemption": {"policy": "kill", "victims": ["NAME"]}}' \
    youngest

as_plugin policies/preemption/checkpoint.c preemption_checkpoint checkpoint PREEMPTION
same '{"order": ["priority", "fifo"], "blocking": "skip", "preemption": {"policy": "NAME"}}' checkpoint
as_plugin policies/backfill/easy.c backfill_easy easy BACKFILL
same '{"backfill": {"policy": "NAME", "reservations": 2}, "estimate": "declared"}' easy

# ---- Parameters and state ----

windtunnel policy list --plugin example/turns.so
grep -q 'parameter forget_after: an integer from 1 to 1000000, default 1000; starts after which' said.out ||
    fail "policy list does not show the parameters: $(cat said.out said.err)"
windtunnel policy show turns --plugin example/turns.so
printf '{
  "name": "turns",
  "plugins": ["example/turns.so"],
  "order": ["turns", "fifo"],
  "params": {"turns": {"counts": "gpus", "forget_after": 1000}}
}
' | diff - said.out || fail 'policy show of a plug-in'
cp said.out shown.json
# shellcheck disable=SC2086
shown=$(fingerprint "$scenario" $short --policy ./shown.json)
# shellcheck disable=SC2086
jobs=$(fingerprint "$scenario" $short --policy ./shown.json --set 'policy.order_config.period_s=10' \
    --set policy.params.turns.counts=jobs)
# shellcheck disable=SC2086
gpus=$(fingerprint "$scenario" $short --policy ./shown.json --set 'policy.order_config.period_s=10')
if [ -z "$shown" ] || [ -z "$jobs" ]; then
    fail 'a plug-in with parameters does not run'
fi
cat >params.json <<'END'
{"name": "c", "policy": {"plugins": ["example/turns.so"], "order": ["turns"], "params": {"turns": {"forget_after": 0}}},
 "nodes": [{"name": "n0", "gpus": 8}], "jobs": [{"name": "j", "tasks": [{"gpus": 1}]}], "expect": {"j": {"status": "running"}}}
END
windtunnel case params.json
said="not ok c: params.json:1:116: 'forget_after' must be an integer from 1 to 1000000, got 0"
[ "$(head -n 1 said.out)" = "$said" ] ||
    fail "a bad parameter in a case: $(cat said.out said.err)"
# Two users, one GPU: the one for whom nothing was started goes first.
cat >turns.json <<'END'
{"name": "turns", "policy": {"file": "example/turns.json"}, "nodes": [{"name": "n0", "gpus": 2}],
 "jobs": [{"name": "runs", "user": "ann", "tasks": [{"gpus": 1, "state": "running", "node": "n0"}]},
          {"name": "again", "user": "ann", "tasks": [{"gpus": 1}]},
          {"name": "other", "user": "bob", "tasks": [{"gpus": 1}]}],
 "rounds": 1, "expect": {"other": {"status": "running"}, "again": {"status": "pending"}}}
END
windtunnel case turns.json
[ "$status" -eq 0 ] || fail "the example with a state: $(cat said.out said.err)"
sed 's/"order": \["turns", "fifo"\]/"order": ["fifo"]/; /"params"/d' example/turns.json >example/plain.json
sed 's/turns.json/plain.json/' turns.json >plain.json
windtunnel case plain.json
[ "$status" -eq 10 ] || fail 'the example with a state decides as fifo does'
{
    sed 's/struct turns \*turns = state;/struct turns *turns = 0;/' "$repository/docs/examples/plugin/turns.c"
} | compile bad
windtunnel run small.json --plugin bad.so --set 'policy.order=["turns"]'
grep -q "crashed in its hook 'on_job': SIGSEGV" said.err || { [ -n "$is_sanitized" ] &&
    grep -q 'null pointer' said.err; } ||
    fail "a crash in on_job: $(cat said.err)"

# ---- Refused: what is loaded ----

order='static uint64_t rank(const struct order_view *v, const struct order_config *c) { return 0; }
static const struct order_policy policy = {.name = "mine", .version = 1, .summary = "s", .rank = rank};'

refused 4 run small.json --plugin none.so <<'END'
error: cannot open plug-in none.so: No such file or directory
END
echo 'no ELF' >text.so
windtunnel run small.json --plugin text.so
if [ "$status" -ne 2 ] ||
    ! grep -q '^error: plug-in text.so is not a shared object that can be loaded here: .*text.so: ' said.err; then
    fail "not a shared object: $status $(cat said.err)"
fi
refused 2 run small.json --plugin sub <<'END'
error: plug-in sub is not a regular file
END
echo 'int other;' | compile other
refused 2 run small.json --plugin other.so <<'END'
error: plug-in other.so does not export the symbol 'windtunnel_plugin'
  policies/plugin.h says what it must be
END
{ echo 'void nobody_has_this(void); void call(void) { nobody_has_this(); }' && echo "$order" && export_as ORDER; } |
    compile lost
windtunnel run small.json --plugin lost.so
if [ "$status" -ne 2 ] || ! grep -q 'undefined symbol: nobody_has_this' said.err; then
    fail "an undefined symbol: $status $(cat said.err)"
fi

# Of a plug-in whose first fields are given.
tampered() { # fields, more C
    printf '%s\n%s\n%s\n' "$order" "${2-}" \
        "const struct windtunnel_plugin windtunnel_plugin = {$1, .name = \"test\", .version = \"1\",
        .policy = &policy};" |
        compile bad
}
abi=$(sed -n 's/^#define PLUGIN_ABI *//p' "$repository/policies/plugin.h")
tampered '77'
refused 2 run small.json --plugin bad.so <<END
error: plug-in bad.so was built for plug-in ABI 77, this is ABI $abi
  build it again with the headers of this version
END
tampered 'PLUGIN_ABI, 99, 1, 1'
refused 2 run small.json --plugin bad.so <<'END'
error: plug-in bad.so is for an unknown seam, number 99
  PLUGIN_FOR of policies/plugin.h writes the seams there are
END
tampered 'PLUGIN_ABI, PLUGIN_ORDER, 8, 8'
printf '#include "policies/plugin.h"\n#include <stdio.h>\n%s\n' \
    'int main(void) { printf("%zu", sizeof(struct order_policy)); }' >size.c
size=$("${CC:-cc}" -std=gnu11 -w -I"$repository" -o size size.c && ./size)
refused 2 run small.json --plugin bad.so <<END
error: plug-in bad.so: its order policy is a struct of 8 bytes, here it has $size
  build it again with the headers of this version
END
tampered 'PLUGIN_ABI, PLUGIN_ORDER, sizeof(struct order_policy), 8'
windtunnel run small.json --plugin bad.so
if [ "$status" -ne 2 ] || ! grep -q 'what its order policy looks at had 8 bytes, here it has' said.err; then
    fail "another view: $status $(cat said.err)"
fi

says() { # message, SEAM, C with `policy`
    { echo "$3" && export_as "$2"; } | compile bad
    printf '%s\n' "$1" | refused 2 run small.json --plugin bad.so
}
says "error: plug-in bad.so: the name of its order policy, 'sjf', is taken by one that is built in
  give the policy another name" ORDER \
    'static uint64_t rank(const struct order_view *v, const struct order_config *c) { return 0; }
static const struct order_policy policy = {.name = "sjf", .version = 1, .summary = "s", .rank = rank};'
says "error: plug-in bad.so: its order policy 'mine' lacks the hook 'rank'" ORDER \
    'static const struct order_policy policy = {.name = "mine", .version = 1, .summary = "s"};'
says "error: plug-in bad.so: its placement policy 'mine' lacks the hook 'score'" PLACEMENT \
    'static const struct placement_policy policy = {.name = "mine", .version = 1, .summary = "s"};'
says "error: plug-in bad.so: its gang policy 'mine' lacks the hook 'next'" GANG \
    'static const struct gang_policy policy = {.name = "mine", .version = 1, .summary = "s"};'
says "error: plug-in bad.so: its estimate policy 'mine' lacks the hook 'length'" ESTIMATE \
    'static const struct estimate_policy policy = {.name = "mine", .version = 1, .summary = "s"};'
says "error: plug-in bad.so: its victims policy 'mine' lacks the hook 'rank'" VICTIM \
    'static const struct victim_key policy = {.name = "mine", .summary = "s"};'
says "error: plug-in bad.so: its quota policy 'mine' lacks the hook 'compare'" QUOTA \
    'static const struct quota_policy policy = {.name = "mine", .version = 1, .summary = "s"};'
says "error: plug-in bad.so: its quota policy 'mine' lacks the hook 'may_take'" QUOTA \
    'static bool may(struct queue_tree *t, queue_id q, const int64_t *a) { return true; }
static const struct quota_policy policy = {.name = "mine", .summary = "s", .is_flat = true, .may_reclaim = may};'
says "error: plug-in bad.so: its quota policy 'mine' has a bad 'state_size'" QUOTA \
    'static const struct quota_policy policy = {.name = "mine", .summary = "s", .is_flat = true,
        .state_size = 1 << 30};'
says "error: plug-in bad.so: its order policy 'mine' has no summary" ORDER \
    'static const struct order_policy policy = {.name = "mine"};'
says "error: plug-in bad.so: the name of its order policy must be 1 to 40 of a-z, 0-9, '_' and '-'" ORDER \
    'static const struct order_policy policy = {.name = "My Own", .summary = "s"};'
{ echo "$order" && export_as ORDER; } | compile good
cp good.so twin.so
refused 2 run small.json --plugin good.so --plugin twin.so <<'END'
error: plug-in twin.so: the name of its order policy, 'mine', is taken by another plug-in
  give the policy another name
END
windtunnel run small.json --plugin good.so --plugin ./good.so --quiet # the same file twice is once
[ "$status" -eq 0 ] || fail "twice the same: $(cat said.err)"
for i in 1 2 3 4 5 6 7 8 9; do
    echo "$order" | sed "s/\"mine\"/\"mine$i\"/" >body
    { cat body && export_as ORDER; } | compile "many$i"
    set -- "$@" --plugin "many$i.so"
done
refused 2 run small.json "$@" <<'END'
error: plug-in many9.so is one more than the 8 there may be
END

# ---- Refused: who may write it ----

real=$(pwd -P)
chmod g+w good.so
refused 2 run small.json --plugin good.so <<'END'
error: plug-in good.so is not loaded: it may be written by others (mode 0775)
  chmod go-w good.so
END
chmod g-w,o+w good.so
refused 2 run small.json --plugin good.so <<'END'
error: plug-in good.so is not loaded: it may be written by others (mode 0757)
  chmod go-w good.so
END
chmod o-w good.so
mkdir open
cp good.so open
chmod 1777 open
ln -s open/good.so link.so # what counts is where the file stands
for file in open/good.so link.so; do
    refused 2 run small.json --plugin $file <<END
error: plug-in $file is not loaded: its folder may be written by others (mode 1777)
  chmod go-w $real/open
END
done

# ---- Crashes: told, and the signal raised again ----

# A rank that does something bad at the third job.
with_rank() { # statement
    cat <<END
#include <signal.h>
#include <stdlib.h>
#include <string.h>
static volatile int *nowhere;
static volatile int zero;
static uint64_t deep(volatile char *p) { volatile char room[4096]; room[0] = *p; return deep(room) + room[0]; }
static uint64_t rank(const struct order_view *v, const struct order_config *c)
{
    if (v->submit >= 20 * TIME_NS_PER_S) { $1; }
    return 0;
}
static const struct order_policy policy = {.name = "mine", .version = 1, .summary = "s", .rank = rank};
END
    export_as ORDER
}
mine='--set policy.order=["mine"]'

crashes() { # statement, signal's number, its name
    with_rank "$1" | compile bad
    rm -rf new
    windtunnel run small.json --plugin bad.so $mine --out new
    if [ -z "$is_sanitized" ] && [ "$status" -ne $((128 + $2)) ]; then
        fail "$3: status $status"
    fi
    if ! grep -q "^error: plug-in bad.so (order policy 'mine') crashed in its hook 'rank': $3 " said.err; then
        fail "$3 is not told: $(cat said.err)"
    fi
    [ -z "$(find new -type f 2>/dev/null)" ] || fail "$3: left files"
    windtunnel run small.json --plugin bad.so $mine --out old
    record_is_untouched old "$3"
}
make_record old
ulimit -c 0
crashes 'return *nowhere' 11 SIGSEGV
crashes 'return strlen((const char *)nowhere)' 11 SIGSEGV
crashes 'char a = 0; return deep(&a)' 11 SIGSEGV
crashes 'raise(SIGFPE)' 8 SIGFPE
crashes 'abort()' 6 SIGABRT
crashes 'raise(SIGBUS)' 7 SIGBUS
crashes '__builtin_trap()' 4 SIGILL
# Memory it should not have written to may crash others.
{ echo 'static int64_t score(const struct spot *s) { ((struct ledger *)s->ledger)->nodes = NULL; return 0; }
static const struct placement_policy policy = {.name = "mine", .summary = "s", .score = score};' &&
    export_as PLACEMENT; } | compile bad
windtunnel run small.json --plugin bad.so --set policy.placement=mine
grep -q "^error: SIGSEGV (a bad address) outside of any plug-in's code; loaded is \
plug-in bad.so (placement policy 'mine')" said.err ||
    { [ -n "$is_sanitized" ] && grep -q 'null pointer' said.err; } ||
    fail "a crash of others: $(cat said.err)"
{ echo '__attribute__((constructor)) static void start(void) { __builtin_trap(); }' && echo "$order" &&
    export_as ORDER; } | compile bad
windtunnel policy list --plugin bad.so
grep -q '^error: plug-in bad.so crashed while it was loaded: SIGILL' said.err ||
    fail "a crash of a constructor: $(cat said.err)"
printf '{"name": "c", "policy": {"order": ["mine"]}, "nodes": [{"name": "n0", "gpus": 8}],
 "jobs": [{"name": "j", "tasks": [{"gpus": 1}]}], "expect": {"j": {"status": "running"}}}' >crash.json
with_rank 'return *nowhere' | compile bad
windtunnel case crash.json --plugin bad.so
grep -q "crashed in its hook 'rank': SIGSEGV" said.err || fail "a crash in a case: $(cat said.err)"

# ---- Hangs ----

with_rank 'for (;;) zero++' | compile bad
refused 2 run small.json --plugin bad.so --plugin-timeout 1 $mine <<'END'
error: plug-in bad.so (order policy 'mine') was still in its hook 'rank' after 1 s of CPU time without a finished cycle
  no output was written; --plugin-timeout SECONDS allows more
END
refused_plainly 2 case crash.json --plugin bad.so --plugin-timeout 1 <<'END'
error: plug-in bad.so (order policy 'mine') was still in its hook 'rank' after 1 s of CPU time without a finished cycle
  no output was written; --plugin-timeout SECONDS allows more
END
# A ring of siblings: whoever goes through them never comes back.
{ echo 'static int compare(struct queue_tree *t, struct contender a, struct contender b)
{ queue_tree_divide(t, a.queue); return queue_tree_compare_age(t, a.queue, b.queue); }
static void divide(struct queue_tree *t, queue_id p, enum resource r, int64_t total)
{ queue_id c = t->queues[p].first_child; t->queues[c].next_sibling = c; }
static const struct quota_policy policy = {.name = "mine", .summary = "s", .compare = compare, .divide = divide};' &&
    export_as QUOTA; } | compile bad
sed 's/^3,20,600,32/3,10,600,32/' small.csv >both.csv
refused 2 run small.json --plugin bad.so --plugin-timeout 1 --set policy.quota=mine --set workload.trace=both.csv \
    <<'END'
error: the scheduler was still busy, with plug-in bad.so (quota policy 'mine'), after 1 s of CPU time without a finished cycle
  no output was written; --plugin-timeout SECONDS allows more
END
refused_plainly 2 run small.json --plugin-timeout 0 <<'END'
error: option '--plugin-timeout' must be an integer from 1 to 86400, got '0'
END

# ---- Nonsense ----

nonsense() { # what is said, SEAM, assignment of the policy, C with `policy`
    { echo "$4" && export_as "$2"; } | compile bad
    seam=$(echo "$2" | tr '[:upper:]' '[:lower:]')
    printf "error: plug-in bad.so (%s policy 'mine') %s\n" "$seam" "$1" |
        refused 2 run small.json --plugin bad.so --set "policy.$3"
}
nonsense 'chose GPUs that are not free' PLACEMENT placement=mine \
    'static uint16_t choose(uint16_t f, uint32_t n) { return 0xffff; }
static const struct placement_policy policy = {.name = "mine", .summary = "s", .score = placement_fit_score,
    .choose_gpus = choose};'
nonsense 'chose more or fewer GPUs than were asked for' PLACEMENT placement=mine \
    'static uint16_t choose(uint16_t f, uint32_t n) { return n == 1 ? f : f & -f; }
static const struct placement_policy policy = {.name = "mine", .summary = "s", .score = placement_fit_score,
    .choose_gpus = choose};'
nonsense 'scored a spot SPOT_NEVER, which only a policy that looks at nodes may' PLACEMENT placement=mine \
    'static int64_t score(const struct spot *s) { return SPOT_NEVER; }
static const struct placement_policy policy = {.name = "mine", .summary = "s", .score = score};'
nonsense "scored a node higher than its own 'bound'" PLACEMENT placement=mine \
    'static int64_t score(const struct spot *s) { return s->node; }
static int64_t bound(const struct spot *s) { return -1; }
static const struct placement_policy policy = {.name = "mine", .summary = "s", .score = score, .looks_at_nodes = true,
    .bound = bound};'
nonsense 'drew a number that is not below the count' PLACEMENT placement=mine \
    'static int64_t score(const struct spot *s) { return 0; }
static uint32_t draw(const struct spot *s, uint32_t count) { return count; }
static const struct placement_policy policy = {.name = "mine", .summary = "s", .score = score, .looks_at_nodes = true,
    .draw = draw};'
nonsense 'gave two scores for the same spot' PLACEMENT placement=mine \
    'static int64_t score(const struct spot *s) { static int64_t n; return n++; }
static const struct placement_policy policy = {.name = "mine", .summary = "s", .score = score};'
nonsense 'gave two ranks for the same job at the same time' ORDER 'order=["mine"]' \
    'static uint64_t rank(const struct order_view *v, const struct order_config *c) { static uint64_t n; return n++; }
static const struct order_policy policy = {.name = "mine", .summary = "s", .rank = rank};'
nonsense 'asks for more members than the job lacks' GANG gang.policy=mine \
    'static bool next(const struct gang_view *v, uint32_t chunk[]) { chunk[0] = v->groups[0].count + 7; return true; }
static const struct gang_policy policy = {.name = "mine", .summary = "s", .next = next};'
nonsense 'asks for an allocation step of no members' GANG gang.policy=mine \
    'static bool next(const struct gang_view *v, uint32_t chunk[]) { chunk[0] = 0; return true; }
static const struct gang_policy policy = {.name = "mine", .summary = "s", .next = next};'
nonsense 'forbids by a queue that is neither the leaf nor above it' QUOTA quota=mine \
    'static queue_id forbids(struct queue_tree *t, queue_id q, const int64_t *a) { return 12345; }
static const struct quota_policy policy = {.name = "mine", .summary = "s", .is_flat = true, .forbids = forbids};'
nonsense 'wants to be called again at a time that has passed' QUOTA quota=mine \
    'static bool advance(struct queue_tree *t, time_ns now, time_ns *next) { *next = now; return false; }
static const struct quota_policy policy = {.name = "mine", .summary = "s", .is_flat = true, .advance = advance};'

# Where it takes more than the small scenario: as cases.
nonsense_in() { # what is said, SEAM, policy, jobs, C with `policy`
    { echo "$5" && export_as "$2"; } | compile bad
    seam=$(echo "$2" | tr '[:upper:]' '[:lower:]')
    [ "$seam" != victim ] || seam=victims
    first=$(echo "$4" | sed -n '1s/^{"name": \("[a-z]*"\).*/\1/p')
    printf '{"name": "c", "policy": %s, "nodes": [{"name": "n0", "gpus": 2}],
 "queues": [{"name": "a", "quota_gpus": 1}, {"name": "b", "quota_gpus": 1}],
 "jobs": [%s], "expect": {%s: {"status": "running"}}}' "$3" "$4" "$first" >odd.json
    windtunnel case odd.json --plugin bad.so
    if [ "$status" -ne 10 ] || ! grep -q "^not ok c: .*plug-in bad.so ($seam policy 'mine') $1$" said.out; then
        fail "$1: $(cat said.out said.err)"
    fi
}
two='{"name": "x", "queue": "a", "tasks": [{"gpus": 2}]},
 {"name": "y", "queue": "b", "tasks": [{"gpus": 2}]}'
nonsense_in 'finds two queues equal: the last keys are the age, then the id' QUOTA '{"quota": "mine"}' "$two" \
    'static int compare(struct queue_tree *t, struct contender a, struct contender b) { return 0; }
static const struct quota_policy policy = {.name = "mine", .summary = "s", .compare = compare};'
nonsense_in 'puts each of two queues before the other' QUOTA '{"quota": "mine"}' "$two" \
    'static int compare(struct queue_tree *t, struct contender a, struct contender b) { return -1; }
static const struct quota_policy policy = {.name = "mine", .summary = "s", .compare = compare};'
nonsense_in 'gave a queue a negative share' QUOTA '{"quota": "mine"}' "$two" \
    'static int compare(struct queue_tree *t, struct contender a, struct contender b)
{ queue_tree_divide(t, a.queue); return queue_tree_compare_age(t, a.queue, b.queue); }
static void divide(struct queue_tree *t, queue_id p, enum resource r, int64_t total)
{ for (EACH_CHILD(t, p, c)) t->queues[c].share[r] = -5; }
static const struct quota_policy policy = {.name = "mine", .summary = "s", .compare = compare, .divide = divide};'
running='{"name": "low", "queue": "a", "priority": 10,
  "tasks": [{"gpus": 1, "state": "running", "node": "n0", "running_for_s": 900}]},
 {"name": "low2", "queue": "a", "priority": 10,
  "tasks": [{"gpus": 1, "state": "running", "node": "n0", "running_for_s": 900}]},
 {"name": "high", "queue": "a", "priority": 90, "tasks": [{"gpus": 1}]}'
nonsense_in 'gave two ranks for the same victim at the same time' VICTIM \
    '{"order": ["priority"], "preemption": {"policy": "kill", "victims": ["mine"], "min_runtime_s": 0}}' "$running" \
    'static uint64_t rank(const struct victim_view *v) { static uint64_t n; return n++; }
static const struct victim_key policy = {.name = "mine", .summary = "s", .rank = rank};'
nonsense_in 'is all or nothing, but asks for less than the minimum' GANG '{"gang": {"policy": "mine"}}' \
    '{"name": "x", "queue": "a", "min_members": 2, "tasks": [{"gpus": 1, "count": 3}]}' \
    'static bool next(const struct gang_view *v, uint32_t chunk[]) { chunk[0] = 1; return true; }
static const struct gang_policy policy = {.name = "mine", .summary = "s", .is_all_or_nothing = true, .next = next};'
limited='{"name": "r", "queue": "a", "limit_s": 1000, "tasks": [{"gpus": 2, "state": "running", "node": "n0"}]},
 {"name": "x", "queue": "a", "limit_s": 50, "tasks": [{"gpus": 2}]},
 {"name": "y", "queue": "a", "limit_s": 50, "tasks": [{"gpus": 1}]}'
nonsense_in 'says that a job runs for less than no time' ESTIMATE \
    '{"estimate": "mine", "backfill": {"policy": "easy"}}' "$limited" \
    'static time_ns length(time_ns l, time_ns e) { return -1; }
static const struct estimate_policy policy = {.name = "mine", .summary = "s", .length = length};'

finish
