"""A headless Chromium that is driven over a pipe, by the DevTools protocol: no port, no package.

Chromium reads commands from descriptor 3 and writes answers and events to descriptor 4, each a JSON text that
ends with a zero byte.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"]
LIMIT = 60

# The sandbox needs rights that containers lack, so as root it is off; the page may fetch nothing anyway.
FLAGS = [
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-gpu",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
]


def find():
    """The path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Refused(Exception):
    """The browser answered a command with an error, or not at all."""


class Browser:
    """Chromium until the end of a `with` block, with a profile that is thrown away."""

    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory(prefix="page-", ignore_cleanup_errors=True)
        flags = FLAGS + [f"--user-data-dir={self.profile.name}"]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")
        theirs_in, self.commands = os.pipe()
        self.answers, theirs_out = os.pipe()
        # the shell gives both pipes the numbers that Chromium expects
        script = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self.process = subprocess.Popen(
            ["bash", "-c", script, "bash", program, *flags, "about:blank"],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.number = 0
        self.pending = b""
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
        except Refused:
            pass
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        self.profile.cleanup()

    def receive(self, until):
        """The next message, or None when the time is over."""
        while b"\0" not in self.pending:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                return None
            read = os.read(self.answers, 1 << 20)
            if not read:
                raise Refused("Chromium ended")
            self.pending += read
        message, _, self.pending = self.pending.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **params):
        """The result of a command; events that come meanwhile are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        text = json.dumps(message).encode() + b"\0"
        try:
            while text:
                text = text[os.write(self.commands, text) :]
        except OSError as error:
            raise Refused(f"{method}: {error}") from error
        until = time.monotonic() + LIMIT
        while (answer := self.receive(until)) is not None:
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Refused(f"{method}: {answer['error'].get('message')}")
                return answer["result"]
            self.events.append(answer)
        raise Refused(f"{method}: no answer in {LIMIT} s")

    def page(self, width, height=900, scripts=True, dark=False):
        """A new tab of this size."""
        return Page(self, width, height, scripts, dark)


class Page:
    """A tab."""

    def __init__(self, browser, width, height, scripts, dark):
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media="screen", features=[scheme])
        if not scripts:
            self.call("Emulation.setScriptExecutionDisabled", value=True)

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def wait(self, method):
        """Until an event of this name has come."""
        until = time.monotonic() + LIMIT
        seen = 0
        while True:
            for event in self.browser.events[seen:]:
                if event.get("sessionId") == self.session and event.get("method") == method:
                    return
            seen = len(self.browser.events)
            event = self.browser.receive(until)
            if event is None:
                raise Refused(f"{method} has not come in {LIMIT} s")
            self.browser.events.append(event)

    def open(self, path):
        """Opens a file of this machine, and waits until it is loaded."""
        answer = self.call("Page.navigate", url=Path(path).resolve().as_uri())
        if "errorText" in answer:
            raise Refused(f"{path}: {answer['errorText']}")
        self.wait("Page.loadEventFired")

    def evaluate(self, expression):
        """The value of an expression, which may be a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise Refused(complaint(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def screenshot(self, path, clip=None):
        """The whole page, or a part {x, y, width, height}, as PNG."""
        options = {"format": "png", "captureBeyondViewport": True}
        if clip:
            options["clip"] = {**clip, "scale": 1}
        data = self.call("Page.captureScreenshot", **options)["data"]
        Path(path).write_bytes(base64.b64decode(data))

    def complaints(self):
        """What the console shows as an error or a warning, and what the page tried to fetch."""
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(complaint(params["exceptionDetails"]))
            elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
                found.append(" ".join(str(argument.get("value", "")) for argument in params["args"]))
            elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(params["entry"]["text"])
            elif method == "Network.requestWillBeSent" and not params["request"]["url"].startswith("file:"):
                found.append(f"the page asks for {params['request']['url'][:80]}")
        return found

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)


def complaint(details):
    exception = details.get("exception", {})
    return exception.get("description") or exception.get("value") or details.get("text", "an exception")
