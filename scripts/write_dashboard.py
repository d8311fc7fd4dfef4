"""Writes the Grafana dashboard of the chart from its panels: `make dashboard`."""

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, Final

from scripts.dashboard_panels import ROWS, Panel

TARGET: Final = Path(__file__).parents[1] / "charts/firebolt-operator/dashboards/firebolt.json"
_SOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}
_COLUMNS: Final = 24  # of Grafana's grid
_GRAPH: Final = (8, 8)  # width and height
_NUMBER: Final = (4, 4)


def dashboard() -> dict[str, Any]:
    return {
        "title": "Firebolt",
        "uid": "firebolt-operator",
        "description": "Engines, instances, waking and the operator itself",
        "tags": ["firebolt"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": [_sources(), _namespaces()]},
        "panels": list(_panels()),
    }


def _sources() -> dict[str, Any]:
    return {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}


def _namespaces() -> dict[str, Any]:
    return {
        "name": "namespace",
        "label": "Namespace",
        "type": "query",
        "datasource": _SOURCE,
        "query": "label_values(firebolt_engine_spec_replicas, namespace)",
        "refresh": 2,
        "includeAll": True,
        "allValue": ".*",
        "multi": True,
        "current": {"text": "All", "value": "$__all"},
    }


def _panels() -> Iterator[dict[str, Any]]:
    numbers, top = count(1), 0
    for title, panels in ROWS.items():
        yield {"id": next(numbers), "type": "row", "title": title, "gridPos": _place(0, top, _COLUMNS, 1)}
        top += 1
        width, height = _NUMBER if panels[0].is_number else _GRAPH
        beside = _COLUMNS // width
        for index, panel in enumerate(panels):
            place = _place(index % beside * width, top + index // beside * height, width, height)
            yield {"id": next(numbers), **_panel(panel), "gridPos": place}
        top += (len(panels) + beside - 1) // beside * height


def _place(x: int, y: int, width: int, height: int) -> dict[str, int]:
    return {"x": x, "y": y, "w": width, "h": height}


def _panel(panel: Panel) -> dict[str, Any]:
    targets = [
        {"refId": chr(ord("A") + number), "expr": query, "legendFormat": legend, "instant": panel.is_number}
        for number, (legend, query) in enumerate(panel.queries.items())
    ]
    return {
        "type": "stat" if panel.is_number else "timeseries",
        "title": panel.title,
        "description": panel.about,
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": None if panel.is_number else 0}, "overrides": []},
        "targets": targets,
    }


def text() -> str:
    return json.dumps(dashboard(), indent=2) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text())
