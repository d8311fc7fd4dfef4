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

from firebolt_local import commands, demo, programs
from firebolt_local.clusters import DEFAULT_NAME, Kind
from firebolt_local.errors import LocalError

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command == "up" and options.existing and (options.simulated_pods or options.port):
        # Simulated pods would take over every node of a cluster that is not ours.
        parser.error("--existing starts nothing: it goes with neither --simulated-pods nor --port")
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


def _run(options: argparse.Namespace) -> int:
    match options.command:
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
        case "status":
            return 0 if commands.status(options.name, options.folder) else 1
        case "build":
            wanted = (*programs.CONTROL_PLANE, *programs.SIMULATED_PODS, "kubectl")
            programs.provide(wanted)
        case "demo":
            demo.run()
        case "kubeconfig":
            commands.kubeconfig(options.name, options.folder)
        case _:
            commands.logs(options.name, options.folder, options.program, follow=options.follow)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="firebolt-local", description="A real Kubernetes on this machine.")
    verbs = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    up = _command(verbs, "up", "start a cluster, or say that it is up")
    kind = up.add_mutually_exclusive_group(required=True)
    kind.add_argument("--control-plane", action="store_true", help="API server, controllers and scheduler; no node")
    kind.add_argument("--existing", action="store_true", help="use the cluster of KUBECONFIG; start nothing")
    up.add_argument(
        "--simulated-pods", action="store_true", help="with --control-plane: pods run, as far as the API tells"
    )
    up.add_argument("--port", type=int, help="port of the API server on 127.0.0.1 (default: any free one)")

    verbs.add_parser("build", help="build the programs that clusters are made of, once")
    verbs.add_parser("demo", help="the operator at work: a control plane, simulated pods, the examples")
    _command(verbs, "down", "end a cluster and remove everything it left")
    _command(verbs, "status", "say how a cluster is (default: all of them)", default_name=None)
    _command(verbs, "kubeconfig", "print the path of the administrator's kubeconfig")
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


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _fail(sentence: str) -> int:
    print(f"firebolt-local: {sentence}", file=sys.stderr)
    return 1
