"""One FireboltEngineClass: whether it is fit for use, which engines are bound to it, and whether it may go."""
