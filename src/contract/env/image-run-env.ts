import { BacktestTaskEnv, imageRuns } from './env.ts';
import { type EnvOf, matching } from './env-fields.ts';

/** The environments of both sides of a registered image's run. */

const { variables: task } = BacktestTaskEnv;

/** The function that prepares the runs of registered images and records what they wrote. */
export const ImageRunEnv = {
  variables: {
    ENVIRONMENT: task.ENVIRONMENT,
    LOG_LEVEL: task.LOG_LEVEL,
    DYNAMODB_ENDPOINT: task.DYNAMODB_ENDPOINT,
    OBJECTS_DIRECTORY: task.OBJECTS_DIRECTORY,
    RESULTS_BUCKET: task.RESULTS_BUCKET,
    JOBS_TABLE: task.JOBS_TABLE,
    SERIES_TABLE: task.SERIES_TABLE,
    ...imageRuns,
  },
};
export type ImageRunEnv = EnvOf<typeof ImageRunEnv>;

/** Task of a registered image: it has no table, and its role reads candles and this run's input only. */
export const ImageBacktestTaskEnv = {
  variables: {
    ENVIRONMENT: task.ENVIRONMENT,
    LOG_LEVEL: task.LOG_LEVEL,
    OBJECTS_DIRECTORY: task.OBJECTS_DIRECTORY,
    CANDLES_BUCKET: task.CANDLES_BUCKET,
    STRATEGIES_DIRECTORY: task.STRATEGIES_DIRECTORY,
    CORRELATION_ID: task.CORRELATION_ID,
    TASK_ID: task.TASK_ID,
    WATCH_MARK: task.WATCH_MARK,
    ECS_CONTAINER_METADATA_URI_V4: task.ECS_CONTAINER_METADATA_URI_V4,
    ...imageRuns,
    /** Name of the input, which the state machine sets. */
    RUN_INPUT: matching(/^[0-9a-f]{32}\.json$/, 'must be 32 hexadecimal digits and .json'),
  },
};
