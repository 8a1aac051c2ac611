import * as z from 'zod';
import { BacktestTaskEnv, imageRuns } from './env.ts';

/** The environments of both sides of a registered image's run. */

/** The function that prepares the runs of registered images and records what they wrote. */
export const ImageRunEnv = BacktestTaskEnv.pick({
  ...{ ENVIRONMENT: true, LOG_LEVEL: true, DYNAMODB_ENDPOINT: true, OBJECTS_DIRECTORY: true },
  ...{ RESULTS_BUCKET: true, JOBS_TABLE: true, SERIES_TABLE: true },
}).extend(imageRuns);
export type ImageRunEnv = z.output<typeof ImageRunEnv>;

/** Task of a registered image: it has no table, and its role reads candles and this run's input only. */
export const ImageBacktestTaskEnv = BacktestTaskEnv.pick({
  ...{ ENVIRONMENT: true, LOG_LEVEL: true, OBJECTS_DIRECTORY: true, CANDLES_BUCKET: true },
  ...{ STRATEGIES_DIRECTORY: true, CORRELATION_ID: true, TASK_ID: true, WATCH_MARK: true },
  ECS_CONTAINER_METADATA_URI_V4: true,
}).extend({
  ...imageRuns,
  /** Name of the input, which the state machine sets. */
  RUN_INPUT: z.string().regex(/^[0-9a-f]{32}\.json$/),
});
