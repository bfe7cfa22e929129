#!/bin/sh
# The example of docs/ci.md, run as written in a toy repository: what its GitHub workflow, its action and its GitLab job
# do with a change that passes, one that fails and one that cannot be decided; docs/ci.md shows these files and what
# they print.
set -u
. tests/support/cli.sh
umask 022

python=
for candidate in python3 /usr/bin/python3; do
    if [ -z "$python" ] && $candidate -c 'import yaml' 2>/dev/null; then
        python=$candidate
    fi
done
if [ -z "$python" ]; then
    echo 'skipped: python3-yaml is not installed (make deps installs it)'
    exit 77
fi
examples=$repository/docs/examples/ci
document=$repository/docs/ci.md

# The program as it would be installed; the tools that install it only say what they were asked for.
mkdir bin temp
ln -s "$program" bin/windtunnel
for tool in apt-get curl sudo; do
    printf '#!/bin/sh\necho "%s $*" >>"%s/asked"\n' "$tool" "$PWD" >bin/$tool
done
chmod 755 bin/*
PATH=$PWD/bin:$PATH PYTHONDONTWRITEBYTECODE=1
TMPDIR=$PWD/temp HOME=$PWD
export PATH PYTHONDONTWRITEBYTECODE TMPDIR HOME
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
[ "$(grep -c windtunnel setup.sh)" -ge 2 ] || fail "docs/ci.md has no commands: $(cat setup.sh)"
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

# The changes of docs/ci.md, each on a branch of its own.
for change in passes fails undecided; do
    (cd toy && git checkout -q -b $change main && sh -e -c "$(block "sh $change" 1)" && git commit -q -a -m $change) ||
        fail "the change that $change"
done

# ---- The jobs. ----

job() { # expected status, file of the output, arguments of ci_job.py
    expected=$1 output=$2
    shift 2
    mkdir place
    $python "$repository/tests/support/ci_job.py" "$@" place >"$output" 2>said.err
    status=$?
    [ $status -eq "$expected" ] || fail "$*: status $status, not $expected: $(cat "$output" said.err)"
    is_silent said.err "$*"
}
obeys_schema() { # file
    xmllint --nonet --noout --schema "$repository/tests/cli/junit.xsd" "$1" 2>xml.err || fail "JUnit: $(cat xml.err)"
}
github() { # expected status, branch, verdict, status of compare
    job "$1" "$2.github" github toy/.github/workflows/policy.yml compare "$PWD/toy" "$2" main
    printf 'verdict=%s\nstatus=%s\n' "$3" "$4" | diff -u - place/outputs || fail "$2: other outputs"
    block "console $2" 1 | diff -u - "$2.github" || fail "docs/ci.md shows another output of the change that $2"
    grep -q "^## Verdict: $3" place/summary.md || fail "$2: the summary lacks the verdict: $(cat place/summary.md)"
    obeys_schema place/checkout/windtunnel.xml
    rm -rf place
}
gitlab() { # expected status, branch, verdict
    job "$1" "$2.gitlab" gitlab toy/.gitlab-ci.yml policy "$PWD/toy" "$2"
    grep -q "^Verdict: $3" "$2.gitlab" || fail "$2: another verdict: $(cat "$2.gitlab")"
    grep -q "^## Verdict: $3" place/checkout/windtunnel.md ||
        fail "$2: another verdict: $(cat place/checkout/windtunnel.md)"
    obeys_schema place/checkout/windtunnel.xml
    rm -rf place
}

github 0 passes passed 0
github 10 fails failed 10
github 11 undecided inconclusive 11
gitlab 0 passes passed
gitlab 10 fails failed
gitlab 11 undecided inconclusive
sed "s|$PWD/place/temp|TEMP|" asked | sort | uniq -c | sed 's/^ *//' >asked.now
diff -u - asked.now <<'END' || fail 'the package is installed in another way'
3 apt-get install -y --no-install-recommends TEMP/windtunnel.deb
3 apt-get install -y --no-install-recommends ca-certificates curl
3 apt-get update
3 curl -fsSL -o TEMP/windtunnel.deb https://packages.example.org/windtunnel_0.1.0_amd64.deb
END

# ---- The action with other inputs. ----

variant() { # expected status, branch, verdict, status of compare, edit of the workflow
    sed "s|^ *deb: .*||; $5" toy/.github/workflows/policy.yml >variant.yml
    cmp -s variant.yml toy/.github/workflows/policy.yml && fail "no edit: $5"
    job "$1" variant.out github variant.yml compare "$PWD/toy" "$2" main
    printf 'verdict=%s\nstatus=%s\n' "$3" "$4" | diff -u - place/outputs || fail "$5: other outputs"
}

: >asked
variant 0 undecided inconclusive 11 's|gates: gates.json|&\n          fail-on-inconclusive: false|'
grep -q '^## Verdict: inconclusive' place/summary.md || fail 'no summary of what is inconclusive'
rm -rf place
variant 10 fails failed 10 's|base-policy: .*|baseline: baseline.json\n          junit: gates.xml|'
obeys_schema place/checkout/gates.xml
grep -q ' queue_time_mean_s of training: +[0-9.]* %25 .*failed$' variant.out && fail 'a baseline knows a decision'
grep -q '%0Afirst decision that differs: not known; baseline: ' variant.out || fail "no baseline: $(cat variant.out)"
rm -rf place
is_silent asked 'without a package'
# With a few seeds, and gates of the scenario; a package that is in the repository.
(cd toy && git checkout -q -b more passes && : >windtunnel.deb &&
    sed -i 's|"world"|"gates": [{"metric": "queue_time_p95_s", "max": "1d"}],\n  &|' scenario.json &&
    git add -A && git commit -q -m more)
variant 0 more passed 0 's|gates: .*|seeds: 5\n          deb: windtunnel.deb|'
grep -q '^2 sides, 5 seeds (1 to 5); the base is base$' place/summary.md ||
    fail "other seeds: $(head -5 place/summary.md)"
grep -q "^apt-get install -y --no-install-recommends $PWD/place/temp/windtunnel.deb$" asked || fail 'no package'
grep -q curl asked && fail 'a package that is there is fetched'
rm -rf place
# A policy that is no policy.
(cd toy && git checkout -q -b broken main && sed -i 's/best_fit/best_fitt/' policy.json && git commit -q -a -m broken)
mkdir place
$python "$repository/tests/support/ci_job.py" github toy/.github/workflows/policy.yml compare "$PWD/toy" broken main \
    place >variant.out 2>said.err
[ $? -eq 2 ] || fail "a wrong policy: $(cat variant.out said.err)"
grep -q "^error: policy.json:6:16: .*best_fitt" said.err || fail "a wrong policy is not told: $(cat said.err)"
printf 'verdict=error\nstatus=2\n' | diff -u - place/outputs || fail 'a wrong policy: other outputs'
rm -rf place

finish
