"""The conformance kit under pytest: `pytest --attention my_module:my_attention`.

Without the option it adds nothing to a run, and loads neither NumPy nor any other part of the
package. Each check is a test of its own, so `-k sinks`, `-x` and `--collect-only` work as ever.
"""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Generator, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from companion.conformance.kit import Check
    from companion.conformance.signature import Subject

NAME, NOTE, REFUSED = "attention", "attention_note", "refused: "


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
    group.addoption(
        "--attention-names",
        action="append",
        default=[],
        metavar="THEIRS=OURS",
        help="what arguments mean, as in mask=attn_mask,causal=is_causal; many are guessed",
    )
    group.addoption(
        "--attention-layout",
        choices=("bhnd", "bnhd"),
        default="bhnd",
        help="axes of query, key, value and output: heads before positions (default), or after",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Take part in the run if a function is given."""
    given = config.getoption("attention")
    if given is None:
        return
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args.clear()
    kit = _Kit(_subject(_found(given, config), config), given)
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
    except (Exception, SystemExit) as error:
        raise pytest.UsageError(
            f"--attention {given}: cannot import {module}\n{_in_a_line(error)}"
        ) from error
    try:
        for name in path.split("."):
            found = getattr(found, name)
    except AttributeError as error:
        raise pytest.UsageError(f"--attention {given}: {error}") from error
    if not callable(found):
        raise pytest.UsageError(
            f"--attention {given}: got a {type(found).__name__}"
        )
    return found


def _in_a_line(error: BaseException) -> str:
    """Say what stopped an import, and where."""
    told = str(getattr(error, "msg", error)).partition("\n")[0]
    last: Any = traceback.extract_tb(error.__traceback__)[-1]
    place = error if isinstance(error, SyntaxError) else last
    at = f" ({place.filename}, line {place.lineno})"
    own = "importlib" in str(place.filename)
    return f"{type(error).__name__}: {told}{'' if own else at}"


def _subject(function: Any, config: pytest.Config) -> Subject:
    from companion.conformance.signature import subject

    option = config.getoption
    pairs = [
        pair.partition("=")
        for given in option("attention_names")
        for pair in given.split(",")
    ]
    try:
        return subject(
            function,
            arrays=option("attention_arrays"),
            dtype=option("attention_dtype"),
            device=option("attention_device"),
            names={theirs: ours for theirs, _, ours in pairs},
            layout=option("attention_layout"),
        )
    except (TypeError, ValueError) as error:
        raise pytest.UsageError(f"--attention: {error}") from error


class _Kit:
    """What is added to a run that examines a function."""

    def __init__(self, examined: Subject, given: str) -> None:
        self.examined, self.given = examined, given

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

    def _reports(
        self, terminal: pytest.TerminalReporter
    ) -> Iterator[tuple[str, Check, Any]]:
        """Yield verdict, check and report; the workers of a run in parallel had them, too."""
        from companion.conformance.kit import KIT

        asked = {f"{NAME}::{check.name}": check for check in KIT}
        for verdict in ("passed", "skipped", "failed"):
            for report in terminal.getreports(verdict):
                if check := asked.get(report.nodeid):
                    yield verdict, check, report

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        """Say in a line each what was found, and at last what was not tried."""
        terminal, names = terminalreporter, dict[str, list[str]]()
        terminal.section(f"attention: {self.given}")
        for verdict, check, report in self._reports(terminal):
            if verdict == "failed":
                said = f"{report.longrepr}".partition("\n")[0]
                line = f"{said} See {check.exhibit!r}, {check.page}"
            elif verdict == "skipped":
                line = report.longrepr[2].removeprefix("Skipped: ")
                if line.startswith(REFUSED):
                    verdict, line = "refused", line.removeprefix(REFUSED)
            else:
                note = dict(report.user_properties).get(NOTE, "")
                line = check.asks + (note and f" ({note})")
            terminal.line(f"{verdict:7}  {check.name:14}  {line}")
            names.setdefault(verdict, []).append(check.name)
        counted = ", ".join(f"{len(of)} {verdict}" for verdict, of in names.items())  # fmt: skip
        untried = [*names.get("skipped", []), *names.get("refused", [])]
        told = f"{counted}. Not tried: {', '.join(untried) or 'nothing'}."
        if unknown := self.examined.unknown:
            told += (
                f" Not understood: its {', '.join(f'`{name}`' for name in unknown)}; "
                f"say --attention-names {unknown[0]}=attn_mask or the like, if it is one of these."
            )
        terminal.line(told, yellow=bool(untried))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Warn where more than half was not tried, and fail unless there was nothing to try."""
        terminal = session.config.pluginmanager.get_plugin("terminalreporter")
        if terminal is None:
            return
        seen = list(self._reports(terminal))
        skipped = [
            report for verdict, _, report in seen if verdict == "skipped"
        ]
        if 2 * len(skipped) <= len(seen):
            return
        warnings.warn(
            pytest.PytestWarning(
                f"{len(skipped)} of {len(seen)} checks of attention were not tried"
            ),
            stacklevel=1,
        )
        refused = any(REFUSED in report.longrepr[2] for report in skipped)
        open_ended = refused or self.examined.unknown or self.examined.is_open
        if open_ended and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


class _Checks(pytest.Collector):
    kit: _Kit

    def collect(self) -> Iterator[pytest.Item]:
        from companion.conformance.kit import KIT

        for check in KIT:
            item: Any = _Item.from_parent(self, name=check.name)
            item.check, item.subject = check, self.kit.examined
            yield item


class _Item(pytest.Item):
    check: Check
    subject: Subject

    def runtest(self) -> None:
        from companion.conformance.kit import find

        found = find(self.check, self.subject)
        self.user_properties.append((NOTE, found.says))
        if found.verdict == "failed":
            raise AssertionError(found.says)
        if found.verdict != "passed":
            refused = REFUSED if found.verdict == "refused" else ""
            pytest.skip(f"{refused}{found.says}")

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> Any:
        """Return what was found, and where the book shows it."""
        if not isinstance(excinfo.value, AssertionError):
            return super().repr_failure(excinfo, style)
        return (
            f"{excinfo.value}\n\n{self.check.asks} The bug museum of Attention, Measured shows "
            f"such a mistake as {self.check.exhibit!r}: {self.check.page}"
        )

    def reportinfo(self) -> tuple[Any, int | None, str]:
        return self.path, None, f"{NAME} {self.check.name}"
