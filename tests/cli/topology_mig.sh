#!/bin/sh
# MIG of a GPU model: its profiles, how many layouts there are, the maximal ones drawn; one layout, and what fits beside
# it; as text and as JSON; names that mean nothing are refused.
set -u
. tests/support/cli.sh

expect() { # what ran; the words on stdin must be the table
    cat >expected.out
    if [ "$status" -ne 0 ] || ! diff -u expected.out said.out; then
        fail "$1: status $status"
        cat said.err
    fi
}

# ---- A model ----

windtunnel topology mig h100
sed '/^maximal layouts with/,$d' said.out >upto.out
tail -n 1 said.out >last.out
mv upto.out said.out
expect 'topology mig h100' <<'END'
h100-80gb: 80 GiB, 132 SMs, 7 compute slices, 8 memory slices

profile      compute  memory      GiB      SMs  copy  dec/jpeg/ofa  most  starts
1g.10gb            1       1     9.75       16     1         1/1/0     7  0-6
1g.10gb+me         1       1     9.75       16     1         1/1/1     1  0-6
1g.20gb            1       2    19.62       26     1         1/1/0     4  0,2,4,6
2g.20gb            2       2    19.62       32     2         2/2/0     3  0,2,4
3g.40gb            3       4    39.50       60     3         3/3/0     2  0,4
4g.40gb            4       4    39.50       64     4         4/4/0     1  0
7g.80gb            7       8    79.25      132     8         7/7/1     1  0

 legal  maximal  kinds  layouts of
   298       19     14  1g.10gb, 2g.20gb, 3g.40gb, 4g.40gb, 7g.80gb
   723       78     38  the same and 1g.20gb
  2319      239     64  the same and 1g.10gb+me

maximal layouts of 1g.10gb, 2g.20gb, 3g.40gb, 4g.40gb, 7g.80gb
                                0  1  2  3  4  5  6  7
7g.80gb                        [7---------------------]
4g.40gb, 3g.40gb               [4---------][3---------]
4g.40gb, 2g.20gb, 1g.10gb      [4---------][2---][1] .
4g.40gb, 3 x 1g.10gb           [4---------][1][1][1] .
2 x 3g.40gb                    [3---------][3---------]
3g.40gb, 2 x 2g.20gb           [2---][2---][3---------]
3g.40gb, 2g.20gb, 2 x 1g.10gb  [2---][1][1][3---------]
                               [1][1][2---][3---------]
3g.40gb, 2g.20gb, 1g.10gb      [3---------][2---][1] .
3g.40gb, 4 x 1g.10gb           [1][1][1][1][3---------]
3g.40gb, 3 x 1g.10gb           [3---------][1][1][1] .
3 x 2g.20gb, 1g.10gb           [2---][2---][2---][1] .
2 x 2g.20gb, 3 x 1g.10gb       [2---][2---][1][1][1] .
                               [2---][1][1][2---][1] .
                               [1][1][2---][2---][1] .
2g.20gb, 5 x 1g.10gb           [2---][1][1][1][1][1] .
                               [1][1][2---][1][1][1] .
                               [1][1][1][1][2---][1] .
7 x 1g.10gb                    [1][1][1][1][1][1][1] .

END
grep -qx '1g.10gb+me may take the place of one 1g.10gb in any of them.' last.out || fail 'nothing of +me'

# By an alias the same; the 59 that hold double memory are drawn too.
windtunnel topology mig h100
cp said.out h100.out
windtunnel topology mig 'NVIDIA H100 80GB HBM3'
cmp h100.out said.out || fail 'an alias gives another text'
[ "$(sed '1,/^maximal layouts with/d' h100.out | grep -c '\[1---\]')" -eq 59 ] ||
    fail 'the layouts with double memory are not 59'

# What is not known is not 0.
windtunnel topology mig b200-180gb
grep -q '^1g.23gb  *1  *1  *22.50  *unknown  *2  *unknown  *7  0-6$' said.out || fail "b200: $(sed -n 4p said.out)"

# ---- A layout ----

windtunnel topology mig a100-40gb --layout 1g.5gb@2+1g.5gb+me@0
expect 'topology mig --layout' <<'END'
a100-40gb: 40 GiB, 108 SMs, 7 compute slices, 8 memory slices

                0  1  2  3  4  5  6  7
layout         [m] . [1] .  .  .  .  .
               1g.5gb+me@0+1g.5gb@2, number 1458
compute        2 of 7 slices (28.6 %)
memory slices  2 of 8 (25.0 %)
memory         10.00 of 40.00 GiB (25.0 %)
SMs            28 of 108 (25.9 %)
largest        3g.20gb
fragmentation  0.400 (compute slices that could be handed out: 5)

profile       more  starts
1g.5gb           5  1,3-6
1g.5gb+me        0  -
1g.10gb          2  4,6
2g.10gb          1  4
3g.20gb          1  4
4g.20gb          0  -
7g.40gb          0  -
END
windtunnel topology mig b200 -l 7g.180gb
grep -qx 'SMs            unknown' said.out || fail 'SMs of a B200 are told'
grep -qx 'largest        none fits' said.out || fail 'something fits beside a 7g'

# ---- As JSON ----

windtunnel topology mig b200 --json --layout 3g.90gb+1g.23gb
expect 'topology mig --layout --json' <<'END'
{"model": "b200-180gb", "memory_mib": 184320, "sm_count": 148, "compute_slices": 7, "memory_slices": 8,
"layout": "3g.90gb@0+1g.23gb@4", "number": 2255,
"used": {"compute_slices": 4, "memory_slices": 5, "memory_mib": 115200, "sm_count": null, "memory_ratio": 0.625, "sm_ratio": null},
"largest": "1g.45gb", "free_compute_slices": 2, "fragmentation_ratio": 0.5,
"room": [
 {"profile": "1g.23gb", "more": 2, "starts": [5, 6]},
 {"profile": "1g.23gb+me", "more": 1, "starts": [5, 6]},
 {"profile": "1g.45gb", "more": 1, "starts": [6]},
 {"profile": "2g.45gb", "more": 0, "starts": []},
 {"profile": "3g.90gb", "more": 0, "starts": []},
 {"profile": "4g.90gb", "more": 0, "starts": []},
 {"profile": "7g.180gb", "more": 0, "starts": []}]}
END

if command -v python3 >/dev/null; then
    for model in a100-40gb a100-80gb h100-80gb h200-141gb b200-180gb; do
        windtunnel topology mig $model --json
        python3 - said.out $model "$program" <<'END' || fail "$model: the JSON does not hold together"
import json, subprocess, sys
text = json.load(open(sys.argv[1]))
assert text["model"] == sys.argv[2]
slices = {p["profile"]: p["memory_slices"] for p in text["profiles"]}
known = sys.argv[2] == "h100-80gb"
assert all((p["decoders"] is not None) == known for p in text["profiles"])
assert [(c["legal"], c["maximal"], c["kinds"]) for c in text["counts"]] == [(298, 19, 14), (723, 78, 38), (2319, 239, 64)]
layouts = [(kind["instances"], layout) for kind in text["maximal"] for layout in kind["layouts"]]
assert len(text["maximal"]) == 38 and len({l["number"] for _, l in layouts}) == len(layouts) == 78
for instances, layout in layouts:
    held, covered = {}, set()
    for instance in layout["layout"].split("+"):
        name, start = instance.split("@")
        held[name] = held.get(name, 0) + 1
        here = set(range(int(start), int(start) + slices[name]))
        assert not covered & here and max(here) < 8
        covered |= here
    assert held == instances, layout
one = layouts[-1][1]
again = json.loads(subprocess.run([sys.argv[3], "topology", "mig", sys.argv[2], "--json", "--layout", one["layout"]],
                                  capture_output=True, check=True).stdout)
assert again["number"] == one["number"] and not any(room["more"] for room in again["room"]), again
END
    done
fi

# ---- Refusals ----

refused_plainly 2 topology mig t4 <<'END'
error: GPU model 't4-16gb' has no MIG
  these have MIG: h100-80gb, h200-141gb, a100-40gb, a100-80gb, b200-180gb
END
refused_plainly 2 topology mig frobnicator <<'END'
error: there is no GPU model 'frobnicator'
  these have MIG: h100-80gb, h200-141gb, a100-40gb, a100-80gb, b200-180gb
END
refused_plainly 2 topology mig h100-80bg --json <<'END'
error: there is no GPU model 'h100-80bg'
  did you mean 'h100-80gb'?
END
refused_plainly 2 topology mig h100 --layout 3g.40gb@2 <<'END'
error: '3g.40gb@2': an instance of 3g.40gb cannot start at slice 2
  3g.40gb may start at 0 or 4
END
refused_plainly 2 topology mig h100 --json --layout 4g.40gb@0+1g.10gb@3 <<'END'
error: '1g.10gb@3': this instance of 1g.10gb overlaps one before it
END
refused_plainly 2 topology mig h100 --layout '' <<'END'
error: a profile is missing at the end
  a layout is written as '3g.40gb@0+1g.10gb@4'; without instances it is 'empty'
END
windtunnel topology mig
[ "$status" -eq 2 ] || fail "without a model: status $status"
finish
