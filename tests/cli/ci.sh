#!/bin/sh
# The example of docs/ci.md, run as written in a repository of its own: ten kinds of change under its GitHub workflow,
# its action and its GitLab job, with verdict, exit status, annotations and JUnit of each; docs/ci.md shows these files
# and what they print.
# Law: a change of what runs is seen, and the rules of the branch that it goes to judge it.
set -u
. tests/support/cli.sh
umask 022

python=
for candidate in python3 /usr/bin/python3; do
    if [ -z "$python" ] && $candidate -c 'import yaml' 2>/dev/null; then
        python=$candidate
    fi
done
if [ -z "$python" ] || ! pkg-config --exists jansson; then
    echo 'skipped: no python3-yaml, no pkg-config or no jansson (make deps installs them)'
    exit 77
fi
examples=$repository/docs/examples/ci
document=$repository/docs/ci.md

# The program and its headers as they would be installed; the tools that install them only say what they were asked for.
# Both systems and all branches share the runs that they have in common: those of the base are made once.
mkdir bin temp
cat >bin/windtunnel <<END
#!/bin/sh
[ "\$1" = compare ] || exec "$program" "\$@"
"$program" "\$@" --keep $PWD/kept >$PWD/said
status=\$?
sed 's| --keep $PWD/kept||' $PWD/said
exit \$status
END
for tool in apt-get curl sudo; do
    printf '#!/bin/sh\necho "%s $*" >>"%s/asked"\n' "$tool" "$PWD" >bin/$tool
done
chmod 755 bin/*
cat >windtunnel_sched.pc <<END
Name: windtunnel_sched
Description: the headers of this source tree
Version: 0
Requires: jansson
Cflags: -I$repository
END
PATH=$PWD/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PKG_CONFIG_PATH=$PWD${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
TMPDIR=$PWD/temp HOME=$PWD
export PATH PYTHONDONTWRITEBYTECODE TMPDIR HOME PKG_CONFIG_PATH
git config --global user.name test
git config --global user.email test@example.org
git config --global init.defaultBranch main

# A block of docs/ci.md: its language and the number of the block among those of that language, from 1.
block() {
    awk -v language="$1" -v number="$2" '
        $0 == "```" { is_in = 0 }
        is_in { print }
        $0 == "```" language && ++count == number { is_in = 1 }' "$document"
}

# ---- The repository, by the commands of docs/ci.md; its files are those shown. ----

git init -q toy
block sh 1 | sed "s|/usr/share/doc/windtunnel/docs|$repository/docs|" >setup.sh
[ "$(grep -c cp setup.sh)" -ge 2 ] || fail "docs/ci.md has no commands: $(cat setup.sh)"
(cd toy && sh -e ../setup.sh >../setup.out 2>&1) || fail "the setup: status $?: $(cat setup.out)"
[ "$(cd toy && git status --short)" = '' ] || fail 'the setup does not commit all'
number=1
for file in scenario.json policy.json gates.json; do
    block json $number | diff -u - "toy/$file" || fail "docs/ci.md shows another $file"
    number=$((number + 1))
done
block yaml 1 | diff -u - toy/.github/workflows/policy.yml || fail 'docs/ci.md shows another workflow'
block yaml 2 | diff -u - toy/.gitlab-ci.yml || fail 'docs/ci.md shows another GitLab job'
cmp toy/.github/actions/windtunnel/action.yml "$examples/action.yml" || fail 'the action is another'
$python - "$examples/action.yml" "$document" <<'END' || fail 'the table of inputs in docs/ci.md is another'
import re, sys, yaml
inputs = yaml.safe_load(open(sys.argv[1]))['inputs']
rows = re.findall(r'^\| `([a-z-]+)` \| (?:`([^`]*)` |(needed) |)\| ', open(sys.argv[2]).read(), re.MULTILINE)
shown = {name: None if word else default for name, default, word in rows}
wanted = {name: None if of.get('required') else of['default'] for name, of in inputs.items()}
if shown != wanted:
    raise SystemExit('%r, not %r' % (shown, wanted))
END

# ---- The changes, each on a branch of its own. ----

edit() { # branch; the commands that make the change, in the repository
    (cd toy && git checkout -q -b "$1" main && sh -euc "$2" && [ -n "$(git status --short)" ] && git add -A &&
        git commit -q -m "$1") || fail "the change '$1' is none"
}
quota=$(block 'sh quota' 1) comment=$(block 'sh comment' 1)
edit quota "$quota"
edit nodes 'sed -i "s/\"nodes\": 16/\"nodes\": 10/" cluster.json'
edit policy 'sed -i "s/\"best_fit\"/\"first_fit\"/" policy.json'
edit plugin 'sed -i "s/GPUS_PER_H = 8/GPUS_PER_H = 9/" plugins/patient.c'
edit period 'sed -i "s/\"scheduler_period_s\": 10/\"scheduler_period_s\": 900/" scenario.json'
edit trace 'sed -i "/^[0-9]*7,/d" jobs.csv'
edit loosened "$quota
    sed -i '/research/s/20m/20h/; /allocation/s/0.02/0.9/' gates.json"
edit removed "$quota
    sed -i '/research/d; s/\"1m\"},/\"1m\"}/; /allocation/d' gates.json"
edit comment "$comment"
edit crash 'sed -i "s/    (void)config;/    __builtin_trap();/" plugins/patient.c'
# More: rules without a change of what runs, a new gate, a policy that is no policy, a file that nothing reads.
edit only-rules 'sed -i "/research/s/20m/20h/" gates.json'
edit new-gate 'sed -i "s|^{.gates.: .|&\n  {\"metric\": \"queue_time_max_s\", \"max_increase\": -60},|" gates.json
    sed -i "s/\"best_fit\"/\"first_fit\"/" policy.json'
edit broken 'sed -i "s/best_fit/best_fitt/" policy.json'
edit readme 'echo text >README'
# What happens on main meanwhile is no part of a change: the base is the merge base.
(cd toy && git checkout -q main && sed -i 's/"scheduler_period_s": 10/"scheduler_period_s": 60/' scenario.json &&
    git commit -q -a -m later)

# ---- The jobs. ----

job() { # system, branch; its output is in BRANCH.SYSTEM, its folder is `place`
    file=toy/.gitlab-ci.yml name=policy
    [ "$1" = gitlab ] || file=toy/.github/workflows/policy.yml name=compare
    mkdir place
    $python "$repository/tests/support/ci_job.py" "$1" "$file" "$name" "$PWD/toy" "$2" main place >"$2.$1" 2>said.err
    status=$?
}
obeys_schema() { # file
    xmllint --nonet --noout --schema "$repository/tests/cli/junit.xsd" "$1" 2>xml.err || fail "JUnit: $(cat xml.err)"
}
# "3 passed, 2 failure, 0 error, 0 skipped"
junit_counts() { # file
    $python - "$1" <<'END'
import sys, xml.etree.ElementTree as tree
cases = tree.parse(sys.argv[1]).findall('.//testcase')
kinds = [next((e.tag for e in case if e.tag in ('failure', 'error', 'skipped')), 'passed') for case in cases]
print(', '.join('%d %s' % (kinds.count(kind), kind) for kind in ('passed', 'failure', 'error', 'skipped')))
END
}

# Both systems come to this status, verdict and JUnit; each pattern on stdin, a line each, is in GitHub's annotations.
judged() { # branch, status, words of the verdict, pattern of the counts in the JUnit
    cat >patterns
    seen='property name="\(change\|input\|verdict\)"' verdict=failed
    [ "$2" -ne 0 ] || verdict=passed
    for system in github gitlab; do
        job $system "$1"
        junit=place/checkout/windtunnel.xml summary=place/checkout/windtunnel.md
        [ "$status" -eq "$2" ] || fail "$1, $system: status $status, not $2: $(cat "$1.$system" said.err)"
        obeys_schema $junit
        counts=$(junit_counts $junit)
        echo "$counts" | grep -Eqx "$4" || fail "$1, $system: the JUnit has $counts: $(cat $junit)"
        if [ $system = github ]; then
            summary=place/summary.md
            printf 'verdict=%s\nstatus=%s\n' $verdict "$2" | diff -u - place/outputs || fail "$1: other outputs"
            says "$1.github" "^::notice title=windtunnel compare::Verdict: $3"
            while read -r pattern; do
                says "$1.github" "$pattern"
            done <patterns
        else
            says "$1.gitlab" "^Verdict: $3"
            grep "$seen" $junit | diff -u seen.xml - || fail "$1: the systems differ"
        fi
        says $summary "^## Verdict: $3"
        grep "$seen" $junit >seen.xml
        rm -rf place
        printf '%-11s%-8s%-4s%-8s%-52s%s\n' "$1" $system "$status" $verdict "$counts" \
            "$(grep -c '^::error' "$1.github") errors, $(grep -c '^::warning' "$1.github") warnings" >>table
    done
}

at='title=windtunnel compare,file=gates.json,line'
same='passed: nothing differs between the sides, and nothing was run$'
nothing='1 passed, 0 failure, 0 error, 0 skipped'
judged quota 10 'failed: 2 of 5 gates$' '3 passed, 2 failure, 0 error, 0 skipped' <<END
^::notice title=windtunnel compare::queues.research.quota_gpus: 48 → 32%0Aqueues.speech.quota_gpus: 32 → 48$
^::error $at=2::change: queue_time_mean_s of research: +.*, at most +20m 00s allowed: failed%0Ameans: base .*, change .*; .*%0Ato repeat: windtunnel compare --base-dir base --scenario scenario.json --time 10m --gates gates.json%0Afirst decision that differs
^::error $at=6::change: allocation_ratio: -.* points .*, at least -2.0 points allowed: failed%0Ameans: base .* %25, change .* %25; 
END
block 'console quota' 1 >shown
grep '^::' quota.github | diff -u shown - || fail 'docs/ci.md shows another output of the change of a quota'
judged nodes 10 'failed: [1-5] of 5 gates$' '[0-4] passed, [1-5] failure, 0 error, 0 skipped' <<END
^::notice title=windtunnel compare::cluster.pools.h100.nodes: 16 → 10$
^::error $at=2::change: queue_time_mean_s of research: +
END
judged policy 0 'passed: all gates$' '5 passed, 0 failure, 0 error, 0 skipped' <<END
^::notice title=windtunnel compare::policy.placement: "best_fit" → "first_fit"$
END
judged plugin 0 'passed: all gates$' '5 passed, 0 failure, 0 error, 0 skipped' <<END
^::notice title=windtunnel compare::policy.plugins: \["plugins/patient.so (digest [0-9a-f]*)"\] → \["plugins/patient.so (digest [0-9a-f]*)"\]$
END
judged period 10 'failed: 1 of 5 gates$' '4 passed, 1 failure, 0 error, 0 skipped' <<END
^::notice title=windtunnel compare::world.scheduler_period_s: 10 → 900$
^::error $at=5::change: queue_time_mean_s of serving: +.*, at most +1m 00s allowed: failed
END
judged trace 0 "$same" "$nothing" <<END
^::warning title=windtunnel compare::the jobs: workload.trace: "jobs.csv (digest [0-9a-f]*)" → "jobs.csv (digest [0-9a-f]*)"; both sides run those of the change$
END
judged loosened 10 'failed: 2 of 5 gates$' '3 passed, 2 failure, 0 error, 0 skipped' <<END
^::warning $at=2::gate of queue_time_mean_s of research: at most +20m 00s allowed → at most +20h 00m allowed; the rules of the base judge$
^::error $at=2::change: queue_time_mean_s of research: +.*, at most +20m 00s allowed: failed
END
judged removed 10 'failed: 2 of 5 gates$' '3 passed, 2 failure, 0 error, 0 skipped' <<END
^::warning title=windtunnel compare::gate of queue_time_mean_s of research: at most +20m 00s allowed → not set; the rules of the base judge$
^::error title=windtunnel compare::change: queue_time_mean_s of research: +.*, at most +20m 00s allowed: failed
END
judged comment 0 "$same" "$nothing" <<END
^::notice title=windtunnel compare::policy.json: comments or form alone$
END
block 'console comment' 1 >shown
grep '^::' comment.github | diff -u shown - || fail 'docs/ci.md shows another output of the change of a comment'
judged crash 10 'failed: \([0-9]*\) of \1 runs\? of change failed, and none of base$' \
    '0 passed, 0 failure, [1-9]* error, 5 skipped' <<END
^::error title=windtunnel compare::the run of 'change' with seed 1 failed: signal 4 (Illegal instruction)%0A  | error: plug-in plugins/patient.so (order policy 'patient') crashed in its hook 'rank': SIGILL.*%0Ato repeat: windtunnel compare --base-dir base
END
mv table ten
judged only-rules 0 "$same" "$nothing" <<END
^::warning $at=2::gate of queue_time_mean_s of research: at most +20m 00s allowed → at most +20h 00m allowed; the rules of the base judge$
END
judged new-gate 0 'passed: all gates$' '5 passed, 0 failure, 0 error, 1 skipped' <<END
^::warning $at=2::gate of queue_time_max_s: not set → at most -1m 00s allowed; the base has no such gate: it is shown, and judges nothing$
^::notice $at=2::new, judges nothing: change: queue_time_max_s: .* at most -1m 00s allowed: failed
END

sed "s|$PWD/place/temp|TEMP|g" asked | sort -u >asked.now
diff -u - asked.now <<'END' || fail 'the packages are installed in another way'
apt-get install -y --no-install-recommends ./debs/*.deb
apt-get install -y --no-install-recommends TEMP/windtunnel_0.1.0_amd64.deb TEMP/libwindtunnel-sched0_0.1.0_amd64.deb TEMP/libwindtunnel-sched-dev_0.1.0_amd64.deb
apt-get install -y --no-install-recommends ca-certificates curl gcc git libc6-dev make pkg-config
apt-get update
curl -fsSL -o TEMP/libwindtunnel-sched-dev_0.1.0_amd64.deb https://packages.example.org/libwindtunnel-sched-dev_0.1.0_amd64.deb
curl -fsSL -o TEMP/libwindtunnel-sched0_0.1.0_amd64.deb https://packages.example.org/libwindtunnel-sched0_0.1.0_amd64.deb
curl -fsSL -o TEMP/windtunnel_0.1.0_amd64.deb https://packages.example.org/windtunnel_0.1.0_amd64.deb
curl -fsSL -o debs/libwindtunnel-sched-dev.deb https://packages.example.org/libwindtunnel-sched-dev_0.1.0_amd64.deb
curl -fsSL -o debs/libwindtunnel-sched0.deb https://packages.example.org/libwindtunnel-sched0_0.1.0_amd64.deb
curl -fsSL -o debs/windtunnel.deb https://packages.example.org/windtunnel_0.1.0_amd64.deb
END
job github broken
[ "$status" -eq 2 ] || fail "a wrong policy: status $status: $(cat broken.github said.err)"
says said.err '^error: policy.json:.*best_fitt'
printf 'verdict=error\nstatus=2\n' | diff -u - place/outputs || fail 'a wrong policy: other outputs'
rm -rf place
job github readme
[ "$status" -eq 98 ] || fail "a text starts the job: status $status"
rm -rf place

echo 'note: the ten changes: change, system, status, verdict, test cases of the JUnit, annotations'
sed 's/^/note: /' ten
finish
