#!/usr/bin/env python3
"""Predicts an iteration of apps/ft, each variant with 64 to 65,536 ranks, and draws it as a picture.

    bench/ft_prediction/predict.py --bin build/release/bin --out docs/ft_prediction.svg

It records small runs here: N ranks, a grid of 32 x 8N x 8N. Such a grid fits into caches, so each
variant is taken to compute as long for a point as in class A, which is run here as well. It needs
matplotlib.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot, ticker  # noqa: E402  behind the choice of what draws

VARIANTS = {"exchange": "#0072b2", "slabs": "#d55e00", "pencils": "#009e73"}
RECORDED = (2, 4, 8)
SIZES = (64, 256, 1024, 4096, 16384, 65536)
# The third iteration, between its begin and its end, by the barriers that ft has before them.
ITERATION = "10-12"
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def grid(ranks):
    return {"nx": 32, "ny": 8 * ranks, "nz": 8 * ranks}


def points_of_rank(ranks):
    sides = grid(ranks)
    return sides["nx"] * sides["ny"] * sides["nz"] / ranks


def run(*command, statuses=(0,)):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode not in statuses:
        sys.exit(f"predict.py: {' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


class Prediction:
    def __init__(self, programs, folder, model, per_host):
        self.programs, self.folder, self.model, self.per_host = programs, folder, model, per_host
        self.factors = {}

    def record(self):
        reference = self.folder / "grids.json"
        # There are no published checksums of these grids: ft does not confirm its results, and ends
        # with 1.
        reference.write_text(json.dumps({"classes": {
            f"N{ranks}": {**grid(ranks), "iterations": 3, "checksums": [[1, 1]] * 3}
            for ranks in RECORDED}}))
        for variant in VARIANTS:
            for ranks in RECORDED:
                run(self.programs / "gexrun", "-n", ranks, "--trace", self.trace(variant, ranks),
                    self.programs / "ft", "--reference", reference, "--class", f"N{ranks}",
                    "--variant", variant, statuses=(1,))
            smallest = min(RECORDED)
            computing = self.predict(variant, smallest)["computing"] / points_of_rank(smallest)
            self.factors[variant] = self.computing_of_class_a(variant) / computing

    def computing_of_class_a(self, variant):
        """For a point, in ns, by two ranks: the least of a few runs, since other work only adds."""
        return min(self.computing_once(variant) for _ in range(3))

    def computing_once(self, variant):
        found = json.loads(run(self.programs / "gexrun", "-n", 2, "--bind", "core", self.programs / "ft",
                               "--class", "A", "--variant", variant, "--json"))
        [outcome] = found["variants"]
        seconds = outcome["seconds"] - outcome["waiting"]["average"] - outcome["starting"]["average"]
        transforms = 1 + found["iterations"]
        return seconds * 1e9 / transforms / (found["nx"] * found["ny"] * found["nz"] / 2)

    def trace(self, variant, ranks):
        return self.folder / f"{variant}{ranks}"

    def predict(self, variant, ranks):
        """Times in ns."""
        text = run(self.programs / "gextrace", "predict", "--model", self.model, "--per-host", self.per_host,
                   "--ranks", ranks, "--work", 1, "--compute", self.factors.get(variant, 1),
                   "--collectives", ITERATION, *(self.trace(variant, one) for one in RECORDED))
        return {name: float(number) * UNITS[unit]
                for name, number, unit in re.findall(r"^ *(\w+) +([\d.]+) (ns|us|ms|s)\b", text, re.MULTILINE)}


def draw(prediction, path):
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "libgex", "font.size": 9})
    canvas, axes = pyplot.subplots(figsize=(7.5, 4))
    for variant, colour in VARIANTS.items():
        found = [prediction.predict(variant, ranks) for ranks in SIZES]
        for name, look in (("predicted", {"marker": "o"}), ("computing", {"linestyle": ":"})):
            axes.plot(SIZES, [times[name] / points_of_rank(ranks) for times, ranks in zip(found, SIZES)],
                      color=colour, label=variant if name == "predicted" else f"{variant}: computing", **look)
    axes.set_xscale("log", base=2)
    axes.set_xticks(SIZES)
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda x, _: f"{int(x):,}"))
    axes.set_ylim(bottom=0)
    axes.set_xlabel(f"ranks N, {prediction.per_host} on a host; grid 32 x 8N x 8N")
    axes.set_ylabel("ns an iteration and point of a rank")
    axes.set_title(f"NAS FT over {prediction.model}: predicted, never run", fontsize=11)
    axes.grid(True, color="#dddddd", linewidth=0.6)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    canvas.savefig(path, bbox_inches="tight", metadata={"Date": None} if path.endswith(".svg") else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="where gexrun, gextrace and ft are")
    parser.add_argument("--out", required=True, help="the picture, an SVG")
    parser.add_argument("--model", default="edr", help="the network, in the form of GEX_EMU (%(default)s)")
    parser.add_argument("--per-host", type=int, default=64, help="ranks of a host (%(default)s)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        prediction = Prediction(options.bin.resolve(), pathlib.Path(folder), options.model, options.per_host)
        prediction.record()
        print("computing, times that of the recorded grids:",
              ", ".join(f"{variant} {factor:.1f}" for variant, factor in prediction.factors.items()))
        for variant in VARIANTS:
            for ranks in SIZES:
                print(variant, ranks, f"{prediction.predict(variant, ranks)['predicted'] / 1e9:.4g} s")
        draw(prediction, os.fspath(options.out))


if __name__ == "__main__":
    main()
