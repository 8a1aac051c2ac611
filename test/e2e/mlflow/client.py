"""Reads a platform with the real client of MLflow and prints what it returned as JSON.

    python3 test/e2e/mlflow/client.py URL FOLDER
"""

import json
import sys

import mlflow
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

url, folder = sys.argv[1:]
client = MlflowClient(tracking_uri=url, registry_uri=url)
mlflow.set_tracking_uri(url)


def refusal(call):
    """Code and message of the error of a call."""
    try:
        call()
    except MlflowException as error:
        return [error.error_code, error.message]
    return None


models = client.search_registered_models()
[model] = models
versions = client.search_model_versions(f"name='{model.name}'")
experiments = client.search_experiments()
trend = client.get_experiment_by_name("trend")
runs = client.search_runs(
    [each.experiment_id for each in experiments],
    "attributes.status = 'FINISHED'",
    order_by=["metrics.total_profit_pct DESC"],
)
[study] = client.search_runs([trend.experiment_id], "tags.`touchstone.kind` = 'hyperopt'")
trials = client.search_runs([trend.experiment_id], f"tags.mlflow.parentRunId = '{study.info.run_id}'")
backtest = next(run for run in runs if run.data.tags["touchstone.kind"] == "backtest")
run_id = backtest.info.run_id
saved = client.download_artifacts(run_id, "trades.csv", folder)
with open(saved) as file:
    header = file.readline().strip()
staged = client.transition_model_version_stage(model.name, "2", "Staging")
promoted = client.transition_model_version_stage(model.name, "2", "Production")

print(
    json.dumps(
        {
            "models": [each.name for each in models],
            "model": client.get_registered_model(model.name).name,
            "latest": [
                [each.version, each.current_stage] for each in client.get_latest_versions(model.name)
            ],
            "champion": client.get_model_version_by_alias(model.name, "champion").version,
            "versions": [[each.version, each.run_id] for each in versions],
            "version": client.get_model_version(model.name, "1").version,
            "uri": client.get_model_version_download_uri(model.name, "1"),
            "experiments": [[each.experiment_id, each.name] for each in experiments],
            "experiment": client.get_experiment(trend.experiment_id).name,
            "runs": [each.info.run_id for each in runs],
            "trials": len(trials),
            "trial": client.get_run(trials[0].info.run_id).data.tags["mlflow.parentRunId"],
            "run": client.get_run(run_id).data.metrics["total_profit_pct"],
            "history": [
                each.value for each in client.get_metric_history(run_id, "total_profit_pct")
            ],
            "files": [each.path for each in client.list_artifacts(run_id)],
            "header": header,
            "staged": staged.current_stage,
            "promoted": [promoted.current_stage, list(promoted.aliases)],
            "refused": refusal(
                lambda: client.transition_model_version_stage(model.name, "1", "Archived")
            ),
            "unserved": refusal(lambda: client.create_run("0")),
        }
    )
)
