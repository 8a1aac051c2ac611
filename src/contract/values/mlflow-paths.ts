/** Path prefix of MLflow's API. Errors below it have the shape that MLflow's client reads. */
export const MLFLOW_PREFIX = '/api/2.0/';
