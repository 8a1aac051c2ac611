import type { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import type { Digest } from '#contract/values/digest.ts';
import { addDeliveries, type DeliveredEvent } from '#domain/webhooks/deliveries.ts';
import { runLane } from '#domain/webhooks/run-lane.ts';
import type { DeliveryDeps, WakeUp } from '#domain/webhooks/webhook-ports.ts';
import { eventCorrelation } from './event-correlation.ts';

interface WebhooksDeps extends Omit<DeliveryDeps, 'log'> {
  readonly queue: { wakeAt(webhookId: string, at: number): Promise<void> };
  readonly digest: Digest;
  readonly logger: Logger;
}

interface SqsEvent {
  readonly Records: readonly { readonly body: string }[];
}

/** An event of the bus, or a wake-up. */
type Message = { readonly detail: DeliveredEvent } | WakeUp;

/** Characters of an unreadable message in the log. */
const MAX_LOGGED = 200;

/**
 * The function that delivers to webhooks. An event becomes a delivery of each webhook that receives it; then these webhooks have a turn.
 * A webhook with a delivery that is due later is woken by a message. A batch that fails is received again, which adds nothing twice.
 */
export function webhooksLambda({ queue, digest, logger, ...rest }: WebhooksDeps) {
  const deps: DeliveryDeps = { ...rest, log: logger };
  const { clock, webhooks } = deps;

  async function turn(id: string, worker: string): Promise<void> {
    const { next, planned } = await runLane(deps, id, worker);
    if (next === undefined) return;
    // One message at a time: each event of a webhook would add another.
    if (planned !== undefined && planned > clock.now() && planned <= next) return;
    await queue.wakeAt(id, next);
    await webhooks.plan(id, next);
  }

  return middy<SqsEvent, void>()
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(eventCorrelation(logger))
    .handler(async ({ Records }, { awsRequestId }) => {
      const messages = Records.flatMap(({ body }) => readMessage(body, logger));
      const events = messages.flatMap((message) => ('detail' in message ? message.detail : []));
      const wakeUps = messages.filter((message) => 'webhook_id' in message);
      // One that clocks made early is sent again too: a turn before the planned time would take itself for planned, and none would follow.
      const now = clock.now();
      const later = wakeUps.filter(({ at }) => at > now);
      const woken = wakeUps.filter((each) => !later.includes(each)).map(({ webhook_id }) => webhook_id);
      const added = events.length === 0 ? [] : await addDeliveries({ ...deps, digest }, events);
      const results = await Promise.allSettled([
        ...[...new Set([...added, ...woken])].map((id) => turn(id, awsRequestId)),
        ...later.map(({ webhook_id, at }) => queue.wakeAt(webhook_id, at)),
      ]);
      const failed = results.find(({ status }) => status === 'rejected');
      if (failed) throw (failed as PromiseRejectedResult).reason;
    });
}

/** A message that cannot be read is dropped: it would return with its whole batch. */
function readMessage(body: string, logger: Logger): Message[] {
  try {
    const message: unknown = JSON.parse(body);
    if (typeof message === 'object' && message !== null) return [message as Message];
  } catch {
    // Logged below.
  }
  logger.error('message is not an event', { body: body.slice(0, MAX_LOGGED) });
  return [];
}
