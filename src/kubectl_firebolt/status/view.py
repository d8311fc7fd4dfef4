"""How does a rollout look on a terminal, and as a line of a log?"""

from typing import Final

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from kubectl_firebolt.names import EnginePhase
from kubectl_firebolt.status.decide.rollout import Arrival, Generation, PodLine, Role, Rollout

_PHASES: Final = (EnginePhase.CREATING, EnginePhase.SWITCHING, EnginePhase.DRAINING, EnginePhase.CLEANING)
_ARRIVED: Final = (EnginePhase.STABLE, EnginePhase.STOPPED)
_STYLES: Final = {
    Arrival.ARRIVED: "bold green",
    Arrival.ON_THE_WAY: "bold yellow",
    Arrival.STUCK: "bold red",
    Arrival.GONE: "bold red",
}
_ROLES: Final = {Role.SERVING: "green", Role.STARTING: "yellow", Role.DRAINING: "magenta", Role.LEAVING: "dim"}
_BAR: Final = 20


def view(shown: Rollout) -> RenderableType:
    title = Text.assemble((shown.name, "bold"), "  ", (shown.state, _STYLES[shown.arrival]))
    parts: list[RenderableType] = [title]
    if shown.message:
        parts.append(Text(shown.message))
    parts += [Text(), _phases(shown.phase), Text(), _generations(shown)]
    if shown.pods:
        parts += [Text(), _pods(shown)]
    if shown.next_step:
        parts += [Text(), Text.assemble(("next: ", "bold"), shown.next_step)]
    return Group(*parts)


def line(shown: Rollout) -> str:
    """The same for a log, where nothing can be drawn over."""
    generations = ", ".join(f"g{each.number} {each.role} {each.ready}/{each.wanted}" for each in shown.generations)
    return "  ".join(part for part in (f"{shown.phase or 'new':<9}", generations, shown.message or shown.state) if part)


def _phases(phase: str) -> Text:
    last = phase if phase in _ARRIVED else EnginePhase.STABLE
    steps = [*_PHASES, last]
    now = steps.index(EnginePhase(phase)) if phase in steps else -1
    words = Text()
    for index, step in enumerate(steps):
        is_done = index < now or (index == now and phase in _ARRIVED)
        mark, style = ("✓", "green") if is_done else ("●", "bold yellow") if index == now else ("○", "dim")
        words.append(f"{mark} {step}", style=style)
        words.append("" if index == len(steps) - 1 else " ── ", style="dim")
    return words


def _table(*titles: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 3, 0, 0))
    for title in titles:
        table.add_column(title, overflow="fold")
    return table


def _generations(shown: Rollout) -> Table:
    table = _table("GENERATION", "ROLE", "READY", "", "IMAGE")
    for each in shown.generations:
        table.add_row(f"g{each.number}", Text(each.role, style=_ROLES[each.role]), _count(each), _bar(each), each.image)
    return table


def _count(generation: Generation) -> str:
    return f"{generation.ready}/{generation.wanted}"


def _bar(generation: Generation) -> ProgressBar:
    total = generation.wanted or 1
    completed = generation.ready if generation.wanted else total
    return ProgressBar(total=total, completed=completed, width=_BAR, complete_style=_ROLES[generation.role])


def _pods(shown: Rollout) -> Table:
    table = _table("POD", "STATE", "AGE")
    for pod in shown.pods:
        table.add_row(pod.name, Text(pod.state, style=_pod_style(pod)), pod.age)
    return table


def _pod_style(pod: PodLine) -> str:
    if pod.is_ready:
        return "green"
    return "dim" if pod.state == "ending" else "yellow"
