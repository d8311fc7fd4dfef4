import sys

from firebolt_local.standins.engine.main import main

sys.exit(main())
