"""`placet demo` as a person starts and stops it."""

import contextlib
import json
import random
import signal
import socket
import subprocess
import sys

import pytest

pytestmark = pytest.mark.timeout(240)


def free_pair():
    """A port that is free together with the next one, below those that the system itself gives away meanwhile."""
    while True:
        port = random.randrange(20_000, 30_000)
        with socket.socket() as first, socket.socket() as second, contextlib.suppress(OSError):
            first.bind(("127.0.0.1", port))
            second.bind(("127.0.0.1", port + 1))
            return port


def start(port, *more):
    command = [sys.executable, "-m", "bot", "demo", "--port", str(port), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def first_line(demo):
    line = demo.stdout.readline()
    assert line, demo.stderr.read()
    return line


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_says_where_it_is_and_stops_without_a_word(number):
    port = free_pair()
    with start(port, "--headless") as demo:
        where = json.loads(first_line(demo))
        demo.send_signal(number)
        _, said = demo.communicate()

    assert where["sandbox"] == f"http://127.0.0.1:{port}"
    assert where["bot"] == f"http://127.0.0.1:{port + 1}"
    assert demo.returncode == 0
    assert "Traceback" not in said


@pytest.mark.parametrize("taken", [0, 1])
def test_a_port_that_is_taken_is_named_in_one_line(taken):
    port = free_pair()
    with socket.socket() as other:
        other.bind(("127.0.0.1", port + taken))
        other.listen()
        with start(port) as demo:
            _, said = demo.communicate()

    assert demo.returncode == 2
    assert (
        said
        == f"placet: port {port + taken} on 127.0.0.1 is taken: stop what uses it, or choose another with --port.\n"
    )
