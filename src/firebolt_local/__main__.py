"""`python -m firebolt_local` is `firebolt-local`."""

import sys

from firebolt_local.main import main

sys.exit(main())
