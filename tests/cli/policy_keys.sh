#!/bin/sh
# Each key of a policy file has a row in docs/policies.md that says which scheduler has it, or which table, preset or
# test needs it.  The keys are those of the schema, which is learned from the reader.
set -u
. tests/support/cli.sh

python=$(command -v python3) || {
    echo 'skipped: python3 is not installed'
    exit 77
}
"$program" schema policy >policy.schema || fail "schema: status $?"
cat >untold.py <<'END'
import json, re, sys

def keys(schema, path):
    for one in [schema, *schema.get("anyOf", [])]:
        for key, member in one.get("properties", {}).items():
            if key != "$comment":
                yield path + [key]
                if not path and isinstance(member, dict):
                    yield from keys(member, path + [key])

told, column = set(), None
for line in open(sys.argv[1], encoding="utf-8"):
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if not line.startswith("|"):
        column = None
    elif column is None:
        column = cells.index("peer or effect") if "peer or effect" in cells else -1
    elif 0 <= column < len(cells) and cells[column]:
        told.update(re.findall(r"`(\w+)", " ".join(cells[:column])))
for path in keys(json.load(open(sys.argv[2], encoding="utf-8")), []):
    if path[-1] not in told and path[-1] != "policy": # its names have tables of their own
        print(".".join(path))
END
"$python" untold.py "$repository/docs/policies.md" policy.schema >untold || fail 'the tables cannot be read'
[ ! -s untold ] || fail "keys without a row, or without a peer or an effect: $(tr '\n' ' ' <untold)"
finish
