"""Who keeps a node's namespaces open? This process, which makes them its own and then sleeps.

No name, no mount on the host: when the last process of a node has ended, its network, its mounts and the host's end of
the way into it are gone, however they ended. Run as `python -m firebolt_local.node.holder FOLDER`, in new namespaces.
"""

import os
import sys
from pathlib import Path

from firebolt_local.node.namespaces import make_own

READY_FILE = "namespaces.ready"
# What the host unmounts goes here too, or we would keep its disks busy; what is mounted here stays here.
NEW_NAMESPACES = ("unshare", "--net", "--mount", "--propagation", "slave", "--")


def main(folder: Path) -> None:
    make_own(folder)
    (folder / READY_FILE).touch()
    os.execvp("sleep", ["sleep", "infinity"])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
