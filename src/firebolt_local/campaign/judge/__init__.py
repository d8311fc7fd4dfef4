"""Is the end what it would have been without the fault?"""
