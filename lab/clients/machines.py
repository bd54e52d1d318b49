"""Three servers and a gateway as processes of this machine.

`divisi-gateway demo --stay` starts them, and is told what to stop and to start.
"""

import json
import secrets
import socket
import subprocess


class Machines:
    """What runs until the end of a `with` block."""

    def __init__(self, program):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        self.token = "s." + secrets.token_hex(16)
        command = [program, "demo", "--stay", "--listen", address, "--token", self.token]
        command += ["--mount", "transit", "--mount", "t2"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{program} demo --stay did not start")
        self.url = "http://" + json.loads(line)["address"]

    def tell(self, command):
        """`stop N` or `start N`: the answer comes when it is done."""
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if answer != "ok":
            raise SystemExit(f"demo --stay answered {answer!r} to {command!r}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # the end of its input ends all processes
        self.process.stdin.close()
        self.process.wait(timeout=30)
