"""The conformance kit under pytest: `pytest --attention my_module:my_attention`.

Without the option it adds nothing to a run, and loads neither NumPy nor any other part of the
package. Each check is a test of its own, so `-k sinks`, `-x` and `--collect-only` work as ever.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from companion.conformance.kit import Check
    from companion.conformance.signature import Subject

NAME = "attention"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup(
        NAME, "checks for an attention function (attention-companion)"
    )
    group.addoption(
        "--attention",
        metavar="MODULE:FUNCTION",
        help="check this function, which is called as torch's scaled_dot_product_attention is; "
        "without paths, nothing else is collected",
    )
    group.addoption(
        "--attention-arrays",
        choices=("numpy", "torch"),
        help="library of the arrays that it gets (default: torch if its module has imported it)",
    )
    group.addoption(
        "--attention-dtype",
        choices=("float32", "float64"),
        default="float32",
        help="dtype of the arrays (default: float32)",
    )
    group.addoption(
        "--attention-device",
        default="cpu",
        metavar="DEVICE",
        help="device of torch's tensors (default: cpu)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Take part in the run if a function is given."""
    given = config.getoption("attention")
    if given is None:
        return
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args.clear()
    kit = _Kit(_found(given, config), given)
    config.pluginmanager.register(kit, "attention-kit")


def _found(given: str, config: pytest.Config) -> Any:
    module, _, path = given.partition(":")
    if not module or not path:
        raise pytest.UsageError(
            f"--attention: got {given!r}, wanted MODULE:FUNCTION"
        )
    sys.path.insert(0, str(config.invocation_params.dir))
    try:
        found: Any = import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError) as error:
        raise pytest.UsageError(f"--attention {given}: {error}") from error
    if not callable(found):
        raise pytest.UsageError(
            f"--attention {given}: got a {type(found).__name__}"
        )
    return found


class _Kit:
    """What is added to a run that examines a function."""

    def __init__(self, function: Any, given: str) -> None:
        self.function, self.given = function, given

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Collect the checks after everything else."""
        report = yield
        if isinstance(collector, pytest.Session) and report.passed:
            checks: Any = _Checks.from_parent(
                collector, name=NAME, nodeid=NAME
            )
            checks.kit = self
            report.result.append(checks)
        return report

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        """Say in a line each what was found, and what was not offered."""
        # The workers of a run in parallel had it, too.
        from companion.conformance.kit import KIT

        asked = {f"{NAME}::{check.name}": check for check in KIT}
        terminalreporter.section(f"attention: {self.given}")
        for verdict in ("passed", "skipped", "failed"):
            for report in terminalreporter.getreports(verdict):
                if (check := asked.get(report.nodeid)) is None:
                    continue
                if verdict == "failed":
                    said = f"{report.longrepr}".partition("\n")[0]
                    line = f"{said} See {check.exhibit!r}, {check.page}"
                elif verdict == "skipped":
                    line = report.longrepr[2].removeprefix("Skipped: ")
                else:
                    line = check.asks
                terminalreporter.line(f"{verdict:7}  {check.name:14}  {line}")


class _Checks(pytest.Collector):
    kit: _Kit

    def collect(self) -> Iterator[pytest.Item]:
        from companion.conformance.kit import KIT
        from companion.conformance.signature import subject

        option = self.config.getoption
        examined = subject(
            self.kit.function,
            arrays=option("attention_arrays"),
            dtype=option("attention_dtype"),
            device=option("attention_device"),
        )
        for check in KIT:
            item: Any = _Item.from_parent(self, name=check.name)
            item.check, item.subject = check, examined
            yield item


class _Item(pytest.Item):
    check: Check
    subject: Subject

    def runtest(self) -> None:
        from companion.conformance.signature import NotOfferedError

        try:
            self.check.run(self.subject)
        except NotOfferedError as reason:
            pytest.skip(str(reason))

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> Any:
        """Return what was found, and where the book shows it; of an error its traceback, too."""
        from companion.conformance.kit import stopped

        error = excinfo.value
        asks = f"{self.check.asks} The bug museum of Attention, Measured shows this mistake as"
        where = f"{asks} {self.check.exhibit!r}: {self.check.page}"
        if isinstance(error, AssertionError):
            return f"{error}\n\n{where}"
        if isinstance(error, Exception):
            return f"{stopped(error)}\n\n{super().repr_failure(excinfo, style)}\n\n{where}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        return self.path, None, f"{NAME} {self.check.name}"
