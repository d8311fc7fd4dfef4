"""The command line of an engine: `firebolt server --node <index> --data-dir <folder>`."""

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from firebolt_local.standins.engine.activity import Activity
from firebolt_local.standins.engine.config import CONFIG_FILE, load_config
from firebolt_local.standins.engine.security import load_security
from firebolt_local.standins.engine.server import serve
from firebolt_local.standins.log_lines import start_logging
from firebolt_local.standins.releases import Release, release_of
from firebolt_local.standins.strict_files import EXIT_CONFIG, ConfigError

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    data_dir: Path = arguments.data_dir
    try:
        release = release_of(os.environ)
        config = load_config(data_dir / CONFIG_FILE, node=arguments.node, release=release)
        security = load_security(config)
    except ConfigError as err:
        print(f"firebolt: configuration refused: {err}", file=sys.stderr)
        return EXIT_CONFIG
    start_logging(as_json=config.logging.format == "json", level=config.logging.level)
    log.info("stand-in for the engine image, node %d of engine %s", arguments.node, config.engine.id)
    activity = Activity(tells_idle_time=release is Release.NEW)
    return asyncio.run(serve(config, security, data_dir, activity))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="firebolt", description="A stand-in for Firebolt's engine.")
    server = parser.add_subparsers(required=True).add_parser("server")
    server.add_argument("--node", type=int, required=True)
    server.add_argument("--data-dir", type=Path, required=True)
    return parser
