"""`make fuzz`: every target with 100,000 inputs, and a table of what came of it."""

import argparse
import logging
import secrets
import sys

from tests.fuzz.all_targets import TARGETS
from tests.fuzz.fuzzing import Report, fuzz, measure_growth
from tests.support.growth import STEEPEST

ROW = "{:<28} {:>8} {:>9} {:>9} {:>7} {:>9} {:>7}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make fuzz ARGS=...")
    parser.add_argument("--only", default="", help="targets whose name has this in it")
    parser.add_argument("--inputs", type=int, default=100_000, help="for each target")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6), help="repeats a run")
    return parser.parse_args()


def _row(report: Report) -> str:
    per_input = report.cpu_seconds / max(report.inputs, 1) * 1e6
    return ROW.format(
        report.target,
        report.inputs,
        len(report.outcomes),
        f"{report.accepted_share:.1%}",
        report.failed,
        f"{per_input:.1f}",
        f"{report.growth:.1f}" if report.growth is not None else "-",
    )


def _problems(report: Report) -> list[str]:
    problems = list({type(failure.error): str(failure) for failure in reversed(report.failures)}.values())
    if report.is_one_sided:
        problems.append(f"accepts {report.accepted_share:.1%}: its inputs miss half of it")
    if report.growth is not None and report.growth >= STEEPEST:
        problems.append(f"ten times the length takes {report.growth:.0f} times as long")
    return [f"{report.target}: {problem}" for problem in problems]


def main() -> int:
    arguments = _arguments()
    logging.getLogger("firebolt_operator").setLevel(logging.CRITICAL)  # hostile objects are logged, each of them
    print(f"seed {arguments.seed}")
    print(ROW.format("target", "inputs", "outcomes", "accepted", "errors", "us/input", "growth"))
    problems = list[str]()
    for target in TARGETS:
        if arguments.only in target.name:
            report = fuzz(target, arguments.inputs, seed=arguments.seed)
            measure_growth(target, report)
            print(_row(report), flush=True)
            problems += _problems(report)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
