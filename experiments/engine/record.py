"""Turn the runs of a study into its record: intervals, verdicts, and where it ran."""

import json
import math
import os
import platform
import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, is_dataclass, replace
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath, PureWindowsPath
from statistics import fmean
from typing import Any

from bookkit.records import Side, read_study
from bookkit.records.reading import RECORD
from experiments.engine.kinds import NumberKind, from_entry

Entry = dict[str, object]
STUDIES = Path(__file__).parents[1]
"""The folder with one folder for each study."""

LEAST_SEEDS = 5
_DIGITS = 8
_PACKAGES = {"torch": "torch", "numpy": "numpy", "companion": "attention-companion"}


def measure(runs: Sequence[float], kind: NumberKind) -> Entry:
    """Return the entry of a number that was measured for every seed, in the order of the seeds.

    Raises:
        ValueError: there are fewer than 2 runs, or one is not finite or out of bounds.

    >>> from experiments.engine.kinds import number
    >>> measure([1.0, 2.0, 3.0], number("nats", low=0))["mean"]
    2.0
    """
    # Rounded first, so that the stored runs give the stored intervals again.
    kept = rounded(runs)
    if kind.item_error:
        kind = replace(kind, item_error=_rounded(kind.item_error))
    return {
        **kind.as_entry(),
        "runs": kept,
        "mean": _rounded(fmean(kept)),
        **{name: rounded(span) for name, span in kind.spans(kept).items()},
    }


def rounded(runs: Sequence[float]) -> list[float]:
    """Return numbers as a record holds them.

    >>> rounded([1 / 3])
    [0.33333333]
    """
    return [_rounded(run) for run in runs]


def claim(
    text: str,
    treatment_runs: Sequence[float],
    control_runs: Sequence[float] | None,
    kind: NumberKind,
    side: Side,
    threshold: float = 0.0,
) -> Entry:
    """Return the entry of a sentence and the number that decides it.

    The number is the difference treatment - control, seed by seed: paired, so what a seed does to
    both sides drops out. Without a control it is the runs themselves. If the sentence is true, the
    number lies "above" or "below" the threshold.

    Raises:
        ValueError: the numbers of runs differ, there are fewer than 2, one is not finite or out of
            bounds, or `side` is something else.

    >>> from experiments.engine.kinds import number
    >>> claim("A is beyond B.", [5.0, 7.0], [4.0, 5.0], number("m"), side="above")["runs"]
    [1.0, 2.0]
    """
    if side not in ("above", "below"):
        raise ValueError(f'side: got {side!r}, wanted "above" or "below"')
    entry = measure(differences(treatment_runs, control_runs), kind)
    return {**entry, "claim": text, "side": side, "threshold": threshold}


def differences(
    treatment_runs: Sequence[float], control_runs: Sequence[float] | None
) -> list[float]:
    """Subtract run by run; equal numbers differ by 0, whatever rounding did to them.

    Raises:
        ValueError: the numbers of runs differ.

    >>> differences([0.1 + 0.2, 5.0], [0.3, 4.0])
    [0.0, 1.0]
    """
    if control_runs is None:
        return list(treatment_runs)
    if len(control_runs) != len(treatment_runs):
        raise ValueError(
            f"control_runs: got {len(control_runs)} runs, wanted {len(treatment_runs)}, "
            "one for each of treatment_runs"
        )
    return list(map(_difference, treatment_runs, control_runs))


def fingerprint(losses: Sequence[float], *, tolerance: float = 1e-3) -> Entry:
    """Return the entry of a smoke run, by which a test sees whether the computation changed.

    Losses that differ by no more than the tolerance are still the same.

    Raises:
        ValueError: there is no loss, one is not finite, or the tolerance is not above 0.

    >>> fingerprint([2.0, 1.5])
    {'losses': [2.0, 1.5], 'tolerance': 0.001}
    """
    if not losses or not all(map(math.isfinite, losses)):
        raise ValueError(f"losses: got {list(losses)}, wanted at least one, all finite")
    if not tolerance > 0:
        raise ValueError(f"tolerance: got {tolerance}, wanted a number above 0")
    return {"losses": [_rounded(loss) for loss in losses], "tolerance": tolerance}


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that decide a result, where installed.

    >>> sorted(versions())[:2]
    ['companion', 'numpy']
    """
    installed = {"python": platform.python_version()}
    for name, distribution in _PACKAGES.items():
        with suppress(PackageNotFoundError):
            installed[name] = version(distribution).partition("+")[0]
    return installed


def processor() -> str:
    """Return the model of the processor, or its architecture where the model is unknown.

    >>> processor() != ""
    True
    """
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    model = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    name = model.group(1) if model else platform.processor() or platform.machine()
    return " ".join(re.sub(r"\((R|TM)\)", "", name, flags=re.IGNORECASE).split())


def write_result(
    study: str,
    *,
    title: str,
    command: str,
    seeds: Sequence[int],
    over: str = "seeds",
    threads: int,
    code: Entry,
    config: Mapping[str, object],
    measures: Mapping[str, Entry],
    claims: Mapping[str, Entry] | None = None,
    data: Mapping[str, str] | None = None,
    fingerprint: Entry | None = None,
    least_seeds: int = LEAST_SEEDS,
    directory: Path | None = None,
) -> Path:
    """Check a study and write its record, whole or not at all; return the path.

    There are at least `least_seeds` seeds, all different. What was fixed beforehand may hold
    dataclasses, which are written as mappings. Measures, claims, the code and the fingerprint of a
    smoke run come from `measure`, `claim`, `code_of` and `fingerprint`.

    Returns:
        The path of the file.

    Raises:
        ValueError: there are too few seeds, runs are not one a seed, a number does not follow
            from its runs, or a string is an absolute path.
        TypeError: the configuration holds what JSON cannot.
    """
    if len(seeds) < least_seeds:
        raise ValueError(f"seeds: got {len(seeds)}, wanted at least {least_seeds}")
    record = _plain(
        {
            "study": study, "title": title, "command": command, "seeds": seeds,
            "date": date.today().isoformat(), "processor": processor(), "threads": threads,
            "versions": versions(), "config": config, "data": data, "fingerprint": fingerprint,
            "measures": measures, "claims": claims or {}, "code": code,
            **({} if over == "seeds" else {"over": over}),
        },
        study,
    )  # fmt: skip
    _check_statistics(record)
    read_study(record, name=study)
    return replace_file(layout(record) + "\n", (directory or STUDIES) / study / RECORD)


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _difference(a: float, b: float) -> float:
    return 0.0 if math.isclose(a, b, rel_tol=1e-12) else a - b


def _plain(value: object, where: str) -> Any:
    """Turn tuples, mappings and dataclasses into what JSON knows; refuse absolute paths."""
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value), where)
    if isinstance(value, Mapping):
        return {key: _plain(part, f"{where}, {key}") for key, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(part, where) for part in value]
    if isinstance(value, str) and _is_absolute(value):
        raise ValueError(f"{where}: got an absolute path, {value!r}, wanted none in a record")
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"{where}: got {type(value).__name__}, wanted what JSON can hold")


def _is_absolute(text: str) -> bool:
    return PurePosixPath(text).is_absolute() or PureWindowsPath(text).is_absolute()


def _check_statistics(record: dict[str, Any]) -> None:
    for group in ("measures", "claims"):
        for key, entry in record[group].items():
            again = measure(entry["runs"], from_entry(entry))
            for name in ("mean", "interval", "prediction"):
                if entry.get(name) != again.get(name):
                    where = f"{group}, {key}, {name}"
                    raise ValueError(f"{where}: got {entry.get(name)}, runs give {again.get(name)}")


def layout(value: Any, indent: str = "") -> str:
    """Write JSON with sorted keys, one entry a line and a list of plain values in one line."""
    inner = indent + "  "
    if isinstance(value, dict) and value:
        parts = [f"{json.dumps(k)}: {layout(value[k], inner)}" for k in sorted(value)]
        opening, closing = "{", "}"
    elif isinstance(value, list) and any(isinstance(part, dict | list) for part in value):
        parts = [layout(part, inner) for part in value]
        opening, closing = "[", "]"
    else:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    body = ",\n".join(inner + part for part in parts)
    return f"{opening}\n{body}\n{indent}{closing}"


def replace_file(text: str, path: Path) -> Path:
    """Replace the file in one step: a run that is stopped leaves the old record."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", newline="\n", dir=path.parent, suffix=".part", delete=False
    ) as file:
        part = Path(file.name)
        try:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            part.unlink()
            raise
    part.chmod(0o644)  # a temporary file is the user's own; a record is everyone's to read
    part.replace(path)
    return path
