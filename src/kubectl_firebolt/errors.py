"""What is told to people as one sentence, with exit code 1."""


class PluginError(Exception):
    """The text is the whole message: what is wrong, and what to do about it."""


class KubectlError(PluginError):
    """kubectl did not do what it was asked for; `complaint` is what it said."""

    def __init__(self, message: str, complaint: str = "") -> None:
        super().__init__(f"{message}\n{complaint}" if complaint else message)
        self.complaint = complaint
