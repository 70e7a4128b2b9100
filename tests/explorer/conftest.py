"""What the tests of the explorer share: the server, a browser, and the page in it."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

from anabranch.explorer.server import Server

DISK = Path(__file__).resolve().parents[2] / "out/explorer.html"

PATIENCE_MS = 90_000
"""For what takes a second on an idle machine."""

WATCH = """async () => {
  await window.anabranch.ready;
  const page = document.getElementById("explorer").shadowRoot.querySelector(".page");
  window.computed = 0;
  new MutationObserver(() => { window.computed += page.getAttribute("aria-busy") === "false"; })
    .observe(page, { attributes: true, attributeFilter: ["aria-busy"] });
}"""
"""Counts how often the page has finished to compute, once it is there."""


def unavailable(reason: str) -> NoReturn:
    """Skips a test; a failure where ANABRANCH_BROWSER=required says that all is there."""
    if os.environ.get("ANABRANCH_BROWSER") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """The server of the page, on a port of its own."""
    with Server() as own:
        thread = threading.Thread(target=own.serve_forever, args=[0.05])
        thread.start()
        yield own
        own.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def disk() -> str:
    """The address of the page on disk."""
    if not DISK.is_file():
        unavailable("out/explorer.html is not there: make explorer")
    return DISK.as_uri()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The system's Chromium."""
    program = shutil.which("chromium")
    if program is None:
        unavailable("chromium is not installed")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        unavailable("playwright is not installed: pip install 'anabranch[browser]'")
    own = [] if os.geteuid() else ["--no-sandbox"]  # Chromium's sandbox refuses root
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=program, args=own)
        yield found
        found.close()


class Explorer:
    """The page in a window of the browser, with what went wrong and what it asked for."""

    def __init__(self, page: Any) -> None:
        """An empty window."""
        self.page = page
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda said: said.type == "error" and self.errors.append(said.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def open(self, address: str, fragment: str = "") -> Explorer:
        """Opens the page and waits for its first results, or for its message."""
        self.page.goto(f"{address}#{fragment}" if fragment else address)
        self.page.evaluate(WATCH)
        return self

    def at(self, name: str) -> Any:
        """The elements with this `data-test`."""
        return self.page.locator(f'[data-test="{name}"]')

    def slider(self, key: str) -> Any:
        """The slider of an override."""
        return self.page.locator(f'[data-test="slider"][data-key="{key}"]')

    def ask(self, script: str, argument: Any = None) -> Any:
        """The value of a function in the page."""
        return self.page.evaluate(script, argument)

    def state(self) -> dict[str, Any]:
        """What the page shows."""
        found: dict[str, Any] = self.ask("() => window.anabranch.state()")
        return found

    @property
    def link(self) -> str:
        """The address, once it no longer changes: it follows the state with a delay."""
        self.page.wait_for_function(
            """() => {
              const now = performance.now();
              if (window.address !== location.href) [window.address, window.since] = [location.href, now];
              return now - window.since > 800;
            }"""
        )
        return str(self.page.url)

    @property
    def computed(self) -> int:
        """How often the page has finished to compute."""
        return int(self.ask("() => window.computed"))

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Waits for the results of what is done inside."""
        before = self.computed
        yield
        self.page.wait_for_function("before => window.computed > before", arg=before)


@pytest.fixture
def window(browser: Any) -> Iterator[Any]:
    """Opens windows with options of Playwright, each with a profile of its own; nothing may go
    wrong in any of them.
    """
    contexts, made = [], []

    def new(**options: Any) -> Explorer:
        contexts.append(browser.new_context(accept_downloads=True, **options))
        made.append(Explorer(contexts[-1].new_page()))
        return made[-1]

    yield new
    errors = [error for one in made for error in one.errors]
    for context in contexts:
        context.close()
    assert errors == []
