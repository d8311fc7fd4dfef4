import sys

from firebolt_local.standins.metadata.main import main

sys.exit(main())
