import type { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import { endExecutions, type RepairDeps, repairQueue } from '#domain/repair/repair-jobs.ts';
import { eventCorrelation } from './event-correlation.ts';

/** Characters of an unreadable message in the log. */
const MAX_LOGGED = 200;

/** Messages of the dispatcher's queue. */
interface DispatcherEvent {
  readonly Records: readonly { readonly body: string }[];
}

/** An EventBridge event: an execution that ended, or the tick of every minute, which has no execution. */
interface Message {
  readonly detail?: { readonly name?: string };
}

/**
 * Name of the execution that ended; `[undefined]` for a tick. A message that cannot be read is dropped: it would
 * return with its whole batch.
 */
function readMessage(body: string, logger: Logger): [string | undefined] | [] {
  try {
    return [(JSON.parse(body) as Message).detail?.name];
  } catch (error) {
    logger.error('message is not an event', { body: body.slice(0, MAX_LOGGED), error: error as Error });
    return [];
  }
}

/**
 * The dispatcher function: frees the slots of executions that ended and gives free slots to waiting jobs. A tick also
 * compares slots with their executions. A message that is delivered again does no harm.
 */
export function dispatcherLambda(deps: RepairDeps, { logger }: { readonly logger: Logger }) {
  return middy<DispatcherEvent, void>()
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(eventCorrelation(logger))
    .handler(async ({ Records }) => {
      const names = Records.flatMap(({ body }) => readMessage(body, logger));
      const executions = [...new Set(names.filter((name) => name !== undefined))];
      const dispatched = await endExecutions(deps, executions);
      logger.info('executions ended', { executions, dispatched });
      if (names.includes(undefined)) logger.info('queue repaired', { ...(await repairQueue(deps)) });
    });
}
