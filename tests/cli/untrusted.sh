#!/bin/sh
# Law: what comes with an untrusted file names no path and no code; the only files opened are those that the user named.
# The schema is walked by tests/property/test_gate.c; here are commands, pipes, plug-ins, and what a user does with
# records of his own.
set -u
. tests/support/cli.sh

# A plug-in that leaves a mark when it is loaded, a pipe on which nobody writes, and a file of secrets.
cat >evil.c <<END
#include <stdio.h>
__attribute__((constructor)) static void mark(void)
{
    fclose(fopen("$scratch/mark", "w"));
}
END
"${CC:-cc}" -shared -fPIC -o evil.so evil.c || fail 'no plug-in'
mkfifo pipe
echo 'root:secret' >secret

# The command is refused, opens no pipe (it would hang), runs no code and shows no line of a file.
is_held() { # arguments
    timeout 20 "$program" "$@" >said.out 2>said.err
    status=$?
    [ $status -eq 2 ] || [ $status -eq 3 ] || fail "$*: status $status: $(cat said.err)"
    [ ! -e mark ] || fail "$*: code of a stranger ran"
    ! grep -q 'root:\|secret:' said.err said.out || fail "$*: a line of a file is shown"
    rm -f mark
}

# ---- bundles ----

bundle_of() { # scenario's members
    printf '{"bundle_version": 1, "version": "0", "fingerprint": "0", "arrivals": "0", "metrics": {}, "inputs": [
        {"role": "trace", "name": "one", "digest": "0", "text": "job_id,submit_s,duration_s,gpus\\n1,0,10,1\\n"}],
        "scenario": {"workload": {"trace": "one"}, %s}}\n' "$1" >b.json
}
pools='"cluster": {"pools": [{"nodes": 2, "gpus_per_node": 8}]}'
for path in pipe secret evil.so /dev/zero; do
    for members in "$pools, \"policy\": {\"preset\": \"fgd\", \"set\": {\"typical\": \"$path\"}}" \
        "$pools, \"policy\": {\"preset\": \"fgd\", \"set\": {\"plugins\": [\"./$path\"]}}" \
        "$pools, \"policy\": {\"file\": \"$path\"}" "$pools, \"plugins\": [\"./$path\"]" "\"cluster\": \"$path\"" \
        "$pools, \"world\": {\"capacity\": \"$path\"}" \
        "\"cluster\": {\"pools\": [{\"nodes\": 2, \"hwloc\": \"$path\"}]}"; do
        bundle_of "$members"
        is_held reproduce b.json
    done
done

# A file that the user gives for a trace is no plug-in, though its path passed the gate.
bundle_of "$pools, \"plugins\": [\"evil.so\"]"
chmod go-w . evil.so
windtunnel reproduce b.json --input one=evil.so
digest=$(sed -n 's/.*: its digest is \([0-9a-f]*\),.*/\1/p' said.err)
sed "s/\"digest\": \"0\"/\"digest\": \"$digest\"/" b.json >c.json
is_held reproduce c.json --input one=evil.so

# ---- records ----

# What a stranger puts into a record of ours.
windtunnel run small.json --out rec
[ "$status" -eq 0 ] || fail "run: $(cat said.err)"
tampered() { # what, instead of what
    rm -rf bad
    cp -r rec bad
    sed "s|$2|$1|" rec/result.json >bad/result.json
    ! cmp -s rec/result.json bad/result.json || fail "nothing was changed: $2"
}
for path in pipe secret; do
    tampered "\"trace\":\"$path\"" '"trace":"small.csv"'
    is_held explain bad --decision 1
    is_held trace freeze bad
    is_held bundle bad
    is_held explain bad --decision 1 --trust bad
    timeout 20 "$program" compare bad rec >said.out 2>said.err
    status=$?
    [ $status -eq 0 ] && grep -q "not known; .* names the file '$path' (trace), and a record opens no file" said.out ||
        fail "compare: $status $(cat said.out said.err)"
    # Even where the record lists it.
    tampered "$path" small.csv
    sed "s/small.csv/$path/" rec/result.json >bad/result.json
    is_held trace freeze bad --trust bad
done
for place in '"plugins":["./evil.so"],"policy":{' '"policy":{"plugins":["./evil.so"],'; do
    tampered "$place" '"policy":{'
    is_held explain bad --decision 1
    is_held explain bad --decision 1 --trust bad
    is_held trace freeze bad --trust .
    timeout 20 "$program" compare bad rec --trust . >said.out 2>said.err
    [ ! -e mark ] || fail 'compare runs code of a stranger'
done
# Files of the record itself: other paths, links and pipes.
tampered '"../secret": ' '"jobs.csv.zst": '
is_held report bad
for verb in 'report bad' 'export bad --to csv --out tables' 'compare bad rec' 'explain bad --all'; do
    for file in jobs.csv.zst result.json; do
        rm -rf bad
        cp -r rec bad
        ln -sf ../secret bad/$file
        # shellcheck disable=SC2086 # a list of words
        is_held $verb
        rm bad/$file
        mkfifo bad/$file
        # shellcheck disable=SC2086
        is_held $verb
    done
done

# ---- records of one's own ----

is_told() { # what is said, arguments
    told=$1
    shift
    windtunnel "$@"
    [ "$status" -eq 2 ] && grep -q -e "$told" said.err || fail "$*: status $status: $(cat said.err)"
}
works() { # arguments
    windtunnel "$@"
    [ "$status" -eq 0 ] || fail "$*: status $status: $(cat said.err)"
}
windtunnel run small.json --out saved
for verb in 'explain saved --decision 1' \
    'trace freeze saved' 'run saved --fork-at 15' 'explain saved --at 15 --all' 'bundle saved --out s.json'; do
    # shellcheck disable=SC2086
    is_told "the record saved names the file 'small.csv' (trace), and a record opens no file" $verb
    says said.err 'if the record is your own, say so with --trust saved; or name the folder of its data: --trust FOLDER'
    # shellcheck disable=SC2086
    works $verb --trust saved
    # shellcheck disable=SC2086
    works $verb --trust .
done
# The user's own policy opens what it names, and so does what the user sets.
mkdir own
cp evil.so own/evil.so
chmod go-w . own own/evil.so
echo '{"plugins": ["evil.so"]}' >own/p.json
windtunnel run saved --fork-at 15 --trust . --policy own/p.json
[ -e mark ] || fail "the user's policy names a plug-in: $(cat said.err)"
rm -f mark
windtunnel run saved --fork-at 15 --trust . --set 'plugins=["own/evil.so"]'
[ -e mark ] || fail "the user names a plug-in: $(cat said.err)"
rm -f mark
finish
