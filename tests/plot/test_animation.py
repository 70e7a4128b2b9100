"""The page that plays a run: one file, with the data of the result."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from adhoc import CHAIN, MIXED
from air import UPLINK

import anabranch as ab
from anabranch import plot
from anabranch.plot.streams import class_colours, dashes, streams


@pytest.fixture(scope="module")
def chain():
    return ab.run(ab.Scenario.parse(CHAIN.replace("ROUTING", "aodv")), series=True)


@pytest.fixture(scope="module")
def mixed():
    return ab.run(ab.Scenario.parse(MIXED), series=True)


def data(page):
    """What the page knows, that of the map beside the rest."""
    (text,) = re.findall(
        r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL
    )
    content = json.loads(text)
    return {**content, **(content["map"] or {})}


def tracks(content, column):
    """Where sites are, in metres."""
    return [np.cumsum(site[column]) * content["unit"] for site in content["sites"]]


def totals(content, stream, end):
    """Bytes that a stream's hops to a site carried in all."""
    names = [site[0] for site in content["sites"]]
    total = 0
    for row in content["hops"]:
        for edge, count in zip(row[::3], row[1::3], strict=True):
            _, _, to, owner = content["edges"][edge]
            total += count * (owner == stream and to >= 0 and names[to] == end)
    return total


def anabranch(*words):
    """Runs the command line."""
    code = "from anabranch.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)


def test_the_page_is_one_file_that_asks_nobody_for_anything(chain):
    page = plot.animation(chain)
    assert "http" not in page.replace("http-equiv", "") and "@@" not in page
    assert not re.search(r"\b(src|href|import|fetch|url)\b\s*[=(]", page)
    assert "default-src 'none'" in page


def test_nodes_are_where_the_result_has_them(chain):
    content = data(plot.animation(chain))
    nodes = chain.runs[0].series.nodes
    for column, axis in ((4, "x_m"), (5, "y_m")):
        for number, track in enumerate(tracks(content, column)):
            expected = nodes[axis][:, number]
            np.testing.assert_allclose(np.broadcast_to(track, expected.shape), expected, atol=0.051)
    assert content["t"] == pytest.approx(chain.runs[0].series.t_s.tolist())
    assert content["area"] == [0, 0, 240, 100]


def test_hops_have_the_bytes_and_messages_of_the_result(chain):
    content = data(plot.animation(chain))
    table = chain.runs[0].series.nodes.hops
    shown = np.array([sum(row[1::3]) for row in content["hops"]])
    expected = np.bincount(table.sample, table.bytes, minlength=len(shown))
    np.testing.assert_allclose(shown, expected, rtol=5e-3)
    messages = sum(sum(row[2::3]) for row in content["hops"])
    assert messages == table.messages.sum() > 0
    assert any(edge[2] == -1 for edge in content["edges"])


def test_a_hop_belongs_to_the_path_whose_route_has_it(chain):
    content = data(plot.animation(chain))
    assert [stream["name"] for stream in content["streams"]] == ["mptcp, path 0", "mptcp, path 1"]
    arrived = chain.runs[0].series.paths.arrived_bytes[-1]
    for stream in range(2):
        assert totals(content, stream, "server") == pytest.approx(arrived[stream], rel=0.02)


def test_paths_that_share_a_hop_have_parts_of_it_as_they_arrive():
    shared = MIXED.replace(
        '{ links = ["lte-up"], back = ["lte-down"] }',
        '{ links = ["wlan-up"], back = ["wlan-down"] }',
    )
    result = ab.run(ab.Scenario.parse(shared), series=True)
    content = data(plot.animation(result))
    arrived = result.runs[0].series.paths.arrived_bytes[-1].reshape(2, 2).sum(axis=0)
    over_air = [totals(content, stream, "ap") for stream in range(2)]
    assert 0.1 < arrived[0] / arrived.sum() < 0.9
    np.testing.assert_allclose(over_air / np.sum(over_air), arrived / arrived.sum(), atol=0.05)


def test_a_route_is_in_use_while_its_hops_carry_packets(chain):
    content = data(plot.animation(chain))
    names = [site[0] for site in content["sites"]]
    routes = {
        " > ".join(names[site] for site in sites): times for *_, sites, times in content["routes"]
    }
    assert "client > relay > server" in routes
    for times in routes.values():
        assert times == sorted(times) and times[0] >= 1 and times[-1] < len(content["t"])


def test_windows_are_means_over_users_and_throughput_is_in_all(mixed):
    content = data(plot.animation(mixed))
    series = mixed.runs[0].series
    for path, stream in enumerate(content["streams"]):
        cwnd = series.paths.cwnd_segments[:, [path, 2 + path]].mean(axis=1)
        np.testing.assert_allclose(stream["cwnd"], cwnd, rtol=5e-3)
        arrived = series.paths.arrived_bytes[:, [path, 2 + path]].sum(axis=1)
        mbps = 8e-6 * np.diff(arrived) / np.diff(series.t_s)
        np.testing.assert_allclose(stream["mbps"][1:], mbps, rtol=5e-3)


def test_a_bus_and_roles_are_on_the_page(mixed):
    content = data(plot.animation(mixed))
    roles = {site[0]: site[2] for site in content["sites"]}
    assert (roles["ap"], roles["tower"], roles["phone-1"]) == ("access", "base", "node")
    assert [row[:2] for row in content["rows"]] == [["lan", "bus"]]
    assert content["buses"] == [-1, 0, -1]


def test_stations_without_places_are_played_too():
    content = data(plot.animation(ab.run(ab.Scenario.parse(UPLINK), series=True)))
    assert content["area"] is None
    assert len({tuple(site[4] + site[5]) for site in content["sites"]}) == 5


def test_a_name_cannot_end_the_script():
    title = "</script><b>bold"
    scenario = ab.Scenario.parse(f'title = "{title}"\n' + UPLINK.lstrip())
    page = plot.animation(ab.run(scenario, series=True))
    assert title not in page and data(page)["title"] == title


def test_the_same_result_is_the_same_page_after_it_was_saved(chain, tmp_path):
    chain.save(tmp_path / "chain.json.gz")
    assert plot.animation(ab.Result.load(tmp_path / "chain.json.gz")) == plot.animation(chain)


def test_the_command_writes_the_page(chain, tmp_path):
    chain.save(tmp_path / "chain.json.gz")
    page = tmp_path / "chain.html"
    done = anabranch("animate", str(tmp_path / "chain.json.gz"), "-o", str(page))
    assert done.returncode == 0, done.stderr
    assert page.read_text() == plot.animation(chain)


def test_without_series_the_command_says_how_to_get_them(tmp_path):
    ab.run(ab.Scenario.parse(UPLINK)).save(tmp_path / "bare.json")
    done = anabranch("animate", str(tmp_path / "bare.json"), "-o", str(tmp_path / "bare.html"))
    assert done.returncode == 2
    assert "--series" in done.stderr and not (tmp_path / "bare.html").exists()


def test_unknown_seeds_are_explained(chain):
    with pytest.raises(ValueError, match="the seeds are 1"):
        plot.animation(chain, seed=3)


@pytest.fixture(scope="module")
def wired():
    return ab.run("khalili/scenario-c", series=True, overrides=["duration=12 s", "warmup=6 s"])


def test_wires_are_played_as_pipes_from_users_to_receivers(wired):
    content = data(plot.animation(wired))
    assert content["map"] is None
    assert content["pipes"]["classes"] == [["multipath", 10, "lia"], ["single-path", 10, "reno"]]
    assert [pipe["name"] for pipe in content["pipes"]["pipes"]] == ["ap1", "ap2"]
    kinds = [slot[0] for slot in content["pipes"]["slots"]]
    assert kinds == ["class", "class", "pipe", "pipe", "end", "end"]
    ways = [[kinds[slot] for slot in course[2]] for course in content["pipes"]["courses"]]
    assert ways == [["class", "pipe", "end"]] * 3


def test_flows_of_pipes_are_rates_of_the_last_second_and_queues_those_of_the_result(wired):
    pipes = data(plot.animation(wired))["pipes"]
    series = wired.runs[0].series
    late = int(np.searchsorted(series.t_s, 9.0))
    before = int(np.argmin(np.abs(series.t_s - (series.t_s[late] - 1))))
    arrived = series.paths.arrived_bytes
    for stream, columns in enumerate((range(0, 20, 2), range(1, 20, 2), range(20, 30))):
        grown = (arrived[late] - arrived[before])[list(columns)].sum()
        seconds = series.t_s[late] - series.t_s[before]
        assert pipes["flows"][stream][late] == pytest.approx(8e-6 * grown / seconds, rel=5e-3)
    for pipe, link in zip(pipes["pipes"], (0, 1), strict=True):
        np.testing.assert_allclose(pipe["queue"], series.links.queue_packets[:, link], rtol=5e-3)
        dropped = series.links.dropped_packets[:, link]
        assert (sum(pipe["drops"]) > 0) == (dropped[-1] > 0)


def test_wires_beside_a_medium_are_a_view_of_their_own(mixed):
    assert data(plot.animation(mixed))["pipes"] is None
    wire = MIXED + '[[link]]\nname = "wire"\nrate = "5 Mb/s"\n'
    both = wire.replace('["wlan-up", "lan-up"]', '["wlan-up", "lan-up", "wire"]')
    content = data(plot.animation(ab.run(ab.Scenario.parse(both), series=True)))
    assert content["map"] and content["pipes"]
    names = [pipe["name"] for pipe in content["pipes"]["pipes"]]
    assert names == ["wlan", "lan", "wire", "lte"]


def test_streams_of_one_colour_have_dashes_of_their_own():
    plan = ab.load("tse/independent").plan()
    known = streams(plan)
    tones = class_colours(known)
    looks = list(zip(tones, dashes(known, tones), strict=True))
    assert len(set(looks)) == len(looks) > len(set(tones))
