"""Break the core in a fixed sample of ways, by cosmic-ray, and see the tests of each module notice.

`python -m tests.mutation` takes some minutes on two cores. It lists every break that no test
noticed, and fails if these are more than three in ten: many breaks change nothing, such as what
fills a place that a mask hides, or the size of a tile.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkResult

ROOT = Path(__file__).parents[1]
CORE = {
    "scores.py": "tests/test_scores.py tests/test_attention.py",
    "masks.py": "tests/test_masks.py tests/test_attention.py",
    "attention.py": "tests/test_attention.py",
    "tiled.py": "tests/test_tiled.py",
    "torch_fused.py": "tests/test_torch_fused.py",
    "linear.py": "tests/test_linear.py",
    "convolution.py": "tests/test_convolution.py",
    "gates.py": "tests/test_gates.py",
    "differential.py": "tests/test_differential.py",
    "indexed.py": "tests/test_indexed.py",
    "latent.py": "tests/test_latent.py",
    "positions": "tests/positions",
    "cache": "tests/test_cache.py tests/test_caches.py",
    "layers": "tests/layers",
}
"""What is broken, a file or a folder of the package, and which tests must notice."""

KINDS = re.compile(
    "core/(ReplaceBinaryOperator_(Add_Sub|Sub_Add|Mul_Add|Div_Mul)"
    "|ReplaceComparisonOperator_(Lt_LtE|LtE_Lt|Gt_GtE|GtE_Gt|Eq_NotEq|NotEq_Eq|Is_IsNot|IsNot_Is)"
    "|ReplaceUnaryOperator_Delete_.*|ReplaceAndWithOr|ReplaceOrWithAnd|ReplaceTrueWithFalse"
    "|ReplaceFalseWithTrue|NumberReplacer|AddNot|ZeroIterationForLoop)"
)
ENOUGH = 0.7
"""Of the breaks, so many must be noticed."""

CONFIG = """
[cosmic-ray]
module-path = "companion/{module}"
timeout = 600.0
excluded-modules = []
test-command = "{python} -m pytest -x -q -p no:cacheprovider -m 'not slow' {tests}"

[cosmic-ray.distributor]
name = "local"
"""


def breaks(module: str, every: int) -> tuple[int, list[str]]:
    """Break a copy of a module in every n-th way; return how often, and what went unnoticed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("companion", "bookkit", "tests"):
            skip = shutil.ignore_patterns("__pycache__", "fonts", "results", "trained")
            shutil.copytree(ROOT / part, folder / part, ignore=skip)
        shutil.copy(ROOT / "pyproject.toml", folder)
        config = CONFIG.format(module=module, python=sys.executable, tests=CORE[module])
        (folder / "config.toml").write_text(config, encoding="utf-8")
        _run("init", "config.toml", "session.sqlite", folder=folder)
        _run("baseline", "config.toml", folder=folder)
        with use_db(str(folder / "session.sqlite"), WorkDB.Mode.open) as session:
            ways = {item.job_id: item.mutations[0] for item in session.work_items}
            known = [job for job, way in ways.items() if KINDS.fullmatch(way.operator_name)]
            known.sort(
                key=lambda job: (ways[job].start_pos, ways[job].operator_name, ways[job].occurrence)
            )
            sample = known[::every]
            session.set_multiple_results(
                [job for job in ways if job not in sample], WorkResult(WorkerOutcome.SKIPPED)
            )
        _run("exec", "config.toml", "session.sqlite", folder=folder)
        with use_db(str(folder / "session.sqlite"), WorkDB.Mode.open) as session:
            unnoticed = [
                result.diff or ""
                for _, result in session.completed_work_items
                if result.test_outcome == TestOutcome.SURVIVED
            ]
    return len(sample), unnoticed


def _run(*arguments: str, folder: Path) -> None:
    environment = os.environ | {
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",  # a break within a second of the last looks as old
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "cosmic_ray.cli", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)}: {done.stdout}{done.stderr}")


def main() -> None:
    """Break, count and judge."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("modules", nargs="*", default=list(CORE), help="all of the core by default")
    parser.add_argument("--every", type=int, default=6, help="1 for every way that is known")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    with ThreadPoolExecutor(options.workers) as pool:
        found = list(pool.map(lambda one: breaks(one, options.every), options.modules))
    for module, (count, unnoticed) in zip(options.modules, found, strict=True):
        print(f"{module:13} {count - len(unnoticed):3} of {count:3} breaks noticed")
        print(*unnoticed, sep="\n")
    total = sum(count for count, _ in found)
    missed = sum(len(unnoticed) for _, unnoticed in found)
    print(f"{total - missed} of {total} breaks noticed")
    if missed > (1 - ENOUGH) * total:
        raise SystemExit(f"wanted at least {ENOUGH:.0%}")


if __name__ == "__main__":
    main()
