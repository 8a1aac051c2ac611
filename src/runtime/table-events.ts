import type { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import type { PlatformEvent } from '#contract/platform/events.ts';
import type { EventLog } from '#domain/events/event-log.ts';
import { eventsOf, type TableChange } from '#domain/events/event-of-change.ts';

interface TableEventsDeps<StreamRecord> {
  readonly events: Pick<EventLog, 'append'>;
  readonly bus: { put(events: readonly PlatformEvent[]): Promise<void> };
  readonly changeOf: (record: StreamRecord) => TableChange;
  /** CloudEvents' `source` of this platform. */
  readonly source: string;
  readonly logger: Logger;
}

/**
 * The function that reads the tables' streams: adds the events of a batch to the event log and puts them on the bus. When it throws,
 * Lambda sends the batch again.
 */
export function tableEventsLambda<StreamRecord>(deps: TableEventsDeps<StreamRecord>) {
  const { events, bus, changeOf, source, logger } = deps;
  return middy<{ readonly Records: readonly StreamRecord[] }, void>()
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .handler(async ({ Records }) => {
      const derived = eventsOf(source, Records.map(changeOf), (error, { keys }) =>
        logger.error('failed to derive an event', { error: error as Error, keys }),
      );
      await events.append(derived);
      await bus.put(derived);
    });
}
