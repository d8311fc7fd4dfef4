"""One executable: `run` (the manager, also without a sub-command), `wake-agent`, `crds`, `version`."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence

from firebolt_operator.api.crds import crd_documents
from firebolt_operator.errors import ConfigurationError
from firebolt_operator.flags import HelpRequested, UsageError, parse_flags, usage
from firebolt_operator.observability.logs import configure_logging
from firebolt_operator.settings import FLAGS, Settings, parse_settings
from firebolt_operator.version import current_version

PROGRAM = "firebolt-operator"
COMMANDS = "Commands: run (default), wake-agent, crds, version"


def main() -> None:
    sys.exit(dispatch(sys.argv[1:], os.environ))


def dispatch(words: Sequence[str], environment: Mapping[str, str]) -> int:
    """The exit code. The command is the first word; anything that starts with a dash belongs to `run`."""
    command, rest = (words[0], words[1:]) if words and not words[0].startswith("-") else ("run", words)
    commands: dict[str, Callable[[], int]] = {
        "run": lambda: run(rest, environment),
        "wake-agent": lambda: run_wake_agent(rest, environment),
        "crds": lambda: without_flags("crds", rest, print_crds),
        "version": lambda: without_flags("version", rest, print_version),
    }
    if command not in commands:
        print(f"unknown command {command!r}\n{COMMANDS}", file=sys.stderr)
        return 2
    return commands[command]()


def without_flags(command: str, words: Sequence[str], printed: Callable[[], int]) -> int:
    try:
        parse_flags(words, (), {})
    except HelpRequested:
        print(f"Usage: {PROGRAM} {command}")
        return 0
    except UsageError as err:
        print(f"{err}\nUsage: {PROGRAM} {command}", file=sys.stderr)
        return 2
    return printed()


def print_crds() -> int:
    sys.stdout.write(crd_documents())
    return 0


def print_version() -> int:
    print(current_version())
    return 0


def run(words: Sequence[str], environment: Mapping[str, str]) -> int:
    try:
        settings = parse_settings(words, environment)
    except HelpRequested:
        print(f"{usage(PROGRAM, FLAGS)}\n\n{COMMANDS}")
        return 0
    except UsageError as err:
        print(f"{err}\n{usage(PROGRAM, FLAGS)}", file=sys.stderr)
        return 2
    except ConfigurationError as err:
        print(err, file=sys.stderr)
        return 1
    if settings.show_version:
        return print_version()
    return run_manager(settings, environment)


def run_wake_agent(words: Sequence[str], environment: Mapping[str, str]) -> int:
    from firebolt_operator.wake.command import run_agent  # noqa: PLC0415 - the manager needs none of it

    return run_agent(words, environment)


def run_manager(settings: Settings, environment: Mapping[str, str]) -> int:
    from firebolt_operator.runtime.process import run_process  # noqa: PLC0415 - `crds` needs none of all this
    from firebolt_operator.wiring.operate import operate  # noqa: PLC0415

    configure_logging(settings.logs)
    return run_process(lambda stop: operate(settings, environment, stop))


if __name__ == "__main__":
    main()
