"""Which demo can this machine show, and what is left of it to remove?"""

import os
from pathlib import Path

from firebolt_local import commands
from firebolt_local.cluster.folder import known_clusters, state_folder
from firebolt_local.demo import real, simulated, words
from firebolt_local.node.packages import missing_packages
from firebolt_local.programs.provision import cache_folder


def default_page() -> Path:
    return state_folder() / "demo.html"


def run(page: Path, *, simulated_pods: bool = False, is_secure: bool = False) -> None:
    typed = words.commands(os.environ)
    if simulated_pods:
        simulated.run(typed)
        return
    if os.geteuid() != 0:
        print(words.needs_root(missing_packages(), typed), flush=True)
        simulated.run(typed)
        return
    real.run(page, typed, is_secure=is_secure)


def clean(page: Path) -> None:
    """Everything that a demo left, except what the next one would build again."""
    for name in (real.NAME, simulated.NAME):
        if name in known_clusters():
            commands.down(name, None)
    for path in (page, real.recording_beside(page)):
        path.unlink(missing_ok=True)
    print(
        f"nothing of the demo is left; built programs and images are kept in {cache_folder()}: remove it to free space"
    )
