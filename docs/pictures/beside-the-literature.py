"""Draws docs/pictures/cubic-and-reno.png and bbr-and-cubic.png and prints the tables of the page.

From measurements/literature, which tools/compare_with_literature.py writes. Run it from the root of
the repository: .venv/bin/python docs/pictures/beside-the-literature.py; with --out the pictures lie
elsewhere.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.colors import Normalize
from matplotlib.patches import Patch

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(ROOT / "tools"))

from literature import (  # noqa: E402
    PACKET_BITS,
    leaves_reno,
    model_window,
    table_window,
    ware_share,
)

BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#555555"
"""Okabe and Ito's colours, which those who see few colours tell apart."""


def read(name: str) -> dict[str, Any]:
    """A file of measurements/literature."""
    text = (ROOT / "measurements" / "literature" / f"{name}.json").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


def edges(centres: list[float]) -> np.ndarray:
    """Edges of cells around centres on a logarithmic axis."""
    logs = np.log(centres)
    middle = (logs[1:] + logs[:-1]) / 2
    ends = [2 * logs[0] - middle[0], 2 * logs[-1] - middle[-1]]
    return np.exp(np.concatenate([ends[:1], middle, ends[1:]]))


def middle(cell: dict[str, Any]) -> float:
    """The geometric mean of the ratios of all draws: as far from 1 for one as for the other."""
    return float(np.exp(np.mean(np.log(cell["ratio_of_each_draw"]))))


def short(ratio: float) -> str:
    """A ratio in at most four characters."""
    return f"{ratio:.2f}" if ratio < 9.95 else f"{ratio:.0f}"


def draw_map(cells: list[dict[str, Any]], folder: Path) -> None:
    """Ratios over round trip and capacity, with the boundary of RFC 9438, for both queues."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 5), sharey=True, layout="constrained")
    rtts = sorted({c["rtt_ms"] for c in cells})
    rates = sorted({c["rate_mbps"] for c in cells})
    norm = Normalize(-5, 5)
    names = {"red": "RED: drops at random", "drop-tail": "drop-tail, one product"}
    for axis, (queue, title) in zip(axes, names.items(), strict=True):
        grid = np.full((len(rates), len(rtts)), np.nan)
        for c in (c for c in cells if c["queue"] == queue):
            at = rates.index(c["rate_mbps"]), rtts.index(c["rtt_ms"])
            small = c["region"] == "small"
            grid[at] = np.nan if small else np.log2(middle(c))
            dark = not small and abs(float(grid[at])) > 3
            colour = "white" if dark else GREY if small else "black"
            place = {"ha": "center", "va": "center", "color": colour, "zorder": 5}
            axis.text(c["rtt_ms"], 1.13 * c["rate_mbps"], short(middle(c)), **place)
            draws = c["ratio_of_each_draw"]
            span = f"{short(min(draws))} – {short(max(draws))}"
            axis.text(c["rtt_ms"], 0.75 * c["rate_mbps"], span, fontsize=7, **place)
        axis.set(xscale="log", yscale="log", title=title, xlabel="round trip without queue (ms)")
        axis.set_facecolor("#e8e8e8")
        mesh = axis.pcolormesh(edges(rtts), edges(rates), grid, cmap="RdBu_r", norm=norm)
        boundary(axis, edges(rtts), edges(rates))
        axis.set_xticks(rtts, [f"{x:g}" for x in rtts])
        axis.set_yticks(rates, [f"{y:g}" for y in rates])
        axis.minorticks_off()
    axes[0].set_ylabel("capacity of two flows (Mb/s)")
    lines, names = axes[0].get_legend_handles_labels()
    lines.append(Patch(color="#e8e8e8"))
    names.append("less than four segments each")
    figure.legend(lines, names, loc="outside lower center", ncols=3, fontsize=9)
    bar = figure.colorbar(mesh, ax=axes, label="rate of CUBIC over rate of Reno", extend="both")
    ticks = range(-5, 6)
    bar.set_ticks(list(ticks), labels=[f"1/{2**-t}" if t < 0 else f"{2**t}" for t in ticks])
    figure.savefig(folder / "cubic-and-reno.png", dpi=120)


def boundary(axis: Any, rtts: np.ndarray, rates: np.ndarray) -> None:
    """Where an equal share is the window at which RFC 9438's Eq. 5 overtakes Reno's."""
    x = np.geomspace(rtts[0], rtts[-1], 200)
    for factor, style, name in ((2, "-", "full"), (1, "--", "empty")):
        seconds = factor * x / 1e3
        window = np.array([leaves_reno(s) for s in seconds])
        label = f"CUBIC leaves Reno's region, queue {name}"
        limit = 2 * window * PACKET_BITS / seconds / 1e6
        axis.plot(x, limit, color=GREEN, ls=style, lw=2, alpha=0.7, label=label)
    axis.set(xlim=(rtts[0], rtts[-1]), ylim=(rates[0], rates[-1]))


def draw_bbr(ours: dict[str, Any], published: dict[str, Any], folder: Path) -> None:
    """BBR's share by buffer, in both set-ups."""
    figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.2), sharey=True, layout="constrained")
    left, right = axes
    for rows, colour, name in (
        (ours["converged_10"], BLUE, "simulated, 400 s after 400 s"),
        (ours["from_start_10"], GREEN, "simulated, 240 s from the start"),
    ):
        simulated(left, rows, colour, name)
    x = np.geomspace(2, 32, 100)
    model = [ware_share(b) for b in x]
    left.plot(x, model, color=GREY, ls="--", label="formula of Ware et al. 2019")
    theirs(left, published["repetition"], "repetition on Linux, 240 s from the start", "^")
    left.set_title("1 BBR and 1 CUBIC, 10 Mb/s, 40 ms")
    simulated(right, ours["steady_80"], BLUE, "simulated, minutes 2 to 4")
    theirs(right, published["claypool"], "Claypool et al. 2019, Figure 10, Linux", "s")
    right.set_title("2 BBR and 2 CUBIC, 80 Mb/s, 25 ms")
    for axis in axes:
        axis.set(xscale="log", ylim=(0, 1.02), xlabel="buffer (bandwidth-delay products)")
        ticks = [0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32]
        axis.set_xticks(ticks, [f"{t:g}" for t in ticks])
        axis.minorticks_off()
        axis.axhline(0.5, color=GREY, lw=0.7, ls=":")
        axis.grid(alpha=0.25)
    left.set_ylabel("share of BBR in what both get")
    left.legend(fontsize=8, loc="lower left")
    right.legend(fontsize=8, loc="lower left")
    figure.savefig(folder / "bbr-and-cubic.png", dpi=120)


def simulated(axis: Any, rows: list[dict[str, Any]], colour: str, name: str) -> None:
    """Our shares with their intervals."""
    mean, half = np.array([row["share"] for row in rows]).T
    buffers = [row["buffer_bdp"] for row in rows]
    axis.errorbar(buffers, mean, half, color=colour, marker="o", ms=4, capsize=3, label=name)


def shares(source: dict[str, Any]) -> list[float]:
    """BBR's part of what both get."""
    return [b / (b + c) for b, c in zip(source["bbr"], source["cubic"], strict=True)]


def theirs(axis: Any, source: dict[str, Any], name: str, marker: str) -> None:
    """Published shares."""
    axis.plot(source["buffer_bdp"], shares(source), marker, color=ORANGE, ms=6, label=name)


def digits(value: list[float], places: int) -> str:
    """A mean with its half-width."""
    return f"{value[0]:.{places}f} ± {value[1]:.{places}f}"


def print_windows(ours: dict[str, Any]) -> None:
    """Tables of the windows."""
    print("random | RTT | p | controller | RFC | regular ideal | random ideal | simulated | off")
    for r in ours["windows_random"]:
        rfc = table_window(r["controller"], r["loss"], r["rtt_s"])
        off, places = 100 * (r["window"][0] / rfc - 1), 1 if rfc < 100 else 0
        print(
            f"| {1e3 * r['rtt_s']:.0f} ms | {r['loss']:.0e} | {r['controller']} | {rfc:.0f} "
            f"| {r['ideal_periodic'] / rfc:.2f} | {r['ideal_random'] / rfc:.2f} "
            f"| {digits(r['window'], places)} | {off:+.0f} % "
            f"| {100 * (r['window'][0] / r['ideal_random'] - 1):+.1f} "
            f"± {100 * r['window'][1] / r['ideal_random']:.1f} % |"
        )
    print("regular")
    for r in ours["windows_periodic"]:
        eq = model_window(r["controller"], r["measured_loss"], r["measured_rtt_s"])
        print(
            f"| {1e3 * r['rtt_s']:.0f} ms | {r['loss']:.0e} | {r['controller']} "
            f"| {r['measured_loss']:.3g} | {eq:.4g} | {r['window']:.4g} "
            f"| {100 * (r['window'] / eq - 1):+.1f} % | {r['events']} |"
        )


def print_shares(cubic: dict[str, Any], bbr: dict[str, Any], published: dict[str, Any]) -> None:
    """Tables of the shares."""
    rows = [
        r for part in ("map", "equal_delays", "reno_beside_reno", "more_flows") for r in cubic[part]
    ]
    for c in rows:
        draws = c["ratio_of_each_draw"]
        print(
            f"| {c['queue']} | {c['rate_mbps']} | {c['rtt_ms']} | {c['flows_each']} "
            f"| {c['region']} | {digits(c['ratio'], 2)} | {middle(c):.2f} "
            f"| {min(draws)} to {max(draws)} | {c['utilisation']:.3f} "
            f"| {c['reno_events_per_cubic_event']} | {c['window']} | {c['boundary_window']} |"
        )
    for name, source in (("from_start_10", "repetition"), ("steady_80", "claypool")):
        known = dict(zip(published[source]["buffer_bdp"], shares(published[source]), strict=True))
        for r in bbr[name]:
            there = known.get(r["buffer_bdp"])
            off = "" if there is None else f"{there:.3f} | {r['share'][0] - there:+.3f}"
            print(f"| {name} | {r['buffer_bdp']} | {digits(r['share'], 3)} | {off} |")
    for r in bbr["converged_10"]:
        off = r["share"][0] - r["ware"]
        print(
            f"| Ware | {r['buffer_bdp']} | {digits(r['share'], 3)} | {r['ware']:.3f} | {off:+.3f}"
        )
    for r in [*bbr["four_cubic_10"], *bbr["sensitivity_80"]]:
        print(f"| {r.get('variant', 'four')} | {r['buffer_bdp']} | {digits(r['share'], 3)} |")


def main() -> None:
    """Draws and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE, help="folder of the pictures")
    folder = parser.parse_args().out
    cubic, bbr, published = read("cubic"), read("bbr"), read("published")
    draw_map(cubic["map"], folder)
    draw_bbr(bbr, published, folder)
    print_windows(cubic)
    print_shares(cubic, bbr, published)


if __name__ == "__main__":
    main()
