"""Hold the register of claims against the history of the repository.

    python -m experiments history [REVISION...]

Every version of every record that was ever committed is read, of the current commit and of all
before it. A claim in one of them must stand in a record of today, under the same name and in the
same words, or `register.yaml` must say that it was withdrawn, renamed or reworded. What it says of
withdrawn claims must be what their last record said.
"""

import json
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any

from bookkit.records.register import changes, register
from experiments.engine.record import STUDIES

_RECORDS = re.compile(r"(?:bookkit|companion)/results/\w+\.json|experiments/\w+/record\.json")
"""Where records are and were."""
_ASKED = ("claim", "side", "threshold")


def git(*words: str, given: bytes = b"") -> bytes:
    """Return what a command of Git prints."""
    command = ("git", "-C", str(STUDIES), *words)
    return subprocess.run(command, input=given, check=True, capture_output=True).stdout


def is_whole() -> bool:
    """Whether the whole history is here: a shallow clone has the newest commits alone."""
    try:
        return git("rev-parse", "--is-shallow-repository").strip() == b"false"
    except (OSError, subprocess.CalledProcessError):
        return False


def recorded(revisions: Sequence[str] = ("HEAD",)) -> Iterator[dict[str, Any]]:
    """Yield every version of every record, the newest first."""
    objects = git("rev-list", "--objects", *revisions).decode().splitlines()
    parts = [line.partition(" ") for line in objects]
    names = [name for name, _, path in parts if _RECORDS.fullmatch(path)]
    printed = BytesIO(git("cat-file", "--batch", given="\n".join(names).encode()))
    for _ in names:
        size = int(printed.readline().split()[2])
        yield json.loads(printed.read(size))
        printed.readline()


def untold(records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Say of each claim of a record that the register does not tell of it, or tells other numbers.

    Args:
        records: the newest first.
    """
    today = {entry.key: entry.claim for entry in register()}
    listed = {(one["name"], one["claim"]): one for one in changes()["withdrawn"]}
    listed |= {(old, ""): {} for one in changes()["renamed"] for old in one["names"]}
    listed |= {pair: {} for one in changes()["reworded"] for pair in one["said"].items()}
    told: set[tuple[str, str]] = set()
    for record in records:
        for key, claim in record.get("claims", {}).items():
            name, said = f"{record['study']}/{key}", claim["claim"]
            line = f"{said} ({claim['side']} {claim['threshold']:g})"
            ways = [(name, way) for way in ("", said, line) if (name, way) in listed]
            way = ways[0] if ways else (name, line)
            if way in told:
                continue
            told.add(way)
            now, entry = today.get(name), listed.get(way, {})
            for part in sorted(entry.keys() & claim.keys()):
                if entry[part] != claim[part]:
                    yield f"{name}: {part}: got {entry[part]!r} in the list, wanted {claim[part]!r}"
            same = now and (now.claim, now.side, now.threshold) == tuple(map(claim.get, _ASKED))
            if not ways and not same:
                yield f"{name}: {line}: not in the register, nor in register.yaml"
    yield from (f"{name}: in register.yaml, and in no record" for name, _ in listed.keys() - told)


def main(words: Sequence[str]) -> int:
    """Print what the register does not tell; return 1 if there is anything, 2 without a history."""
    if not is_whole():
        print("Only a part of the history is here; `git fetch --unshallow` brings the rest.")
        return 2
    records = list(recorded(words or ["HEAD"]))
    faults = list(untold(records))
    names = {f"{one['study']}/{name}" for one in records for name in one.get("claims", {})}
    held = f"{len(records)} versions of records held {len(names)} claims."
    print(*faults, held if faults else f"{held} The register tells of them all.", sep="\n")
    return bool(faults)
