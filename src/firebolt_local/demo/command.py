"""Which demo can this machine show, and what is left of it to remove?"""

import os

from firebolt_local import commands
from firebolt_local.cluster.folder import known_clusters
from firebolt_local.demo import real, simulated, words
from firebolt_local.node.packages import missing_packages
from firebolt_local.programs.provision import cache_folder


def run(*, simulated_pods: bool = False) -> None:
    if simulated_pods:
        simulated.run()
        return
    if os.geteuid() != 0:
        print(words.needs_root(missing_packages()), flush=True)
        simulated.run()
        return
    real.run()


def clean() -> None:
    """Everything that a demo left, except what the next one would build again."""
    for name in (real.NAME, simulated.NAME):
        if name in known_clusters():
            commands.down(name, None)
    for path in (real.PAGE, real.RECORDING):
        path.unlink(missing_ok=True)
    print(
        f"nothing of the demo is left; built programs and images are kept in {cache_folder()}: remove it to free space"
    )
