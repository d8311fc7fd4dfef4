import sys

from firebolt_local.standins.ui.main import main

sys.exit(main())
