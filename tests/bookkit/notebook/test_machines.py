"""A claim about times: what several machines say together, and one alone."""

from dataclasses import replace

from bookkit.notebook.machines import Timings, timings


def test_machines_have_to_agree_and_one_alone_decides_nothing() -> None:
    found = timings("cost/fused_crosses_early")
    (intel, one), (amd, other), _ = found.rows
    assert found.verdict == "undecided"  # the Xeon's rounds do not tell
    assert "Intel Xeon Processor, 22 November 2026, 5 rounds: 1.0" in repr(found)
    sure = replace(one, interval=(0.8, 0.9)), replace(other, interval=(0.8, 0.9))
    assert Timings(((intel, sure[0]), (amd, sure[1]))).verdict == "holds"
    assert Timings(((amd, sure[0]), (amd, sure[1]))).verdict == "no verdict"
    assert "<br>AMD EPYC, 27 November 2026" in found._repr_html_()
