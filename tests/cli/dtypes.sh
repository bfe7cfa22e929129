#!/bin/sh
# dtypes.json names each column of each CSV file of an export, and its types hold for each value; the recipe of
# docs/researcher.md runs where pandas is installed.
set -u
. tests/support/cli.sh

mkdir out
windtunnel run "$repository/docs/examples/philly.json" --set policy.preset=kai --out out/philly -q
[ "$status" -eq 0 ] || fail "it does not run: $(cat said.err)"
windtunnel export out/philly --to csv --out out/philly-csv
[ "$status" -eq 0 ] || fail "it is not exported: $(cat said.err)"
python3 - <<'END' || fail 'dtypes.json does not fit the files'
import csv, json, os, subprocess
folder = 'out/philly-csv'
dtypes = json.load(open(f'{folder}/dtypes.json'))
files = {name[:-len('.csv')] for name in os.listdir(folder) if name.endswith('.csv')}
assert set(dtypes) == files, set(dtypes) ^ files
reads = {'Int64': int, 'float64': float, 'string': str}
values = 0
for table, columns in dtypes.items():
    rows = csv.DictReader(open(f'{folder}/{table}.csv', newline=''))
    assert rows.fieldnames == list(columns), (table, rows.fieldnames, list(columns))
    for row in rows:
        for name, value in row.items():
            if value != '':
                reads[columns[name]](value)
                values += 1
assert values > 500, values
for table in ('jobs', 'attempts', 'timeline'):
    text = subprocess.run(['zstd', '-dcq', f'out/philly/{table}.csv.zst'], check=True, capture_output=True).stdout
    assert text.decode().split('\n', 1)[0].split(',') == list(dtypes[table]), f'{table}: other columns in the record'
END

awk '$0 == "```" { inside = 0 } inside; $0 == "```python" { inside = 1 }' "$repository/docs/researcher.md" >recipe.py
[ -s recipe.py ] || fail 'docs/researcher.md has no recipe'
for candidate in python3 /usr/bin/python3; do
    $candidate -c 'import pandas, zstandard' 2>/dev/null && with_pandas=$candidate
done
if [ -n "${with_pandas:-}" ]; then
    $with_pandas recipe.py >recipe.out 2>&1 || fail "the recipe of docs/researcher.md: $(tail -n 3 recipe.out)"
    awk 'NR <= 2 && ($1 - $2) ^ 2 > 1e-12 * $2 ^ 2 { exit 1 }' recipe.out || fail "other numbers: $(cat recipe.out)"
else
    echo 'note: no python3 with pandas and zstandard, so the recipe was not run'
fi

finish
