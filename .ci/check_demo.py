"""Checks what the README's main job made: nop resolves nothing, gold everything, the candidate more than the incumbent."""

import json
import sys
from pathlib import Path

rows = [json.loads(line) for line in Path("artifacts/reports/demo/results.jsonl").read_text().splitlines()]
resolved: dict[str, int] = {}
for row in rows:
    resolved[row["arm"]] = resolved.get(row["arm"], 0) + bool(row["resolved"])
print(f"demo: {len(rows)} cells, resolved {resolved}")
sane = len(rows) == 44 and resolved["nop"] == 0 and resolved["gold"] == 4
sane = sane and resolved["baseline"] < resolved["incumbent"] < resolved["candidate"]
for name in ("index.html", "report.md"):
    sane = sane and Path("artifacts/reports/demo", name).stat().st_size > 1000
sys.exit(0 if sane else "the demo's result is not what it must be")
