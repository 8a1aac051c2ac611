"""Calls a platform with the real client of MLflow and prints what it returned as JSON, by the name of the call.

    python3 test/e2e/mlflow/client.py URL FOLDER BACKTEST
"""

import json
import os
import sys

import mlflow
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

url, folder, unregistered = sys.argv[1:]
client = MlflowClient(tracking_uri=url, registry_uri=url)
mlflow.set_tracking_uri(url)
mlflow.set_registry_uri(url)
MODEL = "ema_crossover"

reads = {}
writes = {}


def refusal(call):
    """Code and message of the error of a call."""
    try:
        call()
    except MlflowException as error:
        return [error.error_code, error.message]
    return None


def first_line(path):
    with open(path) as file:
        return file.readline().strip()


def state(version):
    return [version.version, version.current_stage, list(version.aliases)]


# Reads, in the order of the calls of section "Calls" in docs/mlflow.md.
reads["search_registered_models"] = [each.name for each in client.search_registered_models()]
reads["get_registered_model"] = client.get_registered_model(MODEL).name
reads["get_latest_versions"] = [
    [each.version, each.current_stage] for each in client.get_latest_versions(MODEL)
]
reads["get_model_version_by_alias"] = client.get_model_version_by_alias(MODEL, "latest").version
reads["search_model_versions"] = [
    [each.version, each.run_id] for each in client.search_model_versions(f"name='{MODEL}'")
]
reads["get_model_version"] = client.get_model_version(MODEL, "1").run_id
reads["get_model_version_download_uri"] = client.get_model_version_download_uri(MODEL, "1")
experiments = client.search_experiments()
reads["search_experiments"] = [[each.experiment_id, each.name] for each in experiments]
trend = client.get_experiment_by_name("trend")
reads["get_experiment_by_name"] = trend.experiment_id
reads["get_experiment"] = client.get_experiment(trend.experiment_id).name
everything = [each.experiment_id for each in experiments]
reads["search_runs"] = [
    [run.info.run_id, run.info.status, run.data.metrics.get("total_profit_pct")]
    for run in client.search_runs(everything)
]
[study] = client.search_runs([trend.experiment_id], "tags.`touchstone.kind` = 'hyperopt'")
trials = client.search_runs([trend.experiment_id], f"tags.mlflow.parentRunId = '{study.info.run_id}'")
best = client.search_runs(
    everything, "metrics.total_profit_pct > -1000", order_by=["metrics.total_profit_pct DESC"]
)[0]
reads["get_run"] = client.get_run(best.info.run_id).data.metrics["total_profit_pct"]
reads["get_metric_history"] = [
    each.value for each in client.get_metric_history(best.info.run_id, "total_profit_pct")
]
reads["list_artifacts"] = [each.path for each in client.list_artifacts(best.info.run_id)]
saved = client.download_artifacts(best.info.run_id, "trades.csv", folder)
reads["download_artifacts"] = first_line(saved)

# Writes.
writes["create_registered_model"] = refusal(lambda: client.create_registered_model(MODEL))
created = client.create_model_version(
    MODEL, f"mlflow-artifacts:/{unregistered}", unregistered, tags={"desk": "fx"}
)
writes["create_model_version"] = [created.version, created.run_id, created.status, created.tags["desk"]]
registered = mlflow.register_model(f"mlflow-artifacts:/{unregistered}", MODEL)
writes["register_model"] = [registered.version, registered.run_id, registered.status]
by_runs = [mlflow.register_model(f"runs:/{unregistered}{folder}", MODEL) for folder in ("", "/model")]
writes["register_model of runs:/"] = [[each.version, each.run_id] for each in by_runs]
client.set_registered_model_alias(MODEL, "shadow", "1")
aliased = client.get_model_version_by_alias(MODEL, "shadow")
aliases = dict(client.get_registered_model(MODEL).aliases)
client.delete_registered_model_alias(MODEL, "shadow")
writes["set_registered_model_alias"] = [aliased.version, aliases]
writes["delete_registered_model_alias"] = refusal(
    lambda: client.get_model_version_by_alias(MODEL, "shadow")
)[0]
client.set_model_version_tag(MODEL, "1", "reviewed", "yes")
tagged = client.get_model_version(MODEL, "1").tags.get("reviewed")
client.delete_model_version_tag(MODEL, "1", "reviewed")
writes["set_model_version_tag"] = tagged
writes["delete_model_version_tag"] = client.get_model_version(MODEL, "1").tags.get("reviewed")
writes["transition_model_version_stage"] = [
    state(client.transition_model_version_stage(MODEL, "2", stage)) for stage in ("Staging", "Production")
]
client.transition_model_version_stage(MODEL, "1", "staging")
reads["get_latest_versions by stage"] = [
    each.version for each in client.get_latest_versions(MODEL, ["PRODUCTION", "staging"])
]
description = mlflow.artifacts.load_dict(f"models:/{MODEL}/2/MLmodel")
reads["MLmodel"] = description["flavors"]["touchstone"]["strategy"]
reads["unknown names"] = [
    len(client.search_model_versions("name='nothing'")),
    len(client.search_runs(everything, "tags.mlflow.parentRunId = 'nothing'")),
]

# Addresses of versions, which the client resolves by the calls above.
for reference in ("@champion", "/Production"):
    target = os.path.join(folder, reference[1:])
    os.makedirs(target)
    uri = f"models:/{MODEL}{reference}/trades.csv"
    reads[f"models:/{MODEL}{reference}"] = first_line(mlflow.artifacts.download_artifacts(uri, dst_path=target))

print(
    json.dumps(
        {
            "reads": reads,
            "writes": writes,
            "study": study.info.run_id,
            "trials": [each.data.tags["mlflow.parentRunId"] for each in trials],
            "best": best.info.run_id,
            "refused": {
                "stage": refusal(
                    lambda: client.transition_model_version_stage(MODEL, "1", "Archived")
                ),
                "champion": refusal(lambda: client.set_registered_model_alias(MODEL, "champion", "1")),
                "latest": refusal(lambda: client.delete_registered_model_alias(MODEL, "latest")),
                "tag": refusal(
                    lambda: client.set_model_version_tag(MODEL, "1", "touchstone.trials", "1")
                ),
                "production": refusal(
                    lambda: client.transition_model_version_stage(MODEL, "1", "Production")
                ),
                "field": refusal(lambda: client.search_runs(everything, "start_tme > 1")),
                "latest stage": refusal(lambda: client.get_latest_versions(MODEL, ["prod"])),
                "unknown run": refusal(lambda: client.get_run("bt-none")),
                "unknown folder": refusal(lambda: mlflow.register_model(f"runs:/{unregistered}/other", MODEL)),
                "run": refusal(lambda: client.create_model_version(MODEL, "", study.info.run_id)),
            },
            "unserved": refusal(lambda: client.create_run("0")),
        }
    )
)
