"""Maps of nodes, with the routes of packets, and the four panels of subflows."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from adhoc import CHAIN, MIXED
from air import UPLINK
from matplotlib.text import Text

import anabranch as ab
from anabranch import plot
from anabranch.cli.draw import PlotOptions, plot_command
from anabranch.plot.flows import carried, measured
from anabranch.plot.ground import ground
from anabranch.plot.names import crosses
from anabranch.plot.pipes import pipes, ranks
from anabranch.plot.streams import streams
from anabranch.plot.topology import hops_until
from anabranch.scenario import shipped


def simulated(text, routing="oracle", **options):
    """A run of a scenario."""
    return ab.run(ab.Scenario.parse(text.replace("ROUTING", routing)), series=True, **options)


@pytest.fixture(scope="module")
def chain():
    return simulated(CHAIN)


@pytest.fixture(scope="module")
def mixed():
    return simulated(MIXED)


@pytest.fixture(scope="module")
def bare():
    """Stations without places."""
    return simulated(UPLINK)


def texts(figure):
    """What stands on the map."""
    return {text.get_text() for text in figure.axes[0].texts}


def markers(figure):
    """Shapes and places of all sites."""
    lines = (line for line in figure.axes[0].lines if line.get_marker() not in ("", "None"))
    return [(line.get_marker(), *(float(v[0]) for v in line.get_data())) for line in lines]


def names(of, ends):
    """Names of sites."""
    return tuple(of.sites[site].name for site in ends)


def test_nodes_stand_where_they_are_at_the_time_of_the_map(chain):
    series = chain.runs[0].series
    for at_s, sample in ((None, -1), (0.0, 0), (2.0, int(np.abs(series.t_s - 2).argmin()))):
        places = {tuple(place) for _, *place in markers(plot.topology(chain, at_s=at_s))}
        nodes = series.nodes
        expected = set(zip(nodes.x_m[sample].tolist(), nodes.y_m[sample].tolist(), strict=True))
        assert places == expected


def test_every_name_is_there_where_there_is_room(chain):
    assert {"client", "relay", "server", "walker-1"} <= texts(plot.topology(chain))


def test_names_that_would_overlap_are_left_out_but_never_those_of_single_nodes():
    crowd = simulated(CHAIN, overrides=["node.walker.count=150", "duration=1 s"])
    figure = plot.topology(crowd)
    figure.draw_without_rendering()
    shown = [text for text in figure.axes[0].texts if text.get_text()]
    assert {"client", "relay", "server"} <= texts(figure)
    assert 20 < len(shown) < 153
    plain = [text for text in shown if text.get_fontweight() == "normal"]
    boxes = [text.get_window_extent().padded(-1.5) for text in plain]
    for place, box in enumerate(boxes):
        assert box.count_overlaps(boxes[place + 1 :]) == 0


def test_each_hop_of_a_route_has_the_packets_that_took_it(chain):
    run = chain.runs[0]
    of = ground(chain, run)
    hops = {
        (hop.stream, names(of, hop.ends)): hop.packets for hop in hops_until(chain, run, of, -1)
    }
    ways, routes = run.ways, run.routes
    for stream, link in enumerate(("up/1", "up/2")):
        rows = [n for n in range(len(routes.way)) if ways.link[int(routes.way[n])] == link]
        first = [n for n in rows if routes.nodes[n].startswith("client > relay")]
        assert first
        total = sum(float(routes.packets[n]) for n in first)
        assert hops[stream, ("client", "relay")] == total
    assert not any(ends[0] == "server" for _, ends in hops)


def test_a_route_is_not_there_before_its_first_packet(chain):
    run = chain.runs[0]
    of = ground(chain, run)
    assert hops_until(chain, run, of, 0) == []
    assert len(plot.topology(chain, at_s=0.0).axes[0].lines) < len(
        plot.topology(chain).axes[0].lines
    )


def test_a_bus_is_a_line_below_the_ground_with_its_stations(mixed):
    of = ground(mixed, mixed.runs[0])
    (row,) = of.rows
    assert (row.name, row.medium.kind) == ("lan", "bus") and row.y_m < 0
    assert set(names(of, row.sites)) == {"ap", "server", "printer"}
    for site in of.sites:
        assert (site.y_m[0] < row.y_m) == (site.name in ("server", "printer"))
    assert "lan (bus)" in texts(plot.topology(mixed))


def test_access_points_and_base_stations_have_shapes_of_their_own(mixed):
    shapes = [marker for marker, *_ in markers(plot.topology(mixed))]
    assert (shapes.count("^"), shapes.count("*")) == (1, 1)


def test_links_without_routing_have_the_packets_that_their_paths_sent(mixed):
    run = mixed.runs[0]
    of = ground(mixed, run)
    sent = run.series.paths.sent_packets[-1].reshape(2, 2)
    hops = {names(of, hop.ends): hop.packets for hop in hops_until(mixed, run, of, -1)}
    for user in range(2):
        phone = f"phone-{user + 1}"
        assert hops.get((phone, "ap"), 0) == sent[user, 0]
        assert hops[phone, "tower"] == sent[user, 1]
    assert hops["ap", "server"] == sent[:, 0].sum()


def test_stations_without_places_stand_on_a_circle(bare):
    of = ground(bare, bare.runs[0])
    assert of.area is None and of.rows == []
    centre = [(site.x_m[0] - 50, site.y_m[0] - 50) for site in of.sites]
    np.testing.assert_allclose([np.hypot(*place) for place in centre], 42)
    assert len(set(centre)) == len(of.sites) == 5
    assert plot.topology(bare).axes[0].get_xlabel().startswith("Stations on a circle")


def test_a_long_road_is_stretched_to_be_legible():
    road = simulated(CHAIN, overrides=["area.width=2000", "area.height=50"])
    of = ground(road, road.runs[0])
    west, south, east, north = of.area
    assert (east - west) / ((north - south) * of.stretch) == pytest.approx(3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"at_s": 9.0}, "9 s is not in the run, from 0 s to 4 s"),
        ({"classes": ["x"]}, "no class 'x'"),
        ({"seed": 7}, "the seeds are 1"),
    ],
)
def test_wrong_options_of_a_map_are_explained(options, message, chain):
    with pytest.raises(ValueError, match=message):
        plot.topology(chain, **options)


@pytest.fixture(scope="module")
def wired():
    """Scenario C, without samples over time."""
    return ab.run("khalili/scenario-c", [1, 2], overrides=["duration=12 s", "warmup=6 s"])


def test_wires_are_drawn_as_pipes_without_series(wired):
    found = texts(plot.topology(wired))
    rate = wired.mean("multipath").mean / 1e6
    assert {"ap1", "ap2", "multipath", "single-path", "10 users, lia", f"{rate:#.3g} Mb/s"} <= found


def test_thresholds_of_red_are_in_the_legend_where_a_queue_has_them(wired):
    plain = ab.run("links/varying", overrides=["duration=5 s"])
    for result, red in ((wired, "; dashes: RED's thresholds"), (plain, "")):
        (legend,) = plot.topology(result).legends
        written = [text.get_text().replace("\n", " ") for text in legend.get_texts()]
        assert f"packets that wait{red}" in written


def test_what_flows_through_a_pipe_is_the_sum_of_its_paths(wired):
    known = streams(wired.plan)
    now = measured(wired, wired.runs, known)
    of = pipes(wired.plan, known, now.rates_bps[None, :])
    for slot in (one for one in of.slots if one.kind == "pipe"):
        link = of.pipes[slot.number].link
        expected = np.mean([run.links.throughput_bps[link] for run in wired.runs])
        assert carried(of, slot, now) == pytest.approx(expected, rel=0.01)
        assert of.per_mbps * carried(of, slot, now) / 1e6 <= slot.height * 1.001


def test_pipes_stand_behind_those_that_any_path_crosses_before_them():
    assert ranks(4, [[0, 1, 3], [2, 3]]) == [1, 2, 1, 3]
    assert ranks(2, [[0, 1], [1, 0]]) == [1, 2]


def test_a_network_of_thirty_stages_is_drawn_without_following_each_of_its_ways():
    stages = range(30)
    links = [f'[[link]]\nname = "{n}-{k}"\nrate = "9 Mb/s"' for n in stages for k in (0, 1)]
    ways = ([0] * 30, [1] * 30, [n % 2 for n in stages], [(n + 1) % 2 for n in stages])
    paths = [f"{{ links = {[f'{n}-{k}' for n, k in enumerate(way)]} }}" for way in ways]
    flow = f'[[flow]]\nname = "all"\ncontroller = "lia"\npath = [{", ".join(paths)}]'
    text = "\n".join(['name = "stages"\nduration = "1 s"', *links, flow])
    crossed = ab.run(ab.Scenario.parse(text))
    plot.topology(crossed)
    orders = [[2 * n + k for n, k in enumerate(way)] for way in ways]
    assert ranks(60, orders) == [1 + n for n in stages for _ in (0, 1)]


def test_every_shipped_scenario_has_places_for_all_its_pipes():
    for name in shipped():
        plan = ab.load(name).plan()
        known = streams(plan)
        of = pipes(plan, known, np.full((1, len(known)), 1e6))
        for column in {slot.column for slot in of.slots}:
            own = sorted((s for s in of.slots if s.column == column), key=lambda s: s.y)
            for upper, lower in pairwise(own):
                assert upper.y + upper.height / 2 < lower.y - lower.height / 2
        assert all(0 <= slot.x[0] < slot.x[1] <= 1 for slot in of.slots)
        assert all(slot.courses for slot in of.slots)


def test_a_time_of_wires_needs_series_and_says_so(wired):
    with pytest.raises(ValueError, match="--series"):
        plot.topology(wired, at_s=9.0)


def test_a_path_over_a_wire_is_drawn_below_the_map():
    wire = MIXED + '[[link]]\nname = "cellular"\nrate = "5 Mb/s"\n'
    text = wire.replace('["lte-up"], back = ["lte-down"]', '["cellular"]')
    figure = plot.topology(simulated(text))
    assert len(figure.axes) == 2
    assert "cellular" in {one.get_text() for one in figure.axes[1].texts}


def test_a_name_keeps_clear_of_lines_where_it_can():
    text = UPLINK
    figure = plot.topology(simulated(text))
    figure.draw_without_rendering()
    ax = figure.axes[0]
    lines = [line for line in ax.lines if len(line.get_xdata()) == 2]
    ends = [ax.transData.transform(line.get_xydata()) for line in lines]
    for name in (one for one in ax.texts if one.get_text()):
        box = name.get_window_extent().extents
        assert not any(crosses(tuple(box), start, end) for start, end in ends)


SLIVER_PT = 1.0
"""Two texts with less than that in common, in either direction, can both be read."""
CROWDED = ("cs218/vanet", "cs218/mixed", "khalili/scenario-b", "tse/five-paths")


@pytest.fixture(scope="module", params=CROWDED)
def crowded(request):
    return ab.run(request.param, series=True, overrides=["duration=8 s", "warmup=1 s"])


def boxes(figure):
    """Everything written in a figure, and where, in points."""
    figure.draw_without_rendering()
    found = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    extents = [(text.get_text(), text.get_window_extent()) for text in found]
    scale = 72 / figure.dpi
    return [(text, box.extents * scale) for text, box in extents if box.overlaps(figure.bbox)]


@pytest.mark.parametrize("width", ["3.5in", "7.16in", "8in"])
def test_no_two_texts_overlap_at_any_width_also_when_the_figure_is_drawn_again(crowded, width):
    figure = plot.topology(crowded, width=width)
    for dpi in (100, 160):
        figure.dpi = dpi
        for (one, a), (other, b) in combinations(boxes(figure), 2):
            common = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
            assert common.min() < SLIVER_PT, f"{one!r} and {other!r} overlap"


def test_every_pipe_and_every_class_has_its_words_in_a_column(crowded):
    written = [text for text, _ in boxes(plot.topology(crowded, width="3.5in"))]
    known = streams(crowded.plan)
    now = measured(crowded, crowded.runs, known)
    of = pipes(crowded.plan, known, now.rates_bps[None, :])
    if any(pipe.link >= 0 for pipe in of.pipes):
        classes = [one.name for one in crowded.plan.classes]
        assert {*(pipe.name for pipe in of.pipes), *classes} <= set(written)
        rates = [text for text in written if text.endswith("Mb/s")]
        assert len(rates) == len(of.pipes) + len(classes)


def test_the_time_of_a_map_is_an_option_of_the_command(chain, tmp_path):
    chain.save(tmp_path / "chain.json")

    def draw(kind):
        asked = PlotOptions(kind, tmp_path / "map.svg", at_s=1.5)
        plot_command([tmp_path / "chain.json"], asked)

    draw("topology")
    assert (tmp_path / "map.svg").stat().st_size > 10_000
    with pytest.raises(ValueError, match=r"--at sets the time of a map; .* is not a map"):
        draw("windows")


def test_four_panels_show_windows_packets_round_trips_and_timeouts(mixed):
    run = mixed.runs[0]
    series = run.series.paths
    windows, packets, rtt, rto = plot.subflows(mixed, user=1).axes
    for path, column in enumerate((2, 3)):
        np.testing.assert_allclose(windows.lines[path].get_ydata(), series.cwnd_segments[:, column])
        rto_s, srtt_s = series.rto_s[:, column], series.srtt_s[:, column]
        np.testing.assert_allclose(
            rto.lines[path].get_ydata(), np.where(rto_s > 0, 1e3 * rto_s, np.nan)
        )
        np.testing.assert_allclose(
            rtt.lines[path].get_ydata(), np.where(srtt_s > 0, 1e3 * srtt_s, np.nan)
        )
        assert packets.patches[path].get_height() == series.sent_packets[-1, column]


def test_results_of_several_controllers_are_columns_on_one_scale(mixed):
    other = simulated(MIXED, controller="olia")
    figure = plot.subflows([mixed, other], names=["first", "second"])
    assert len(figure.axes) == 8
    assert [ax.get_title(loc="left") for ax in figure.axes[:2]] == ["first", "second"]
    for left, right in zip(figure.axes[::2], figure.axes[1::2], strict=True):
        assert left.get_ylim() == right.get_ylim()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"flow": "x"}, "no class 'x'; the classes are mptcp"),
        ({"user": 2}, "mptcp has users 0 to 1"),
        ({"names": ["a", "b"]}, "1 results but 2 names"),
    ],
)
def test_wrong_options_of_the_four_panels_are_explained(options, message, mixed):
    with pytest.raises(ValueError, match=message):
        plot.subflows(mixed, **options)


def test_the_command_that_a_result_names_repeats_it(wired):
    words = wired.command()
    assert words[:3] == ["anabranch", "run", "khalili/scenario-c"]
    assert words[words.index("--repeat") + 1] == "2"
    assert [w for flag, w in pairwise(words) if flag == "--set"] == ["duration=12 s", "warmup=6 s"]
    assert simulated(UPLINK).command()[2] == "SCENARIO"


def test_the_command_of_a_cell_names_the_cell_and_its_file_does_too(tmp_path):
    short = ["duration=8 s", "warmup=2 s"]
    cell = ab.run("khalili:c-lia-30", 1, overrides=short)
    assert cell.command()[2] == "khalili:c-lia-30"
    cell.save(tmp_path / "cell.json")
    assert ab.Result.load(tmp_path / "cell.json").command() == cell.command()
    changed = ab.load("khalili:c-lia-30").changed(overrides=short)
    assert ab.run(changed, 1).command()[2] == "SCENARIO"


@pytest.mark.parametrize(
    ("seeds", "first", "count"), [([2, 3, 4], 2, 3), ([4, 2, 3], 2, 3), ([5, 1, 9], 5, 1)]
)
def test_the_command_has_the_seeds_or_says_that_it_has_the_first_alone(seeds, first, count):
    result = ab.run("khalili/scenario-c", seeds, overrides=["duration=8 s", "warmup=2 s"])
    assert result.command()[-4:] == ["--seed", str(first), "--repeat", str(count)]
    with pytest.raises(ValueError, match="run with series=True, or") as error:
        plot.windows(result)
    assert ("runs the first seed alone" in str(error.value)) == (count == 1)
