"""What controllers say to an object that nobody judged before: empty, or what keeps it from being used as it is."""

from typing import Final

from firebolt_operator.api.engine import EngineSpec
from firebolt_operator.api.engine_class import EngineClassSpec, FireboltEngineClass
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.engine.decide.gates import judge_template
from firebolt_operator.engine.decide.spec_problems import spec_problems
from firebolt_operator.engine.inputs import ClassInfo, InstanceInfo
from firebolt_operator.engineclass.decide.status import decide_status
from firebolt_operator.instance.decide.credentials import external_credentials_problem
from firebolt_operator.instance.facts import SecretMissing
from firebolt_operator.instance.render.metadata_config import config_problem
from firebolt_operator.policy.auth_checks import check_auth
from firebolt_operator.policy.field_errors import aggregate
from firebolt_operator.policy.instance_checks import rejected_component
from firebolt_operator.policy.secret_references import ours
from firebolt_operator.policy.tls_checks import check_tls
from tests.fuzz.targets import templates
from tests.fuzz.targets.words import NOW

NO_INSTANCE: Final = InstanceInfo(id="", metadata_endpoint="")
OPERATOR: Final = "apps/operator"


def told_of_engine(spec: EngineSpec, inherited: EngineClassSpec) -> str:
    """What is wrong with its class is told to the class, but for what an engine's instance makes of it."""
    known = ClassInfo(name="shared", spec=inherited) if spec.engine_class_ref else None
    judged = judge_template(spec, known, NO_INSTANCE, templates.BOUNDS)
    own = spec_problems(spec, None, templates.BOUNDS)
    refused = judged.refused.ready.message if judged.refused else ""
    dropped = [str(error) for error in judged.dropped if error.path.text.startswith("spec.template.")]
    return "; ".join([*filter(None, (refused, own.message if own else "")), *dropped])


def told_of_class(engine_class: FireboltEngineClass) -> str:
    status = decide_status(engine_class, 0, bounds=templates.BOUNDS, now=NOW)
    bad = [each for each in status.conditions if each.type == "Stalled" or not each.is_true]
    return "; ".join(each.message for each in bad)


def told_of_instance(instance: FireboltInstance) -> str:
    rejected, auth = rejected_component(instance, OPERATOR), instance.spec.auth
    found = [
        *(map(str, rejected.errors) if rejected else ()),
        aggregate(check_tls(instance)),
        aggregate(check_auth(auth, ours(instance))) if auth is not None and auth.enabled else "",
        config_problem(instance) or "",
        _login_problem(instance),
    ]
    return "; ".join(filter(None, found))


def _login_problem(instance: FireboltInstance) -> str:
    postgres = instance.spec.metadata.postgres
    if postgres is None or postgres.credentials_secret_ref.name:
        return ""
    return external_credentials_problem(instance, SecretMissing()) or ""
