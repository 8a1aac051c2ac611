"""Quotas of the account, at first those of a new one. A POST to /moto-api/quotas changes them: {"L-B99A9384": 1000}."""
import json

from moto.awslambda import urls as lambda_urls
from moto.moto_api._internal import urls
from moto.servicequotas.models import ServiceQuotasBackend

from shapes import client

_FUNCTIONS = "L-B99A9384"
#: Concurrent executions of functions, and vCPU of Fargate on demand and on Spot.
_quotas = {_FUNCTIONS: 10, "L-3032A538": 6, "L-36FBB829": 6}


def _set(request, full_url, headers):
    _quotas.update(json.loads(request.data))
    return 200, {"content-type": "application/json"}, json.dumps(_quotas)


def _account_settings(request, full_url, headers):
    """Lambda's settings of the account, which moto lacks."""
    functions = client("lambda").list_functions()["Functions"]
    names = [each["FunctionName"] for each in functions]
    found = [client("lambda").get_function_concurrency(FunctionName=name) for name in names]
    reserved = sum(each.get("ReservedConcurrentExecutions", 0) for each in found)
    limit = {"ConcurrentExecutions": _quotas[_FUNCTIONS], "UnreservedConcurrentExecutions": _quotas[_FUNCTIONS] - reserved}
    return 200, {"content-type": "application/json"}, json.dumps({"AccountLimit": limit})


def install() -> None:
    urls.url_paths["{0}/moto-api/quotas$"] = _set
    lambda_urls.url_paths["{0}/2016-08-19/account-settings/$"] = _account_settings
    get = ServiceQuotasBackend.get_service_quota

    def get_service_quota(self, service_code, quota_code):
        if quota_code in _quotas:
            return {"ServiceCode": service_code, "QuotaCode": quota_code, "Value": float(_quotas[quota_code])}
        return get(self, service_code, quota_code)

    ServiceQuotasBackend.get_service_quota = get_service_quota
