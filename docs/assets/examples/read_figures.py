"""Prints every current decode rate with its spread, then the sentence to quote the last one by."""

import json
import sys
from urllib.request import urlopen

with urlopen(sys.argv[1] + "data/figures.json") as answer:
    data = json.load(answer)
if data["version"] != 1:
    sys.exit("this example reads version 1 of the format")

for figure in data["figures"]:
    if figure["quantity"] != "decode_rate" or figure["unit"] != "tok/s":
        continue
    if figure["status"] != "current" or figure["value"] is None:
        continue
    spread = figure["spread"]
    known = spread["meaning"] == "min_max_of_runs"
    span = f"{spread['low']} to {spread['high']}" if known else "spread not published"
    print(figure["id"], figure["value"], figure["unit"], span, sep="\t")
    quote = figure["quote"]["en"]
print(quote)
