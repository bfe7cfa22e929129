# shellcheck shell=sh
# tests/support/policy_check.sh -- sourced behind cli.sh by the tests of `policy check`: a policy with a planted bug
# must break the law that the bug is about, and the scenario that is written must show it again.
#
#   worlds=48 shrink=60
#   breaks strict 'which was submitted earlier' priority --claim strict
#   shows 5 'a node stands in the wrong bucket'

mkdir tmp
export TMPDIR="$PWD/tmp"

breaks() { # law, what is said of it, words of the command
    law=$1
    pattern=$2
    shift 2
    rm -rf out
    windtunnel policy check "$@" --worlds "$worlds" --shrink "$shrink" --out out
    [ "$status" -eq 10 ] || fail "$law, $1: status $status: $(cat said.out said.err)"
    grep -q "^  BROKEN  $law " said.out || fail "$law, $1: another law: $(cat said.out)"
    [ "$(grep -c '^  BROKEN ' said.out)" -eq 1 ] || fail "$law, $1: more than one law broke: $(cat said.out)"
    grep -q "$pattern" said.out || fail "$law, $1: it does not say '$pattern': $(cat said.out)"
    [ -s "out/$law/scenario.json" ] && [ -s "out/$law/j.jsonl" ] || fail "$law, $1: no scenario was written"
    [ -z "$(ls tmp)" ] || fail "$law, $1: files were left"
}

shows() { # status and words of `run --check` on the scenario, with its other options
    expected=$1
    pattern=$2
    shift 2
    windtunnel run "out/$law/scenario.json" --check "$@"
    [ "$status" -eq "$expected" ] && grep -q "$pattern" said.err ||
        fail "$law: the scenario shows: status $status: $(cat said.err)"
}
