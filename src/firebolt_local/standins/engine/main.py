"""The command line of an engine: `firebolt server --node <index> --data-dir <folder>`."""

import argparse
import asyncio
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from firebolt_local.standins.engine.config import CONFIG_FILE, load_config
from firebolt_local.standins.engine.security import load_security
from firebolt_local.standins.engine.server import serve
from firebolt_local.standins.log_lines import start_logging
from firebolt_local.standins.strict_files import EXIT_CONFIG, ConfigError

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    data_dir: Path = arguments.data_dir
    try:
        config = load_config(data_dir / CONFIG_FILE, node=arguments.node)
        security = load_security(config)
    except ConfigError as err:
        print(f"firebolt: configuration refused: {err}", file=sys.stderr)
        return EXIT_CONFIG
    start_logging(as_json=config.logging.format == "json", level=config.logging.level)
    log.info("stand-in for the engine image, node %d of engine %s", arguments.node, config.engine.id)
    return asyncio.run(serve(config, security, data_dir))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="firebolt", description="A stand-in for Firebolt's engine.")
    server = parser.add_subparsers(required=True).add_parser("server")
    server.add_argument("--node", type=int, required=True)
    server.add_argument("--data-dir", type=Path, required=True)
    return parser
