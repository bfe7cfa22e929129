#!/bin/sh
# docs/first-policy.md, as its reader types it: files are saved under their names, commands run one after another in one
# shell, from the source tree or, with INSTALLED=PREFIX, from what `make install` put there.
set -u
. tests/support/cli.sh

if ! pkg-config --exists jansson; then
    echo 'skipped: no pkg-config, or no jansson'
    exit 77
fi
umask 022
from=source other=installed
[ -z "${INSTALLED-}" ] || from=installed other=source

# Blocks in their order: a file is saved where it stands; a command that `fails` must.
awk -v other="$other" '
    /^```$/ && inside {
        if (name == "") print "echo \"== block " blocks "\""; else print "END_OF_FILE"
        inside = 0
        next
    }
    inside && !skipped { print }
    /^```(sh|c|json)/ {
        inside = 1; blocks++
        skipped = ($2 == other)
        name = ($1 == "```sh") ? "" : $2
        if (skipped) { name = ""; next }
        if (name != "") print "cat >" name " <<\"END_OF_FILE\""
        if ($2 == "fails") printf "! "
    }' "$repository/docs/first-policy.md" >blocks.sh
[ "$(grep -c '^echo "== block' blocks.sh)" -ge 7 ] || fail "the blocks of the document: $(cat blocks.sh)"

mkdir own bin
ln -s "$program" bin/windtunnel # by this name, whatever the variant
(
    cd own || exit 1
    if [ "$from" = source ]; then
        SOURCE=$repository
        PATH=$PATH
        alias_path=$scratch/bin
    else
        PKG_CONFIG_PATH=$INSTALLED/lib/pkgconfig
        export PKG_CONFIG_PATH
        alias_path=$INSTALLED/bin
    fi
    # The tree may hold a program of another variant: the one under test goes first.
    sed "s|^PATH=.*|&; PATH=$alias_path:\$PATH|" ../blocks.sh >../typed.sh
    [ "$from" = source ] || PATH=$alias_path:$PATH
    export PATH
    [ "$from" = source ] && export SOURCE
    sh -eu ../typed.sh >../typed.out 2>../typed.err
) || fail "the commands: $(tail -n 5 typed.out) $(cat typed.err)"

grep -q '^  patient  .*narrow jobs first' typed.out || fail "policy list: $(cat typed.out)"
grep -q 'parameter gpus_per_h: a number from 0 to 1000, default 8' typed.out || fail 'the parameter is not listed'
grep -q '^2 passed, 0 failed$' typed.out || fail 'its cases do not pass'
grep -q "'gpus_per_h' must be a number from 0 to 1000" typed.err || fail "a bad value is not refused: $(cat typed.err)"
for name in fifo kai windtunnel patient patient-100; do
    grep -Eq "^$name +[0-9]+ +[0-9]+ +0\.[0-9]+\$" typed.out ||
        fail "the table has no row $name: $(tail -n 7 typed.out)"
done
# The policy does something: less mean wait than first come, first served, and the parameter counts.
awk '$1 == "fifo" { fifo = $2 } $1 == "patient" { own = $2 } $1 == "patient-100" { more = $2 }
     END { exit !(own < fifo && own != more) }' typed.out || fail "the table: $(tail -n 7 typed.out)"
finish
