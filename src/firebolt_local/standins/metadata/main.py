"""The command line of the metadata service: `dedicated-pensieve --config <file>`."""

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from firebolt_local.standins.environment import listen_address, whole_number
from firebolt_local.standins.health_messages import ServingStatus
from firebolt_local.standins.log_lines import start_logging
from firebolt_local.standins.metadata.config import PensieveLite, load_config
from firebolt_local.standins.metadata.health_server import HealthServer
from firebolt_local.standins.metadata.store import (
    Account,
    AnotherAccountError,
    CredentialFiles,
    Store,
    UnavailableError,
)
from firebolt_local.standins.releases import Release, release_of
from firebolt_local.standins.strict_files import EXIT_CONFIG, ConfigError

EXIT_ANOTHER_ACCOUNT: Final = 1
LOOK_EVERY_SECONDS: Final = 1.0

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="dedicated-pensieve", description="A stand-in for Firebolt's metadata service."
    )
    parser.add_argument("--config", type=Path, required=True)
    try:
        release = release_of(os.environ)
        config = load_config(parser.parse_args(argv).config, release)
        credentials = CredentialFiles.named_by(os.environ)
    except (ConfigError, KeyError) as err:
        print(f"dedicated-pensieve: configuration refused: {err}", file=sys.stderr)
        return EXIT_CONFIG
    start_logging(as_json=True)
    log.info("stand-in for the metadata image, account %s", config.default_account_id)
    account = Account(config.default_account_id, is_exact=release is not Release.NEW)
    store = Store(config.metadata_storage.postgresql, credentials, account)
    return asyncio.run(serve(config, store))


async def serve(config: PensieveLite, store: Store) -> int:
    """Until SIGTERM; answers the exit code."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    health = HealthServer()
    await health.start(listen_address(config.host), whole_number("STANDIN_METADATA_PORT", config.port))
    try:
        while not stop.is_set():
            await _look(store, health)
            await _pause(stop)
    except AnotherAccountError as err:
        log.error("refusing to start: %s", err)  # noqa: TRY400 - a stack trace says nothing to the reader
        return EXIT_ANOTHER_ACCOUNT
    finally:
        health.change(ServingStatus.NOT_SERVING)
        await health.stop()
        store.close()
    return 0


async def _look(store: Store, health: HealthServer) -> None:
    try:
        await asyncio.to_thread(store.check)
    except UnavailableError as err:
        log.warning("database does not answer: %s", err)
        health.change(ServingStatus.NOT_SERVING)
    else:
        health.change(ServingStatus.SERVING)


async def _pause(stop: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(LOOK_EVERY_SECONDS):
            await stop.wait()
    except TimeoutError:
        return
