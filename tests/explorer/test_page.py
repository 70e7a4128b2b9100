"""The page in a browser: the file that opens from disk, and the page that the server gives."""

from __future__ import annotations

import base64
import gzip
import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import anabranch as ab
from anabranch import _core
from anabranch.explorer import widget
from anabranch.explorer.data import data, opened, texts
from anabranch.explorer.prediction import HEAD_BYTES, header_of
from anabranch.explorer.server import Server
from anabranch.scenario import shipped
from conftest import DISK, Explorer

Window = Callable[..., Explorer]

COMMAND = [sys.executable, "-c", "from anabranch.cli import main; main()"]

MOST_BYTES, MOST_PACKED_BYTES = 4_000_000, 1_500_000

LONG_MS = 100
"""A frame that takes longer is seen."""

RUNS = """asks => Promise.all(asks.map(async ([ask, seed]) => {
  const run = await window.anabranch.engine.run(ask, seed, undefined, false);
  let text = "";
  for (const byte of run.bytes) text += String.fromCharCode(byte);
  return { digest: run.facts.digest, bytes: btoa(text) };
}))"""
"""Runs of the page's own engine."""

GOLDEN = Path(__file__).parents[1] / "golden/digests.txt"

HOSTILE = "<img src=x onerror=window.injected=true><script>window.injected=true</script>"

INJECTED = """() => window.injected === true ||
  document.getElementById("explorer").shadowRoot.querySelector("img, script, iframe, object") !== null"""


def ask_of(name: str, controller: str | None = None, *overrides: str) -> dict[str, Any]:
    return {
        "name": name,
        "text": texts()[name],
        "controller": controller,
        "overrides": [*overrides],
    }


def messages(page: Explorer) -> str:
    """All that the page complains about."""
    places = '[data-test="message"], [data-test="warning"], .error'
    return " ".join(page.page.locator(places).all_text_contents()).strip()


def exported(page: Explorer, kind: str) -> bytes:
    """The file that a button of the page gives."""
    with page.page.expect_download() as coming:
        page.at(f"export-{kind}").click()
    return Path(coming.value.path()).read_bytes()


def digests(page: Explorer) -> list[str]:
    """The digests of all runs that are shown."""
    results = json.loads(exported(page, "json"))["results"]
    return [digest for result in results for digest in result["digests"]]


def test_the_file_is_small(disk: str) -> None:
    content = DISK.read_bytes()
    assert len(content) < MOST_BYTES
    assert len(gzip.compress(content)) < MOST_PACKED_BYTES


def test_the_file_opens_from_disk_without_a_request(window: Window, disk: str) -> None:
    page = window().open(disk)
    page.at("bars").wait_for()
    assert page.ask("() => window.anabranch.engine.kind") == "page"
    assert page.state()["scenario"] == "khalili/scenario-c"
    others = [one for one in page.requests if not one.startswith((disk, "blob:", "data:"))]
    assert others == []


def test_every_shipped_scenario_has_the_native_digest(window: Window, disk: str) -> None:
    page = window().open(disk)
    found = page.ask(RUNS, [[ask_of(name), 1] for name in shipped()])
    digests = {name: one["digest"] for name, one in zip(shipped(), found, strict=True)}
    assert digests == dict(line.split() for line in GOLDEN.read_text().splitlines())


def test_both_engines_give_the_same_bytes(window: Window, disk: str, server: Server) -> None:
    """So that every table is the same, not only the digest."""
    asks = [
        [ask_of("khalili/scenario-c", "olia", "link.ap1.rate=7 Mb/s"), 3],
        [ask_of("tse/two-paths"), 2],
        [ask_of("wifi/up", "balia", "duration=30 s"), 1],
        [ask_of("couple-plus/mobile"), 1],
        [ask_of("cs218/vanet"), 1],
    ]
    pages = window().open(disk), window().open(server.url)
    assert pages[1].ask("() => window.anabranch.engine.kind") == "native"
    here, there = (page.ask(RUNS, asks) for page in pages)
    assert here == there
    for (asked, seed), one in zip(asks, here, strict=True):
        request = {"do": "run", **asked, "seed": seed, "series": False, "events": 0}
        answer = _core.page(json.dumps(request))
        assert base64.b64decode(one["bytes"]) in (answer, answer[HEAD_BYTES:])
        assert one["digest"] == header_of(answer)["run"]["digest"]


def test_the_served_page_asks_its_server_alone(window: Window, server: Server) -> None:
    page = window().open(server.url)
    page.at("sentence").wait_for()
    assert all(one.startswith((server.url, "blob:", "data:")) for one in page.requests)
    asked = ask_of("khalili/scenario-c", "lia", "link.ap1.rate=7 Mb/s")
    found = page.ask("ask => window.anabranch.engine.theory(ask)", asked)
    assert set(found["equilibrium"]) == {"multipath", "single-path"}


def test_the_command_line_says_what_is_shown_first(window: Window, server: Server) -> None:
    scenario = ab.load("khalili/scenario-b")
    first = opened(scenario, "olia", ["link.x.rate=20 Mb/s"], [4, 5])
    content = {**data(), "open": first}
    page = window()
    page.page.route("**/data.json", lambda route: route.fulfill(json=content))
    state = page.open(server.url).state()
    assert (state["scenario"], state["text"], state["a"]) == ("khalili/scenario-b", None, "olia")
    assert state["overrides"] == {"link.x.rate": "20 Mb/s"}
    assert (state["seed"], state["replications"]) == (4, 2)


def test_a_slider_runs_the_scenario_again(window: Window, disk: str) -> None:
    page = window().open(disk)
    before = digests(page)
    slider = page.slider("link.ap2.rate")
    with page.computing():
        slider.focus()
        page.page.keyboard.press("ArrowLeft")
    assert "link.ap2.rate" in page.state()["overrides"]
    assert slider.get_attribute("aria-valuetext")
    with page.computing():
        page.page.keyboard.press("Home")
    assert digests(page) != before
    took_ms = page.ask(
        """slider => new Promise(done => {
          const [start, before] = [performance.now(), window.computed];
          slider.value = slider.max;
          slider.dispatchEvent(new Event("input", { bubbles: true }));
          const look = () => window.computed > before ? done(performance.now() - start) : setTimeout(look, 5);
          look();
        })""",
        slider.element_handle(),
    )
    print(f"scenario C is redrawn {took_ms:.0f} ms after a slider")
    with page.computing():
        page.at("reset").click()
    assert page.state()["overrides"] == {} and digests(page) == before


def test_a_link_shows_what_was_shown(window: Window, disk: str) -> None:
    page = window().open(disk)
    with page.computing():
        page.at("controller-a").select_option("olia")
    with page.computing():
        page.at("controller-b").select_option("lia")
    with page.computing():
        page.slider("link.ap2.rate").focus()
        page.page.keyboard.press("PageDown")
    again = window().open(page.link)
    assert again.state() == page.state() and again.link == page.link
    assert len(digests(page)) == 2 and digests(again) == digests(page)


def test_ones_own_text_is_in_the_link_and_undone_by_the_list(window: Window, disk: str) -> None:
    own = ab.load("khalili/scenario-c").changed(
        overrides=["duration=20 s", "warmup=6 s"], title="é"
    )
    page = window().open(disk)
    with page.computing():
        file = {"name": "own.toml", "mimeType": "text/plain", "buffer": own.text.encode()}
        page.at("file").set_input_files(file)
    assert page.state()["text"] == own.text
    assert window().open(page.link).state() == page.state()
    with page.computing():
        page.at("scenario").select_option("khalili/scenario-a")
    assert page.state()["text"] is None


def test_what_is_taken_away_repeats_what_is_shown(window: Window, disk: str) -> None:
    fragment = "v=1&scenario=khalili/scenario-c&controller=olia&set=link.ap2.rate=8%20Mb/s&seed=5"
    page = window().open(disk, fragment)
    page.at("bars").wait_for()
    (digest,) = digests(page)
    page.at("export-command").click()
    page.page.wait_for_function(
        """() => document.getElementById("explorer").shadowRoot
          .querySelector('[data-test="message"]').textContent.includes("anabranch run")"""
    )
    command = page.at("message").inner_text()
    words = shlex.split(command[command.index("anabranch run") :])[1:]
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and digest in done.stdout, done.stderr
    scenario = ab.Scenario.parse(exported(page, "toml").decode())
    assert ab.run(scenario, [5]).runs[0].digest == digest
    assert digest in exported(page, "csv").decode()
    svg = exported(page, "svg")
    assert svg.startswith((b"<svg", b"<?xml")) and b"<script" not in svg
    assert exported(page, "png").startswith(b"\x89PNG")


def test_every_lesson_can_be_done(window: Window, disk: str) -> None:
    page = window().open(disk)
    names = page.ask(
        "list => [...list.options].map(one => one.value).filter(Boolean)",
        page.at("lesson").element_handle(),
    )
    assert len(names) == 7
    for name in names:
        page.at("lesson").select_option(name)
        page.at("lesson-guess").first.press("ArrowRight")
        page.at("lesson-run").click()
        done = page.page.locator(
            '[data-test="lesson-answer"]:is([data-state=done], [data-state=failed])'
        )
        done.wait_for()
        said = page.at("lesson-status").inner_text()
        assert done.get_attribute("data-state") == "done", f"{name}: {said}"
        assert "These runs do not show" not in done.inner_text(), f"{name}: {done.inner_text()}"


FRAGMENTS = {
    "huge": f"v=1&scenario={'x' * 300_000}",
    "huge text": f"v=1&scenario=own&text={'x' * 150_000}",
    "no percent code": "v=1&scenario=%zz",
    "another version": "v=2&scenario=khalili/scenario-c",
    "no version": "scenario=khalili/scenario-c",
    "unknown key": "v=1&__proto__=1",
    "key of a prototype": "v=1&set=__proto__=1",
    "a scenario that is a script": f"v=1&scenario={quote(HOSTILE)}",
    "a controller that is a script": f"v=1&scenario=khalili/scenario-c&controller={quote(HOSTILE)}",
    "a controller that is a file": "v=1&scenario=khalili/scenario-c&controller=/tmp/own.law",
    "an override that is a script": f"v=1&scenario=khalili/scenario-c&set=link.ap1.rate={quote(HOSTILE)}",
    "an unknown override": "v=1&scenario=khalili/scenario-c&set=link.nothing.rate=1",
    "text that is no scenario": f"v=1&scenario=own&text={quote(HOSTILE)}",
    "half a text": "v=1&scenario=own&text=name%20%3D%20%22",
    "a seed that is no number": "v=1&scenario=khalili/scenario-c&seed=1e99",
    "too many replications": "v=1&scenario=khalili/scenario-c&repeat=1000000",
}


@pytest.mark.parametrize("kind", FRAGMENTS)
def test_a_hostile_link_gives_a_message(window: Window, disk: str, kind: str) -> None:
    page = window().open(disk, FRAGMENTS[kind])
    assert messages(page)
    assert not page.ask(INJECTED)


def test_names_that_are_scripts_are_only_names(window: Window, disk: str) -> None:
    document = ab.load("khalili/scenario-c").document(overrides=["duration=10 s", "warmup=6 s"])
    document |= {"title": HOSTILE, "source": HOSTILE}
    for flow in document["flow"]:
        if flow["name"] == "multipath":
            flow["name"] = "<img src=x onerror=injected=true>"
    scenario = ab.Scenario.written(document)
    page = window().open(disk, f"v=1&scenario=own&text={quote(scenario.text)}")
    page.at("bars").wait_for()
    assert "onerror" in page.at("bars").inner_text() and not page.ask(INJECTED)
    assert b"<img" not in exported(page, "svg")


FILES = {
    "huge": b"# " + b"x" * 5_000_000,
    "malformed": b"name = [",
    "bytes": bytes(range(256)) * 100,
    "empty": b"",
    "a script": HOSTILE.encode(),
    "deep": b"a = " + b"[" * 50_000,
    "endless": b'name = "own"\nduration = "100000000000 s"\n',
}


@pytest.mark.parametrize("kind", FILES)
def test_a_hostile_file_gives_a_message(window: Window, disk: str, kind: str) -> None:
    page = window().open(disk)
    file = {"name": f"{HOSTILE[:40]}.toml", "mimeType": "text/plain", "buffer": FILES[kind]}
    page.at("file").set_input_files(file)
    page.page.wait_for_function(
        """() => [...document.getElementById("explorer").shadowRoot
          .querySelectorAll('[data-test="message"], [data-test="warning"], .error')]
          .some(one => one.textContent !== "")"""
    )
    assert not page.ask(INJECTED)
    with page.computing():  # and the page goes on
        page.at("scenario").select_option("khalili/scenario-a")
    assert page.state()["scenario"] == "khalili/scenario-a"


def test_nothing_is_evaluated_and_nothing_fetched(window: Window, disk: str) -> None:
    page = window().open(disk)
    broken = page.ask(
        """async () => {
          const broken = [];
          document.addEventListener("securitypolicyviolation", one => broken.push(one.effectiveDirective));
          setTimeout(() => (0, eval)("window.injected = true")); // as the page's own code would
          const script = document.createElement("script");
          script.textContent = "window.injected = true";
          document.body.append(script);
          await fetch("https://elsewhere.example/").catch(() => {});
          await new Promise(done => setTimeout(done, 200));
          return broken;
        }"""
    )
    assert {"script-src", "script-src-elem", "connect-src"} == set(broken)
    assert not page.ask("() => window.injected === true")
    page.errors.clear()  # the browser reports what it refused


def test_playing_is_smooth(window: Window, disk: str) -> None:
    """Frames are counted on machines that do other things as well: a page that is slow is slow in
    most of them.
    """
    page = window().open(disk, "v=1&scenario=khalili/scenario-c&controller=lia&beside=olia")
    page.at("play").click()
    gaps = page.ask(
        """() => new Promise(done => {
          const gaps = [];
          let last = performance.now();
          const frame = now => {
            gaps.push(now - last);
            last = now;
            if (gaps.length < 200) requestAnimationFrame(frame); else done(gaps.slice(5).sort((a, b) => a - b));
          };
          requestAnimationFrame(frame);
        })"""
    )
    long = sum(gap > LONG_MS for gap in gaps)
    print(
        f"{len(gaps)} frames: median {gaps[len(gaps) // 2]:.0f} ms, longest {gaps[-1]:.0f} ms, {long} long ones"
    )
    assert gaps[len(gaps) // 2] < LONG_MS / 2 and long < len(gaps) / 5


def test_space_plays_and_stops(window: Window, disk: str) -> None:
    page = window().open(disk)
    label = page.at("play").inner_text()
    page.page.keyboard.press("Space")
    page.page.wait_for_function(
        """label => document.getElementById("explorer").shadowRoot
          .querySelector('[data-test="play"]').textContent !== label""",
        arg=label,
    )
    page.page.keyboard.press("Space")
    assert page.at("play").inner_text() == label


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1100])
@pytest.mark.parametrize("name", ["khalili/scenario-c", "cs218/vanet"])
def test_nothing_is_wider_than_the_window(
    window: Window, disk: str, scheme: str, width: int, name: str
) -> None:
    page = window(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.open(disk, f"v=1&scenario={name}")
    assert page.ask("() => document.documentElement.scrollWidth") <= width


def test_themes_are_those_of_the_system_and_of_the_button(window: Window, disk: str) -> None:
    paper = """() => getComputedStyle(document.getElementById("explorer")).backgroundColor"""
    light = window(color_scheme="light").open(disk)
    dark = window(color_scheme="dark").open(disk)
    assert light.ask(paper) != dark.ask(paper)
    light.at("theme").click()
    light.at("theme").click()  # as the system, light, dark
    assert light.ask(paper) == dark.ask(paper)


def test_every_control_has_a_name(window: Window, disk: str) -> None:
    page = window().open(disk)
    nameless = page.ask(
        """() => [...document.getElementById("explorer").shadowRoot
          .querySelectorAll("button, select, input, textarea")]
          .filter(one => !(one.ariaLabel || one.labels?.length || one.textContent.trim()))
          .map(one => one.outerHTML.slice(0, 200))"""
    )
    assert nameless == []


class Answered:
    """The notebook's side of the widget, which keeps the last answer."""

    def send(self, content: Any, buffers: list[bytes] | None = None) -> None:
        self.last = [content, [base64.b64encode(one).decode() for one in buffers or []]]


def test_a_notebook_shows_the_page(window: Window) -> None:
    page = window()
    page.page.goto("about:blank")

    def asked(message: Any) -> Any:
        notebook = Answered()
        widget.answer(notebook, message)
        return notebook.last

    page.page.expose_function("asked", asked)
    source = (Path(widget.__file__).parent / "widget.js").read_text()
    first = opened(ab.load("khalili/scenario-c"), "olia", ["link.ap2.rate=8 Mb/s"])
    page.ask(
        """async ([source, data]) => {
          const bytes = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
          const heard = new Set();
          const model = {
            get: () => data,
            on: (_, one) => heard.add(one),
            off: (_, one) => heard.delete(one),
            send: async message => {
              const [content, buffers] = await window.asked(message);
              for (const one of heard) one(content, buffers.map(text => new DataView(bytes(text).buffer)));
            },
          };
          const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
          const { default: shown } = await import(address);
          document.body.append(document.createElement("div"));
          window.end = shown.render({ model, el: document.body.firstChild });
        }""",
        [source, data(first=first)],
    )
    page.page.wait_for_function(
        """() => /\\d/.test(document.querySelector("body > div > div").shadowRoot
          .querySelector('[data-test="bars"]').textContent)"""
    )
    assert "8 Mb/s" in page.page.locator('[data-key="link.ap2.rate"]').get_attribute(
        "aria-valuetext"
    )
    page.ask("() => window.end()")
