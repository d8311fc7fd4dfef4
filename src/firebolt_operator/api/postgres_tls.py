"""How the metadata service makes sure that it talks to the right PostgreSQL server."""

from typing import Annotated, Literal

from firebolt_operator.api.model import Model, note, rule

CA_RULES = [
    rule("self.name != ''", "caSecretRef.name must be set"),
    rule("self.key != ''", "caSecretRef.key must be set"),
    rule("!has(self.optional) || !self.optional", "caSecretRef.optional cannot be true"),
]


class AuthoritySelector(Model, frozen=True, kw_only=True):
    name: Annotated[str, note("Name of the Secret.", default="", maxLength=253)] = ""
    key: Annotated[str, note("Key inside the Secret.", maxLength=253)]
    optional: Annotated[bool | None, note("Cannot be true: without the certificate nothing can be verified.")] = None


class PostgresTLSSpec(Model, frozen=True, kw_only=True):
    mode: Annotated[
        Literal["verify-full"],
        note("The server's certificate must be of the authority below, and for its host name.", default="verify-full"),
    ] = "verify-full"
    ca_secret_ref: Annotated[
        AuthoritySelector,
        note(
            "Secret of this namespace, and its key, with the certificate of the authority in PEM.",
            **{"x-kubernetes-map-type": "atomic", "x-kubernetes-validations": CA_RULES},
        ),
    ]
