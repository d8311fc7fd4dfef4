"""`firebolt-local`: a real local Kubernetes without Docker or a registry. Flags, exit codes and signals; nothing else.

Exit codes: 0 done, 1 could not be done (one sentence says why and what to do), 2 wrong usage.
"""

import argparse
import errno
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from firebolt_local import commands
from firebolt_local.campaign import command as campaign
from firebolt_local.cluster.folder import DEFAULT_NAME, Kind
from firebolt_local.demo import command as demo
from firebolt_local.errors import LocalError
from firebolt_local.images.catalogue import build_all, build_operator
from firebolt_local.images.operator_image import REFERENCE
from firebolt_local.images.platforms import PLATFORMS, native
from firebolt_local.node import commands as node_commands
from firebolt_local.node.cluster import NodesRequest
from firebolt_local.programs import provision
from firebolt_local.programs.recipes import RECIPES

_INTERRUPTED = 130
_MOST_NODES = 9


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command == "up" and (problem := _contradiction(options)):
        parser.error(problem)
    # A polite request to end must not leave half a cluster behind.
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return _run(options)
    except LocalError as err:
        return _fail(str(err))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return _INTERRUPTED
    except OSError as err:
        if err.errno not in _ADVICE:
            raise
        return _fail(f"{err.strerror}: {err.filename or 'the disk'}; {_ADVICE[err.errno]}")


_ADVICE = {
    errno.ENOSPC: "free some space there, or choose another --folder",
    errno.EDQUOT: "free some space there, or choose another --folder",
    errno.EFBIG: "raise the file size limit (ulimit -f)",
    errno.EACCES: "choose a folder that you may write to",
    errno.EPERM: "choose a folder that you may write to",
    errno.EROFS: "choose a folder that you may write to",
}


def _contradiction(options: argparse.Namespace) -> str | None:
    if (options.simulated_pods or options.port) and not options.control_plane:
        # On nodes that are not ours, simulated pods would take over every one of them.
        return "--simulated-pods and --port go with --control-plane only"
    if (options.nodes != 1 or options.yes) and (options.control_plane or options.existing):
        return (
            "--nodes and --yes are for a cluster with containers: they go with neither --control-plane nor --existing"
        )
    return None


def _run(options: argparse.Namespace) -> int:
    match options.command:
        case "up" if not (options.control_plane or options.existing):
            node_commands.up_nodes(
                NodesRequest(name=options.name, folder=options.folder, nodes=options.nodes, assume_yes=options.yes)
            )
        case "up":
            kind = Kind.EXISTING if options.existing else Kind.CONTROL_PLANE
            request = commands.UpRequest(
                name=options.name,
                folder=options.folder,
                kind=kind,
                simulated_pods=options.simulated_pods,
                port=options.port,
            )
            commands.up(request)
        case "down":
            commands.down(options.name, options.folder)
        case "status" | "campaign":
            return _judged(options)
        case "build" | "images":
            _build(options)
        case "demo":
            _demo(options)
        case "load-image":
            node_commands.load_image(options.name, options.folder, options.archives)
        case "shell":
            node_commands.shell(options.name, options.folder, options.node, options.words)
        case "kubeconfig":
            commands.kubeconfig(options.name, options.folder)
        case _:
            commands.logs(options.name, options.folder, options.program, follow=options.follow)
    return 0


def _judged(options: argparse.Namespace) -> int:
    if options.command == "campaign":
        return campaign.run(options)
    return 0 if commands.status(options.name, options.folder) else 1


def _demo(options: argparse.Namespace) -> None:
    page = options.page.absolute()
    if options.clean:
        demo.clean(page)
    else:
        demo.run(page, simulated_pods=options.simulated, is_secure=options.secure)


def _build(options: argparse.Namespace) -> None:
    if options.command == "build":
        provision.provide(options.programs or provision.ALL)
    elif options.action == "operator":
        build_operator(options.into, options.architectures or [native().architecture], options.reference, say=_say)
    else:
        build_all(options.into, say=_say)


def _say(text: str, end: str) -> None:
    print(text, end=end, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="firebolt-local", description="A real Kubernetes on this machine.")
    verbs = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    up = _command(verbs, "up", "start a cluster, or say that it is up")
    up.description = "Start a cluster with real containers (needs root), or one of the lesser kinds below."
    kind = up.add_mutually_exclusive_group()
    kind.add_argument("--control-plane", action="store_true", help="API server, controllers and scheduler; no node")
    kind.add_argument("--existing", action="store_true", help="use the cluster of KUBECONFIG; start nothing")
    up.add_argument(
        "--simulated-pods", action="store_true", help="with --control-plane: pods run, as far as the API tells"
    )
    up.add_argument("--port", type=int, help="with --control-plane: port on 127.0.0.1 (default: any free one)")
    up.add_argument("--nodes", type=_count, default=1, help=f"how many nodes with containers, up to {_MOST_NODES}")
    up.add_argument("--yes", action="store_true", help="install missing system packages without asking")

    build = verbs.add_parser("build", help="build the programs that clusters are made of, once")
    build.add_argument(
        "programs", nargs="*", type=_program, help=f"only these (default: all: {', '.join(provision.ALL)})"
    )
    images = verbs.add_parser("images", help="build images, without a registry and without a container builder")
    images.add_argument(
        "action", choices=["build", "operator"], help="all that the demo runs, or the operator's for a registry"
    )
    images.add_argument("--reference", default=REFERENCE, help="operator: its name and tag (default: %(default)s)")
    images.add_argument(
        "--architectures",
        nargs="+",
        choices=sorted(PLATFORMS),
        help="operator: the machines that it is for (default: such as this one)",
    )
    images.add_argument("--into", type=Path, default=provision.cache_folder() / "images", help="folder of the archives")
    show = verbs.add_parser("demo", help="the operator at work, as a pod on a real node; simulated pods without root")
    which = show.add_mutually_exclusive_group()
    which.add_argument("--simulated", action="store_true", help="with simulated pods, which need no root")
    which.add_argument("--secure", action="store_true", help="the same through TLS with a login; needs root")
    which.add_argument("--clean", action="store_true", help="remove what demos have left")
    show.add_argument(
        "--page", type=Path, default=demo.default_page(), help="where the picture goes (default: %(default)s)"
    )
    campaign.add_parser(verbs)
    _command(verbs, "down", "end a cluster and remove everything it left")
    _command(verbs, "status", "say how a cluster is (default: all of them)", default_name=None)
    _command(verbs, "kubeconfig", "print the path of the administrator's kubeconfig")
    load = _command(verbs, "load-image", "make images known to the nodes of a cluster")
    load.add_argument("archives", nargs="+", type=Path, metavar="FILE", help="an OCI archive")
    shell = _command(verbs, "shell", "open a shell inside a node, or run one command there")
    shell.add_argument("--node", type=int, default=1, help="which node (default: 1, where the control plane runs)")
    shell.add_argument("words", nargs="*", metavar="COMMAND", help="after --, what to run instead of a shell")
    logs = _command(verbs, "logs", "print what the programs of a cluster say")
    logs.add_argument("program", nargs="?", help="one program, all of it (default: the last lines of each)")
    logs.add_argument("-f", "--follow", action="store_true", help="go on printing")
    return parser


def _command(
    verbs: "argparse._SubParsersAction[argparse.ArgumentParser]",
    verb: str,
    purpose: str,
    default_name: str | None = DEFAULT_NAME,
) -> argparse.ArgumentParser:
    command = verbs.add_parser(verb, help=purpose, description=purpose)
    command.add_argument("--name", default=default_name, type=_name, help="several clusters live side by side by name")
    command.add_argument("--folder", type=Path, help="where the cluster keeps its things (default: the state folder)")
    return command


def _name(text: str) -> str:
    if not text.replace("-", "").isalnum() or text.startswith("-") or not text.isascii():
        raise argparse.ArgumentTypeError(f"{text!r} is no name; use letters, digits and dashes")
    return text


def _count(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= _MOST_NODES:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of nodes; use 1 to {_MOST_NODES}")
    return int(text)


def _program(text: str) -> str:
    if text not in RECIPES:
        raise argparse.ArgumentTypeError(f"there is no program {text!r}; there are {', '.join(RECIPES)}")
    return text


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _fail(sentence: str) -> int:
    print(f"firebolt-local: {sentence}", file=sys.stderr)
    return 1
