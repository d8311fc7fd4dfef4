"""How does a stand-in log? One line per event on standard output, as JSON unless asked for text."""

import json
import logging
import sys
from typing import Final

_TEXT: Final = "%(asctime)s %(levelname)s %(message)s"


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {"time": self.formatTime(record), "level": record.levelname.lower(), "message": record.getMessage()}
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line)


def start_logging(*, as_json: bool, level: str = "info") -> None:
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JsonLines() if as_json else logging.Formatter(_TEXT))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
