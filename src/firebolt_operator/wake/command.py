"""`firebolt-operator wake-agent`: from words and environment to an exit code."""

import asyncio
import logging
import sys
from collections.abc import Mapping, Sequence
from typing import Final

from firebolt_operator.errors import ConfigurationError
from firebolt_operator.flags import HelpRequested, UsageError, usage
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.observability.logs import configure_logging
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.runtime.process import run_process
from firebolt_operator.wake.agent import running_agent
from firebolt_operator.wake.routing import has_address
from firebolt_operator.wake.settings import FLAGS, AgentSettings, parse_agent_settings

PROGRAM: Final = "firebolt-operator wake-agent"

log = logging.getLogger(__name__)


def run_agent(words: Sequence[str], environment: Mapping[str, str]) -> int:
    try:
        settings = parse_agent_settings(words, environment)
    except HelpRequested:
        sys.stdout.write(f"{usage(PROGRAM, FLAGS)}\n")
        return 0
    except UsageError as err:
        sys.stderr.write(f"{err}\n{usage(PROGRAM, FLAGS)}\n")
        return 2
    except ConfigurationError as err:
        sys.stderr.write(f"{err}\n")
        return 1
    configure_logging(settings.logs)
    # It leaves after Envoy, which may take all of the pod's time.
    stop_seconds = settings.drain_timeout.total_seconds()
    return run_process(lambda stop: _run(settings, environment, stop), stop_seconds=stop_seconds)


async def _run(settings: AgentSettings, environment: Mapping[str, str], stop: asyncio.Event) -> int:
    exit_code = 0
    try:
        credentials = load_credentials("", environment)
        async with running_agent(settings, credentials, has_address, SystemClock()) as agent:
            ports = agent.ports
            log.info(
                "holding queries",
                extra={"namespace": settings.namespace, "holdPort": ports.hold, "metricsPort": ports.metrics},
            )
            await stop.wait()
            await agent.farewell.say()
    except* ConfigurationError as group:
        log.error("cannot start", extra={"error": group.exceptions[0]})  # noqa: TRY400 - the configuration is wrong
        exit_code = 1
    return exit_code
