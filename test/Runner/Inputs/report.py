# Usage: report.py FILE OPERATIONS. Counts of lines, PTX lines and loops add up; so do the operations of Tensor Cores.
import json
import sys

report = json.load(open(sys.argv[1]))
totals = report["totals"]
for key, total in totals.items():
    for part in ("lines", "ptx"):
        assert sum(line[key] for line in report[part]) == total, (part, key)
    in_loops = sum(line[key] for line in report["ptx"] if line["loop"] is not None)
    assert sum(loop[key] for loop in report["loops"]) == in_loops, key
assert totals["tensor_operations"] == int(sys.argv[2]), totals
products = {line["loop"] for line in report["ptx"] if line["tensor_operations"]}
assert any(loop is not None for loop in products), "no product in a loop"
assert totals["operand_bytes"] and totals["boxes"] and totals["bulk_bytes"] and totals["waits"], totals
assert all(line["bank_conflicts"] == 0 for line in report["ptx"] if line["loop"] in products)
