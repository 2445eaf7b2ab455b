"""Scripts that run on several processes, which stand in for devices."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

Process = subprocess.Popen[bytes]


def run_on(count: int, script: str, *, seconds: float = 80) -> str:
    """Run a script on so many processes at once, as `torchrun` does on one machine.

    Args:
        count: number of processes.
        script: of Python, which begins with `torch.distributed.init_process_group("gloo")`.
        seconds: after these, whatever still runs is ended.

    Returns:
        What they print, in the order of their ranks.

    Raises:
        RuntimeError: a process that failed or took too long; the message has the last it said.

    >>> run_on(2, "import os; print(os.environ['RANK'])").split()
    ['0', '1']
    """
    shared = {
        "WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_free_port()),
        "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore",
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"{rank}.txt") for rank in range(count)]
        started = [
            _started(script, file, shared | {"RANK": str(rank)}) for rank, file in enumerate(files)
        ]
        _wait(started, time.monotonic() + seconds)
        said = [file.read_text() for file in files]
        errors = [file.with_suffix(".err").read_text() for file in files]
    for rank, process in enumerate(started):
        if process.returncode:
            last = errors[rank].strip().rpartition("\n")[2]
            raise RuntimeError(f"process {rank} ended with {process.returncode}: {last}")
    return "".join(said)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


def _started(script: str, output: Path, told: Mapping[str, str]) -> Process:
    command, known = [sys.executable, "-c", script], {**os.environ, **told}
    with output.open("wb") as file, output.with_suffix(".err").open("wb") as errors:
        return subprocess.Popen(command, env=known, stdout=file, stderr=errors)


def _wait(started: list[Process], end: float) -> None:
    """Wait until all have ended or time is up; then none of them goes on."""
    while time.monotonic() < end and any(one.poll() is None for one in started):
        time.sleep(0.05)
    for process in started:
        process.kill()
        process.wait()
