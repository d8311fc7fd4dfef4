"""What this tool says when it refuses: one sentence that names the fix."""


class LocalError(Exception):
    """The command cannot go on; the message is for the person who typed it."""


class PortTakenError(LocalError):
    """Somebody else bound a port between our choice and our use: choose again."""
