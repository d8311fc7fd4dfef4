"""Which layers of Debian do our images stand on? The C library, a shell, Python and PostgreSQL, each once for all."""

from typing import Final

from firebolt_local.images.debian import Packages, old_folders
from firebolt_local.images.layers import Layer, LayerStore, LayerWriter
from firebolt_local.images.platforms import Platform

_INSTALLERS: Final = (
    r"adduser|debconf|debianutils|dpkg|init-system-helpers|lsb-base|mawk|netbase|openssl|passwd|readline-common|"
    r"sensible-utils|ssl-cert|sysvinit-utils|tar|ucf|usrmerge|usr-is-merged"
)
_PERL: Final = r"(lib)?perl.*|lib.*-perl|libgdbm.*|libdb5\.3.*"
# A compiler for queries, ten times as big as the database; without it PostgreSQL interprets them, as it can anyway.
_JUST_IN_TIME: Final = r"libllvm.*|libz3-.*"
_ACCOUNTS: Final = r"libpam-.*|libsemanage.*|libsepol.*"

LIBC: Final = Packages(names=("base-files", "libc6", "libgcc-s1", "libstdc++6"), without=_INSTALLERS)
SHELL: Final = Packages(names=("bash", "coreutils"), without=_INSTALLERS)
PYTHON: Final = Packages(
    names=("python3",),
    without=_INSTALLERS,
    skip=r"usr/lib/python3[^/]*/(ensurepip|idlelib|lib2to3|pydoc_data|test|tkinter|turtledemo)(/|$)",
)
POSTGRES: Final = Packages(
    names=("postgresql", "libc-bin"),
    without=rf"{_INSTALLERS}|{_PERL}|{_JUST_IN_TIME}|{_ACCOUNTS}|locales|libc-l10n|postgresql(-client)?-common",
    skip=r"usr/lib/postgresql/[^/]+/lib/(llvmjit|bitcode)",
)


def libc_layer(store: LayerStore, on: Platform | None = None) -> Layer:
    def fill(layer: LayerWriter) -> None:
        old_folders(layer)
        layer.folder("tmp", mode=0o1777)
        layer.folder("run")
        layer.link("var/run", "/run")
        LIBC.unpack(layer, on=on)

    return store.layer(LIBC.key(on), fill)


def shell_layer(store: LayerStore) -> Layer:
    def fill(layer: LayerWriter) -> None:
        SHELL.unpack(layer, beyond=LIBC.needed())
        layer.link("usr/bin/sh", "bash")  # what a script of the package would choose; initdb runs its helpers with it

    return store.layer((*SHELL.key(), *LIBC.key()), fill)


def layer_above_libc(store: LayerStore, packages: Packages, on: Platform | None = None) -> Layer:
    def fill(layer: LayerWriter) -> None:
        packages.unpack(layer, beyond=LIBC.needed(on), on=on)

    return store.layer((*packages.key(on), *LIBC.key(on)), fill)
