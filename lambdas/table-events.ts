import { EventBus } from '#adapters/aws/event-bus.ts';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { DynamoEventLog } from '#adapters/dynamo/event-log.ts';
import { changeOf } from '#adapters/dynamo/table-change.ts';
import { TableEventsEnv } from '#contract/env/table-events-env.ts';
import { readEnv } from '#runtime/env.ts';
import { createLogger } from '#runtime/log.ts';
import { tableEventsLambda } from '#runtime/table-events.ts';

const env = readEnv(TableEventsEnv);
const dynamo = createDocumentClient(env.DYNAMODB_ENDPOINT ? { endpoint: env.DYNAMODB_ENDPOINT } : {});

export const handler = tableEventsLambda({
  events: new DynamoEventLog(dynamo, env.JOBS_TABLE, Date),
  bus: new EventBus(env.EVENT_BUS, dynamo, env.EVENTS_ENDPOINT),
  changeOf,
  source: env.EVENT_SOURCE,
  logger: createLogger('table-events', env.LOG_LEVEL),
});
