"""Windows against the BDP, stations of media, and distributions over time."""

import numpy as np
import pytest
from air import UPLINK

import anabranch as ab
from anabranch import plot
from anabranch.cli.draw import PlotOptions, plot_command

MOST = ["one/ap1", "one/other", "two/client", "two/ap2"]
"""The stations that send most."""
WIRED = ["duration=6 s", "warmup=2 s", "flow.multipath.count=1", "flow.single-path.count=3"]


@pytest.fixture(scope="module")
def air():
    return ab.run(ab.Scenario.parse(UPLINK), seeds=(1, 2), series=True)


@pytest.fixture(scope="module")
def wired():
    return ab.run("khalili/scenario-c", seeds=(1, 2), series=True, overrides=WIRED)


def one_link(more="", flow=""):
    """A run of one user on one link."""
    text = f"""
        name = "link"
        duration = "6 s"
        warmup = "2 s"
        link = [{{ name = "wire", rate = "8 Mb/s", delay = "20 ms", queue = {{ droptail = {{ packets = "20 packets" }} }} }}]
        flow = [{{ name = "tcp", path = [{{ links = ["wire"] {more} }}] {flow} }}]
    """
    return ab.run(ab.Scenario.parse(text), series=True)


def line(ax, style):
    """The only line of a style."""
    (found,) = [one for one in ax.lines if one.get_linestyle() == style]
    return found


def stairs(ax):
    """Values and edges of the only stairs."""
    (found,) = [patch for patch in ax.patches if hasattr(patch, "get_data")]
    return found.get_data().values, found.get_data().edges


def ticks(ax):
    """The times of ticks."""
    return [float(piece[0, 0]) for lines in ax.collections for piece in lines.get_segments()]


def title(ax):
    """A panel's title on one line."""
    return ax.get_title(loc="left").replace("\n", " ")


def columns(result):
    """Columns of the stations that are drawn."""
    medium = [f"{m.name}/{station.name}" for m in result.plan.media for station in m.stations]
    return [medium.index(name) for name in MOST]


def legend(ax):
    """The texts of a panel's legend."""
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_window_is_held_against_throughput_times_propagation_on_each_path(air):
    axes = plot.inflation(air).axes
    run = air.runs[0]
    assert len(axes) == 3
    for column, (ax, base_rtt_s) in enumerate(zip(axes, (0.008, 0.012, 0.008), strict=True)):
        cwnd = run.series.paths.cwnd_segments[:, column]
        bdp_bytes = run.paths.throughput_bps[column] / 8 * base_rtt_s
        np.testing.assert_allclose(line(ax, "-").get_ydata(), 1.5 * cwnd)
        np.testing.assert_allclose(line(ax, "--").get_ydata(), bdp_bytes / 1e3)
        ratio = 1500 * run.paths.cwnd_segments[column] / bdp_bytes
        assert title(ax).endswith(f": mean window {ratio:.3g} × BDP")


def test_windows_in_segments_have_the_same_ratio(air):
    kilobytes, segments = plot.inflation(air), plot.inflation(air, unit="segments")
    for one, other in zip(kilobytes.axes, segments.axes, strict=True):
        assert title(one) == title(other)
        kb, packets = (np.asarray(line(ax, "--").get_ydata()) for ax in (one, other))
        np.testing.assert_allclose(kb, 1.5 * packets)
        assert (one.get_ylabel(), other.get_ylabel()) == ("Window (kB)", "Window (segments)")


def test_a_round_trip_time_may_be_given_for_all_panels_or_each(air):
    def products(**options):
        return [line(ax, "--").get_ydata()[0] for ax in plot.inflation(air, **options).axes]

    first, second, third = products(rtt_s=0.01)
    assert products(rtt_s=(0.01, 0.02, 0.04)) == pytest.approx([first, 2 * second, 4 * third])
    assert products(rtt_s=0.01, classes=["single"]) == pytest.approx([third])


def test_of_a_path_in_use_for_a_part_of_the_time_both_are_of_this_part():
    whole, part = one_link(), one_link(', leave = "4 s"')
    ratios = [float(title(plot.inflation(r).axes[0]).split()[-3]) for r in (whole, part)]
    figure = plot.inflation(part)
    t_s, cwnd = line(figure.axes[0], "-").get_data()
    assert np.isnan(cwnd[t_s >= 4]).all() and np.isfinite(cwnd[t_s < 4]).all()
    for result in (whole, part):
        mbps = float(legend(plot.inflation(result).axes[0])[1].split()[1])
        assert mbps == pytest.approx(8, rel=0.03)
    assert ratios[1] == pytest.approx(ratios[0], rel=0.1)


def test_the_bdp_stays_visible_below_windows_that_are_far_above_it(air):
    for figure in (plot.inflation(air), plot.inflation(air, log=False)):
        for ax in figure.axes:
            low, high = ax.get_ylim()
            assert low <= line(ax, "--").get_ydata()[0] < high
            assert np.nanmax(line(ax, "-").get_ydata()) < high
    assert {ax.get_yscale() for ax in plot.inflation(air).axes} == {"log"}
    assert {ax.get_yscale() for ax in plot.inflation(air, log=False).axes} == {"linear"}
    assert plot.inflation(one_link()).axes[0].get_yscale() == "linear"


def test_a_logarithmic_axis_of_windows_has_three_ticks_at_least():
    result = ab.run(
        "khalili/scenario-c", controller="olia", series=True, overrides=["duration=60 s"]
    )
    for ax in plot.inflation(result, log=True).axes:
        low, high = ax.get_ylim()
        assert sum(low <= tick <= high for tick in ax.get_yticks()) >= 3


def test_a_path_on_which_nothing_arrived_has_no_ratio():
    silent = one_link(flow=', start = "5.99 s"')
    assert title(plot.inflation(silent).axes[0]).endswith(": no BDP")
    assert title(plot.inflation(silent, log=True).axes[0]).endswith(": no BDP")


def test_datagrams_have_no_window_to_inflate():
    voice = one_link(flow=', protocol = "udp", app_rate = "100 kb/s"')
    with pytest.raises(ValueError, match="no class of link has a window"):
        plot.inflation(voice)
    with pytest.raises(ValueError, match="'tcp' sends datagrams"):
        plot.inflation(voice, classes=["tcp"])


def test_a_path_without_propagation_needs_a_round_trip_time():
    text = UPLINK.replace('delay = "4 ms"\n', "")
    result = ab.run(ab.Scenario.parse(text), series=True)
    with pytest.raises(ValueError, match=r"path 0 of mptcp has .* of 0 s .* give what it is with"):
        plot.inflation(result)
    assert len(plot.inflation(result, rtt_s=0.002).axes) == 3


def test_by_default_stations_that_send_are_drawn_in_pairs_of_panels(air):
    figure = plot.stations(air)
    names = [title(ax).split(":")[0] for ax in figure.axes[::2]]
    assert names == MOST
    assert len(plot.stations(air, stations=["two/silent"]).axes) == 2


def test_queues_of_stations_are_those_of_the_series(air):
    series = air.runs[1].series
    figure = plot.stations(air, seed=2)
    for column, ax in zip(columns(air), figure.axes[::2], strict=True):
        t_s, packets = line(ax, "-").get_data()
        np.testing.assert_array_equal(t_s, series.t_s)
        np.testing.assert_array_equal(packets, series.stations.queue_packets[:, column])
        assert packets.max() < ax.get_ylim()[1]


def test_unanswered_transmissions_add_up_to_the_count_and_ticks_stand_where_packets_fail(air):
    series = air.runs[0].series
    lower = plot.stations(air, bin_s=0.5).axes[1::2]
    for column, ax in zip(columns(air), lower, strict=True):
        per_s, edges = stairs(ax)
        counted = series.stations.unanswered[:, column]
        assert np.sum(per_s * np.diff(edges)) == pytest.approx(counted[-1] - counted[0])
        failed = np.diff(series.stations.failed_packets[:, column])
        np.testing.assert_array_equal(ticks(ax), series.t_s[1:][failed > 0])
        assert per_s.max() <= ax.get_ylim()[1]


def test_titles_of_stations_count_what_was_after_the_warm_up(air):
    table = air.runs[0].stations
    share = 100 * table.unanswered[2] / table.attempts[2]
    text = title(plot.stations(air, stations=["one/other"]).axes[0])
    assert f"{share:.3g} % of {table.attempts[2]:,} transmissions unanswered" in text
    assert f"{table.failed_packets[2]} packets given up" in text
    silent = title(plot.stations(air, stations=["two/silent"]).axes[0])
    assert silent == "two/silent: no transmission after the warm-up"


def test_the_limit_of_queue_and_ring_is_drawn_where_it_is_near(air):
    full, empty = plot.stations(air, stations=["two/client", "one/other"]).axes[::2]
    assert line(full, ":").get_ydata()[0] == 1064
    assert [one.get_linestyle() for one in empty.lines] == ["-"]


def test_of_many_stations_those_that_send_most_are_drawn_unless_they_are_named():
    links = [
        f'{{ name = "l{i}{d}", medium = "hall", from = "{ends[0]}", to = "{ends[1]}" }}'
        for i in range(11)
        for d, ends in (("u", (f"s{i}", "ap")), ("d", ("ap", f"s{i}")))
    ]
    flows = [
        f'{{ name = "f{i}", path = [{{ links = ["l{i}u"], back = ["l{i}d"] }}] }}'
        for i in range(11)
    ]
    text = f"""
        name = "hall"
        duration = "1 s"
        medium = [{{ name = "hall", standard = "a" }}]
        link = [{", ".join(links)}]
        flow = [{", ".join(flows)}]
    """
    result = ab.run(ab.Scenario.parse(text), series=True)
    figure = plot.stations(result)
    assert len(figure.axes) == 8
    attempts = result.runs[0].series.stations.attempts[-1]
    names = [station.name for station in result.plan.media[0].stations]
    drawn = [title(ax).split(":")[0].split("/")[1] for ax in figure.axes[::2]]
    assert sorted(attempts[names.index(name)] for name in drawn) == sorted(attempts)[-4:]
    (below,) = figure.legends
    said = below.get_title().get_text().replace("\n", " ")
    assert said.endswith("(4 of 12 stations, those that send most)")
    assert len(plot.stations(result, stations=[f"hall/s{i}" for i in range(10)]).axes) == 20


def test_without_a_medium_stations_say_what_shows_links(wired):
    with pytest.raises(ValueError, match="has no medium and so no stations; the plot queue shows"):
        plot.stations(wired)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (
            "stations",
            {"stations": ["client"]},
            "no station 'client'; the stations are one/client, one/ap1",
        ),
        ("stations", {"bin_s": 0.01}, "shorter than the samples"),
        ("stations", {"seed": 3}, "the seeds are 1, 2"),
        ("stations", {"start_s": 9}, "no samples from 9 s"),
        ("inflation", {"unit": "MB"}, "did you mean `kB`\\? The units are kB, segments"),
        ("inflation", {"classes": ["x"]}, "no class 'x'"),
        ("inflation", {"user": 1}, "users 0 to 0"),
        ("inflation", {"rtt_s": [0.01]}, "3 panels but 1 round-trip times"),
        ("inflation", {"rtt_s": -1}, "path 0 of mptcp"),
        ("inflation", {"rtt_s": float("nan")}, "path 0 of mptcp"),
        ("cdf", {"sample_s": 0.01}, "shorter than the samples' 0.1 s"),
        ("cdf", {"sample_s": float("nan")}, "shorter than the samples' 0.1 s"),
        ("cdf", {"sample_s": 5}, "longer than the measured 4 s"),
        ("cdf", {"sample_s": 1, "metric": "goodput_bps"}, "no samples of goodput_bps"),
    ],
)
def test_wrong_options_of_these_kinds_are_explained(kind, options, message, air):
    with pytest.raises(ValueError, match=message):
        plot.draw(kind, air, **options)


def rates(figure):
    """The values of a figure's distributions, sorted."""
    return [np.asarray(one.get_xdata())[1:] for one in figure.axes[0].lines]


def test_a_distribution_over_time_has_every_second_after_the_warm_up_of_each_replication(air):
    drawn = rates(plot.cdf(air, sample_s=1))
    for name, mbps, columns in zip(air.classes, drawn, ([0, 1], [2]), strict=True):
        arrived = [run.series.paths.arrived_bytes[20::10, columns] for run in air.runs]
        seconds = np.concatenate([np.diff(one.sum(axis=1)) for one in arrived]) * 8e-6
        assert len(mbps) == 2 * 4
        np.testing.assert_allclose(mbps, np.sort(seconds))
        assert mbps.mean() == pytest.approx(air.rate(name).mean() * 1e-6)


def test_a_distribution_over_time_counts_all_users_of_a_class(wired):
    drawn = rates(plot.cdf(wired, sample_s=0.5))
    for name, mbps in zip(wired.classes, drawn, strict=True):
        assert mbps.mean() == pytest.approx(wired.users(name).sum(axis=1).mean() * 1e-6)


def test_what_is_left_after_whole_pieces_is_in_none(air):
    assert [len(mbps) for mbps in rates(plot.cdf(air, sample_s=1.5))] == [2 * 2, 2 * 2]


def test_over_time_a_result_has_its_line_style_and_a_class_its_colour(air):
    other = ab.run(air.scenario, seeds=(1, 2), series=True, controller="reno")
    figure = plot.cdf([air, other], sample_s=1)
    looks = [(one.get_color(), one.get_linestyle()) for one in figure.axes[0].lines]
    first, second = (plot.style.colour(index) for index in range(2))
    assert looks == [(first, "-"), (second, "-"), (first, "--"), (second, "--")]
    markers = [one.get_marker() for one in figure.axes[0].lines]
    assert markers[0] == markers[2] != markers[1] == markers[3]
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["mptcp", "single", "lia", "reno"]
    assert figure.axes[0].get_ylabel() == "Fraction of time"


def test_a_distribution_over_time_needs_series():
    bare = ab.run(ab.Scenario.parse(UPLINK))
    with pytest.raises(ValueError, match=r"series=True, or `anabranch run .* --series --json"):
        plot.cdf(bare, sample_s=1)


@pytest.mark.parametrize("kind", ["inflation", "stations"])
def test_the_command_draws_these_kinds_from_a_file(kind, air, tmp_path):
    air.save(tmp_path / "uplink.json.gz")
    plot_command([tmp_path / "uplink.json.gz"], PlotOptions(kind, tmp_path / "picture.svg"))
    assert "<svg" in (tmp_path / "picture.svg").read_text()
