"""The page's server: who may ask, what is answered, and how the command begins and ends."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch import _core
from anabranch.explorer.data import data, key, opened, published, request
from anabranch.explorer.prediction import header_of
from anabranch.explorer.server import MOST_BODY_BYTES, Server, page

COMMAND = [sys.executable, "-c", "from anabranch.cli import main; main()", "explore"]

SHORT = ["duration=12 s", "warmup=4 s"]

SEVERAL = {
    "khalili/scenario-c": "olia",
    "tse/two-paths": None,
    "couple-plus/static": "balia",
    "wifi/up": None,
    "cs218/vanet": "lia",
}
"""Scenarios of every kind, and a controller."""


class Reply:
    """A response: its status, its headers and its body."""

    def __init__(self, found: http.client.HTTPResponse) -> None:
        """Reads the response."""
        self.status, self.headers, self.body = found.status, found.headers, found.read()

    @property
    def text(self) -> str:
        return self.body.decode()


def ask(server: Server, path: str, body: str | bytes | None = None, **headers: str) -> Reply:
    """Sends a request as the page does; `headers` replace its own, with `_` for `-`."""
    line = http.client.HTTPConnection(*server.server_address[:2], timeout=60)
    own = {"Content-Type": "application/json", "Origin": server.url[:-1].rpartition("/")[0]}
    own |= {name.replace("_", "-"): value for name, value in headers.items()}
    sent = body.encode() if isinstance(body, str) else body
    line.request("GET" if body is None else "POST", path, sent, own)
    try:
        return Reply(line.getresponse())
    finally:
        line.close()


def below(server: Server, path: str = "") -> str:
    """A path below the token."""
    return f"/{server.token}/{path}"


def run_of(name: str, controller: str | None = None, seed: int = 1) -> str:
    asked = json.loads(request(name, controller or "", SHORT))
    return json.dumps({"do": "run", **asked, "seed": seed, "series": False, "events": 0})


def test_the_page_comes_with_its_policy_and_may_not_be_framed(server: Server) -> None:
    found = ask(server, below(server))
    assert found.status == 200 and found.text == page()
    assert found.headers["Content-Type"] == "text/html; charset=utf-8"
    policy = found.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'") and "frame-ancestors 'none'" in policy
    assert found.headers["X-Content-Type-Options"] == "nosniff"
    assert found.headers["Referrer-Policy"] == "no-referrer"


def test_the_data_are_the_shipped_scenarios_and_the_published_rates(server: Server) -> None:
    found = ask(server, below(server, "data.json"))
    assert found.status == 200 and found.headers["Content-Type"] == "application/json"
    assert json.loads(found.body) == data()
    assert b"<" not in found.body  # no text in it ends a script


@pytest.mark.parametrize("name", SEVERAL)
def test_a_run_has_the_digest_of_the_program(server: Server, name: str) -> None:
    found = ask(server, below(server, "answer"), run_of(name, SEVERAL[name]))
    assert found.status == 200 and found.headers["Content-Type"] == "application/octet-stream"
    (run,) = ab.run(name, controller=SEVERAL[name], overrides=SHORT).runs
    assert header_of(found.body)["run"]["digest"] == run.digest


def test_answers_are_the_bytes_of_the_engine(server: Server) -> None:
    for what in (run_of("khalili/scenario-c"), '{"do": "list"}', '{"do": "nothing"}'):
        assert ask(server, below(server, "answer"), what).body == _core.page(what)


def test_a_run_ends_when_its_page_has_gone() -> None:
    asked = json.loads(request("khalili/scenario-c", "lia", ["duration=100000 s"]))
    calls = []

    def wanted() -> bool:
        calls.append(1)
        return len(calls) < 3

    run = {"do": "run", **asked, "seed": 1, "series": False, "events": 0}
    header = header_of(_core.page(json.dumps(run), wanted))
    assert header["error"].endswith("the run was stopped") and 3 <= len(calls) < 100

    def gone() -> bool:
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError, match="gone"):
        _core.page(json.dumps(run), gone)


def test_the_address_for_the_browser_leads_to_the_page_once() -> None:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        path = server.door.removeprefix(server.url[: -len(server.token) - 2])
        assert ask(server, path, Host="example.org").status == 421
        assert ask(server, path).headers["Location"] == server.url
        assert ask(server, path).status == 403
        server.shutdown()
        thread.join()


def test_theory_says_what_it_leaves_out(server: Server) -> None:
    for name, part in (("couple-plus/static", "network coding"), ("khalili/scenario-c", None)):
        found = json.loads(ask(server, below(server, "theory"), request(name, "", ())).body)
        assert part in found["left_out"] if part else found["left_out"] == []


def test_theory_is_that_of_the_command_and_says_why_it_has_none(server: Server) -> None:
    asked = request("khalili/scenario-c", "lia", ())
    found = json.loads(ask(server, below(server, "theory"), asked).body)
    assert found["equilibrium"]["single-path"] == pytest.approx(0.7e6, rel=0.01)
    assert found["optimum"] == {"multipath": 1_000_000, "single-path": 1_000_000}
    assert found["why"] == ""
    for name, controller, why in (
        ("cs218/csma", "", "medium 'lan'"),
        ("khalili/scenario-c", "bbr", "has no drift"),
        ("khalili/scenario-c", "nobody", "there is no controller `nobody`"),
    ):
        asked = request(name, controller, ())
        found = json.loads(ask(server, below(server, "theory"), asked).body)
        assert found["equilibrium"] is None and why in found["why"]
        assert "\n" not in found["why"]


@pytest.mark.parametrize("where", ["answer", "theory"])
def test_a_controller_that_is_a_file_is_not_read(
    server: Server, where: str, tmp_path: Path
) -> None:
    (tmp_path / "own.law").write_text("a secret")
    (tmp_path / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Own: ...\n")
    for file in ("own.law", "own.py:Own"):
        found = ask(
            server, below(server, where), run_of("khalili/scenario-c", str(tmp_path / file))
        )
        assert b"secret" not in found.body and b"digest" not in found.body
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "path", ["/", "/data.json", "/answer", "/wrong/", "//", "/%C3%A9/data.json"]
)
def test_nothing_is_served_without_the_token(server: Server, path: str) -> None:
    found = ask(server, path)
    assert found.status == 403 and "token" in found.text
    assert ask(server, path, '{"do": "list"}').status == 403


@pytest.mark.parametrize(
    "path", ["../", "page.html", "data.json/..", "../../etc/passwd", "%2e%2e/"]
)
def test_there_are_no_other_files(server: Server, path: str) -> None:
    assert ask(server, below(server, path)).status == 404


def test_other_names_of_this_machine_and_other_pages_are_refused(server: Server) -> None:
    what, port = '{"do": "list"}', server.server_address[1]
    for path, body in ((below(server), None), (below(server, "answer"), what)):
        assert ask(server, path, body, Host=f"rebound.example:{port}").status == 421
        assert ask(server, path, body, Host="127.0.0.1:1").status == 421
        for origin in ("http://elsewhere.example", f"https://127.0.0.1:{port}", "null"):
            assert ask(server, path, body, Origin=origin).status == 403
        assert ask(server, path, body, Host=f"localhost:{port}").status == 200


def test_requests_that_are_no_requests_are_refused_with_a_sentence(server: Server) -> None:
    answer = below(server, "answer")
    assert ask(server, answer, "{}", Content_Type="text/plain").status == 415
    assert ask(server, answer, "{}", Content_Length="many").status == 411
    assert ask(server, below(server, "nowhere"), "{}").status == 404
    found = ask(server, answer, "{}", Content_Length=str(MOST_BODY_BYTES + 1))
    assert found.status == 413 and str(MOST_BODY_BYTES) in found.text
    assert ask(server, answer, b"\xff\xfe").status == 400
    assert ask(server, below(server, "theory"), "[" * 100_000).status == 400
    for what in ("", "[" * 100_000, "[1]", '{"do": "run"}', '{"do": "plan", "text": "x = ["}'):
        found = ask(server, answer, what)
        assert found.status == 200 and "error" in header_of(found.body)


def test_other_methods_are_refused_in_plain_text(server: Server) -> None:
    line = http.client.HTTPConnection(*server.server_address[:2], timeout=60)
    line.request("DELETE", below(server))
    found = Reply(line.getresponse())
    assert found.status == 501 and found.headers["Content-Type"].startswith("text/plain")
    line.close()


def test_a_run_waits_for_a_processor_and_is_dropped_with_its_page(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    monkeypatch.setattr(_core, "page", lambda what, _wanted=None: begun.append(what) or b"")
    monkeypatch.setattr(server, "processors", threading.BoundedSemaphore(1))
    server.processors.acquire()
    line = http.client.HTTPConnection(*server.server_address[:2], timeout=60)
    sent = {"Content-Type": "application/json"}
    line.request("POST", below(server, "answer"), run_of("khalili/scenario-c"), sent)
    ask(server, below(server, "answer"), '{"do": "list"}')  # does not wait
    assert begun == ['{"do": "list"}']
    line.close()
    asked = run_of("khalili/scenario-c", seed=2)
    waiting = threading.Thread(target=ask, args=[server, below(server, "answer"), asked])
    waiting.start()
    waiting.join(0.5)  # longer than a waiting run looks away from its page
    server.processors.release()
    waiting.join()
    assert begun[1:] == [asked]


def started(*words: str) -> subprocess.Popen[str]:
    command = [*COMMAND, "--no-browser", *words]
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def first_of(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What the page of a command shows at first."""
    assert process.stderr
    address = process.stderr.readline().split()[-1]
    host, _, path = address.removeprefix("http://").partition("/")
    line = http.client.HTTPConnection(host, timeout=60)
    line.request("GET", f"/{path}data.json")
    found: dict[str, Any] = json.loads(Reply(line.getresponse()).body)["open"]
    line.close()
    return found


def test_the_command_serves_until_an_interrupt() -> None:
    with started("Khalili/Scenario C") as process:
        assert first_of(process)["name"] == "khalili/scenario-c"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and out == "" and "Traceback" not in err


def test_an_interrupt_ends_a_run_as_well() -> None:
    with started() as process:
        assert process.stderr
        address = process.stderr.readline().split()[-1]
        host, _, path = address.removeprefix("http://").partition("/")
        line = http.client.HTTPConnection(host, timeout=60)
        asked = json.loads(run_of("khalili/scenario-c")) | {"overrides": ["duration=100000 s"]}
        sent = {"Content-Type": "application/json"}
        line.request("POST", f"/{path}answer", json.dumps(asked), sent)
        with pytest.raises(TimeoutError):
            line.sock.settimeout(1)
            line.getresponse()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in err and "panicked" not in err


def test_a_cell_and_a_result_are_shown_with_their_changes(tmp_path: Path) -> None:
    with started("khalili:c-lia-30") as process:
        found = first_of(process)
        process.terminate()
    assert (found["name"], found["text"]) == ("khalili/scenario-c", None)
    assert found["controller"] == "lia" and "flow.multipath.count=30" in found["overrides"]
    file = tmp_path / "c.json.gz"
    ab.run("khalili/scenario-c", [3, 4], controller="olia", overrides=SHORT).save(file)
    with started(str(file)) as process:
        found = first_of(process)
        process.terminate()
    assert found == {
        "name": "khalili/scenario-c",
        "text": None,
        "controller": "olia",
        "overrides": SHORT,
        "seed": 3,
        "replications": 2,
        "note": "",
    }


def test_ones_own_scenario_is_sent_as_text(tmp_path: Path) -> None:
    own = ab.load("khalili/scenario-c").changed(overrides=SHORT)
    file = tmp_path / "own.toml"
    file.write_text(own.text)
    found = opened(ab.load(str(file)))
    assert (found["name"], found["text"]) == (str(file), own.text)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["khalili/scenario-x"], "khalili/scenario-x"),
        (["khalili:c-lia-31"], "c-lia-31"),
        (["README.md"], "README.md"),
        (["absent.json"], "absent.json"),
        (["package.json"], "package.json"),
        (["--port", "70000"], "--port"),
        (["--port", "PORT"], "127.0.0.1:PORT"),
    ],
)
def test_wrong_words_are_named_with_status_2(
    server: Server, words: list[str], named: str, tmp_path: Path
) -> None:
    port = str(server.server_address[1])  # is taken
    if words == ["package.json"]:
        (tmp_path / "package.json").write_text("{}")
        words = [str(tmp_path / "package.json")]
    process = started(*(word.replace("PORT", port) for word in words))
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2 and named.replace("PORT", port) in err, err
    assert "Traceback" not in err


def test_the_help_has_examples() -> None:
    done = subprocess.run([*COMMAND, "--help"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "Example: anabranch explore khalili:c-lia-30" in done.stdout


def test_a_law_of_a_result_is_shown_as_it_ran(tmp_path: Path) -> None:
    file = tmp_path / "own.law"
    file.write_text("law own\ngrowth = 1/w\nbackoff = w/2\n")
    result = ab.run("khalili/scenario-c", controller=str(file), overrides=SHORT)
    file.unlink()
    found = result.opening()
    assert found["controller"] and "growth" in found["controller"]
    asked = json.loads(run_of("khalili/scenario-c", found["controller"]))
    answer = header_of(_core.page(json.dumps(asked)))
    assert answer["run"]["digest"] == result.runs[0].digest


def test_a_result_of_another_world_says_that_the_page_simulates() -> None:
    result = ab.run("khalili/scenario-c", overrides=SHORT)
    assert result.opening()["note"] == ""
    other = replace(result, world="linux")
    assert other.opening()["note"] == "The result is of linux; the page simulates its scenario."
    many = ab.run(
        "khalili/scenario-c", seeds=range(1, 121), overrides=["duration=8 s", "warmup=6 s"]
    )
    found = many.opening()
    assert found["replications"] == 100 and found["note"].endswith("runs 100 of its 120 seeds.")


def test_a_class_in_python_is_not_for_the_page() -> None:
    class Own(ab.Controller):
        """A controller."""

    result = ab.run("khalili/scenario-c", controller=Own, overrides=["duration=8 s", "warmup=6 s"])
    with pytest.raises(ValueError, match="Python class"):
        result.explore()


def test_published_rates_are_those_of_cells_and_of_scenarios_that_are_the_same() -> None:
    found = {
        (one["scenario"], one["controller"], bool(one["overrides"]), one["users"]): one["bps"]
        for one in published()
    }
    assert found["khalili/scenario-c", "olia", False, "single-path"] == 880_000
    assert found["khalili/scenario-c-30", "lia", False, "multipath"] == 1_190_000
    assert found["khalili/scenario-a", "lia", True, "type2"] == 440_000


def test_keys_of_theory_are_those_of_the_page() -> None:
    found = key(("khalili/scenario-c", "", ("link.b.rate=1 Mb/s", "link.a.rate=é")))
    assert found == '["khalili/scenario-c","",["link.a.rate=é","link.b.rate=1 Mb/s"]]'
