"""`python -m kubectl_firebolt` is `kubectl firebolt`."""

from kubectl_firebolt.main import main

main()
