"""Photograph pages of a running Airflow with headless Chromium, light and dark, 1280 pixels wide.

    python -m benchmarks.screenshots --url http://127.0.0.1:8099 --password ... page     # the page 'Replication'
    python -m benchmarks.screenshots --url ... --password ... one /dags/flights.incremental grid.png
    python -m benchmarks.screenshots --url ... --password ... one /dags/flights.bootstrap form.png --click Trigger

Needs the programs `chromium` and `chromedriver` (Debian: apt-get install chromium chromium-driver).
"""

import argparse
import base64
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from sandbox.airflow.airflow_api import AirflowApi

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
WIDTH = 1280
_PROGRAMS = ("chromium", "chromedriver")
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
)
_PATIENCE_SECONDS = 60.0
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""The key under which WebDriver names an element."""


@dataclass
class Browser:
    """Drive one Chromium through chromedriver's HTTP interface (W3C WebDriver)."""

    session: str

    def sign_in(self, airflow: AirflowApi) -> None:
        """Be the user of an Airflow whose pages are opened from now on."""
        self.open(f"{airflow.url}/api/v2/version")
        credentials = {"username": airflow.username, "password": airflow.password}
        token = httpx.post(f"{airflow.url}/auth/token", json=credentials).raise_for_status().json()["access_token"]
        self._post("cookie", cookie={"name": "_token", "value": token, "path": "/"})

    def choose_colours(self, theme: str) -> None:
        """Choose `light` or `dark`, as Airflow's own switch does."""
        self.run("localStorage.setItem('theme', arguments[0])", theme)

    def resize(self, height: int) -> None:
        """Make what is photographed so many pixels high."""
        metrics = {"width": WIDTH, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._post("goog/cdp/execute", cmd="Emulation.setDeviceMetricsOverride", params=metrics)

    def open(self, url: str) -> None:
        """Open an address."""
        self._post("url", url=url)

    def wait_for(self, selector: str) -> None:
        """Wait until an element is there, and what was asked for it has come."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not self.run("return document.querySelector(arguments[0]) !== null", selector):
            if time.monotonic() > deadline:
                raise SystemExit(f"the page shows no {selector} after {_PATIENCE_SECONDS:.0f} s")
            time.sleep(0.2)

    @contextmanager
    def inside(self, frame: str) -> Iterator[None]:
        """Look into a frame of the page."""
        self.wait_for(frame)
        element = self._post("element", using="css selector", value=frame)
        self._post("frame", id={_ELEMENT: element[_ELEMENT]})
        try:
            yield
        finally:
            self._post("frame/parent")

    def click(self, label: str) -> None:
        """Press the first button that says this, once it is there."""
        script = (
            "const found = [...document.querySelectorAll('button')].find(one => one.innerText.trim() === arguments[0]);"
            "found?.click(); return found !== undefined"
        )
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not self.run(script, label):
            if time.monotonic() > deadline:
                raise SystemExit(f"the page shows no button {label} after {_PATIENCE_SECONDS:.0f} s")
            time.sleep(0.2)

    def run(self, script: str, *arguments: Any) -> Any:
        """Run JavaScript in the page."""
        return self._post("execute/sync", script=script, args=list(arguments))

    def save(self, path: Path) -> None:
        """Write what is to be seen as a PNG file."""
        answer = httpx.get(f"{self.session}/screenshot", timeout=_PATIENCE_SECONDS).raise_for_status()
        path.write_bytes(base64.b64decode(answer.json()["value"]))
        print(path)

    def _post(self, command: str, **body: Any) -> Any:
        answer = httpx.post(f"{self.session}/{command}", json=body, timeout=_PATIENCE_SECONDS)
        if answer.is_error:
            raise SystemExit(f"the browser refuses {command}: {answer.json()['value']['message'].splitlines()[0]}")
        return answer.json()["value"]


@contextmanager
def browser() -> Iterator[Browser]:
    """Start a Chromium with an empty profile, and end it."""
    if missing := [program for program in _PROGRAMS if shutil.which(program) is None]:
        raise SystemExit(f"{' and '.join(missing)} not found; install: apt-get install chromium chromium-driver")
    with tempfile.TemporaryDirectory(prefix="twinhive-browser-") as home, _driver(home) as driver:
        flags = [*_FLAGS, f"--user-data-dir={home}/profile", f"--window-size={WIDTH},900"]
        wanted = {"alwaysMatch": {"goog:chromeOptions": {"binary": shutil.which("chromium"), "args": flags}}}
        answer = httpx.post(f"{driver}/session", json={"capabilities": wanted}, timeout=_PATIENCE_SECONDS)
        session = f"{driver}/session/{answer.raise_for_status().json()['value']['sessionId']}"
        try:
            yield Browser(session)
        finally:
            httpx.delete(session, timeout=_PATIENCE_SECONDS)


@contextmanager
def _driver(home: str) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home}
    process = subprocess.Popen(
        ["chromedriver", f"--port={port}"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield _answering(f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        process.wait()


def _answering(driver: str) -> str:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            if httpx.get(f"{driver}/status").json()["value"]["ready"]:
                return driver
        except (httpx.HTTPError, ValueError):
            time.sleep(0.2)
    raise SystemExit("chromedriver does not answer")


def photograph(
    chromium: Browser, url: str, path: Path, *, theme: str, height: int, ready: str, frame: str = "", press: str = ""
) -> None:
    """Save one page of Airflow, once `ready` is to be seen, in its frame or after a button where one is named."""
    chromium.resize(height)
    chromium.choose_colours(theme)
    chromium.open(url)
    if frame:
        with chromium.inside(frame):
            chromium.wait_for(ready)
    else:
        chromium.wait_for(ready)
    if press:
        chromium.click(press)
    # Fonts, transitions, and what the page around it still loads.
    time.sleep(1.5)
    chromium.save(path)


def photograph_the_page(chromium: Browser, airflow: AirflowApi, directory: Path) -> None:
    """Save the overview, the page of the most troubled policy, and what stands below all policies."""
    frame, entry = "iframe[title=Replication]", f"{airflow.url}/plugin/replication"
    chromium.open(entry)
    with chromium.inside(frame):
        chromium.wait_for(".policies .name a")
        policy = chromium.run("return document.querySelector('tr:has(.lag.bad) .name a').pathname")
    for theme in ("light", "dark"):
        for name, url, ready, height in (
            ("overview", entry, ".policies", 860),
            ("policy", f"{entry}{policy}", "#tables", 1_480),
        ):
            path = directory / f"page-{name}-{theme}.png"
            photograph(chromium, url, path, theme=theme, height=height, ready=ready, frame=frame)
    # A search that finds nothing: what belongs to no policy stands alone.
    below = f"{airflow.url}/replication/?search=no-such-policy"
    photograph(chromium, below, directory / "page-clusters.png", theme="light", height=860, ready=".copies")


def main() -> None:
    """Photograph what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    parser.add_argument("--user", default="admin")
    parser.add_argument("--password", required=True)
    parser.add_argument("--directory", type=Path, default=IMAGES)
    kinds = parser.add_subparsers(dest="kind", required=True)
    kinds.add_parser("page", help="the page 'Replication', five pictures")
    one = kinds.add_parser("one", help="one page of Airflow")
    one.add_argument("address", help="path and query, such as /dags/flights.incremental")
    one.add_argument("file", help="name of the picture")
    one.add_argument("--theme", choices=("light", "dark"), default="light")
    one.add_argument("--height", type=int, default=900)
    one.add_argument("--ready", default="main, #root > *", help="CSS selector of what must be there")
    one.add_argument("--click", default="", help="label of a button to press first")
    options = parser.parse_args()
    airflow = AirflowApi(options.url, options.user, options.password)
    with browser() as chromium:
        chromium.sign_in(airflow)
        if options.kind == "page":
            photograph_the_page(chromium, airflow, options.directory)
            return
        url, path = f"{airflow.url}{options.address}", options.directory / options.file
        look = {"theme": options.theme, "height": options.height, "ready": options.ready, "press": options.click}
        photograph(chromium, url, path, **look)


if __name__ == "__main__":
    main()
