"""Every error we raise on purpose, typed by what happens next."""


class OperatorError(Exception):
    """Base of all deliberate errors; anything else that escapes is a bug."""


class ConfigurationError(OperatorError):
    """The process cannot start: a flag, a credential or a file is wrong. Exit and say which."""


class TransientError(OperatorError):
    """Retry with backoff: throttling, API server away, a deadline that passed."""


class ConflictError(TransientError):
    """Someone wrote the object since we read it: read again, decide again."""


class UnansweredError(TransientError):
    """A request was sent and no answer came: it may or may not have happened, so the next look must be live."""


class AnswerTooLongError(TransientError):
    """More than we take into memory: ask for less at a time."""


class FencedError(OperatorError):
    """We may no longer write: the lease is lost. The pass ends, and so does the process."""


class RejectedError(OperatorError):
    """The API server said no, and will say no again until something changes."""

    def __init__(self, message: str, *, status: int, reason: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


class NotFoundError(RejectedError):
    """The object a write was meant for does not exist (a read answers None instead)."""


class AlreadyExistsError(RejectedError):
    """A create met an object of the same name."""


class ForbiddenError(RejectedError):
    """Our credentials do not allow this: 401 or 403."""


class InvalidError(RejectedError):
    """The object breaks a schema, a rule or an admission check."""


class UnreadableError(OperatorError):
    """An object is there, but cannot be decoded: nothing is decided about it until somebody edits it."""


class ExpiredError(OperatorError):
    """A watch or a page token is too old (410): list again from the start."""


class SpecRejectedError(OperatorError):
    """Do not retry: set a condition and wait until the object is edited."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem
