"""`python -m firebolt_local` is `firebolt-local`."""

import sys


def main() -> int:
    try:
        from firebolt_local.main import main as run  # noqa: PLC0415 - what it needs may not be installed
    except ModuleNotFoundError as err:
        if err.name != "tomli_w":
            raise
        sys.exit(f"firebolt-local: {err.name} is not installed; run pip install 'firebolt-operator[local]'")
    return run()


if __name__ == "__main__":
    sys.exit(main())
