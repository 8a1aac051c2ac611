import type { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import * as z from 'zod';
import { type PrepareImageRunDeps, prepareImageRun } from '#domain/image-runs/prepare-image-run.ts';
import {
  type RecordImageRunDeps,
  recordImageRun,
  startImageRun,
} from '#domain/image-runs/record-image-run.ts';

/** Calls of the state machine, and the event of ECS that a task has started. */
const Event = z.union([
  z.object({ operation: z.literal('prepare'), job_id: z.string(), correlation_id: z.string() }),
  z.object({
    operation: z.literal('record'),
    job_id: z.string(),
    task: z.string(),
    correlation_id: z.string(),
  }),
  z.object({
    'detail-type': z.literal('ECS Task State Change'),
    detail: z.object({ taskArn: z.string(), group: z.string() }),
  }),
]);

/** Handler of the function that prepares the runs of registered images, starts their jobs and records what they wrote. */
export function imageRunLambda(
  deps: PrepareImageRunDeps & RecordImageRunDeps,
  { logger }: { readonly logger: Logger },
) {
  return middy(async (input: unknown) => {
    const event = Event.parse(input);
    if ('detail' in event) {
      const { group: jobId, taskArn: task } = event.detail;
      await startImageRun(deps, { jobId, task });
      logger.info('image run started', { job_id: jobId, task });
      return {};
    }
    const { job_id: jobId, correlation_id } = event;
    logger.setCorrelationId(correlation_id);
    if (event.operation === 'prepare') return { input: await prepareImageRun(deps, jobId) };
    const outcome = await recordImageRun(deps, { jobId, task: event.task });
    logger.info('image run recorded', { job_id: jobId, task: event.task, outcome });
    return { outcome };
  }).use(injectLambdaContext(logger, { resetKeys: true }));
}
