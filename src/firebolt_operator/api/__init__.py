"""Our kinds as frozen models, every name that appears on the wire, and the CRDs that follow from them. Pure."""
