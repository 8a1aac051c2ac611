import type { Command } from 'commander';
import type * as z from 'zod';
import type {
  Webhook,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookList,
  WebhookReplay,
  WebhookWithSecret,
} from '#contract/platform/webhook-api.ts';
import { PAGE_LIMITS } from '#contract/values/request-limits.ts';
import { DELIVERY_STATUSES } from '#contract/values/webhook-limits.ts';
import type { ApiClient } from './client.ts';
import { boundsText, integer, JSON_OPTION, queryOf, UsageError } from './options.ts';
import { second, table } from './output.ts';
import { type RunInSession, sessionWith } from './session.ts';

const PATH = '/api/v1/webhooks';
const pathOf = (id: string) => `${PATH}/${encodeURIComponent(id)}`;

interface Printed {
  readonly json?: boolean;
}

export function addWebhookCommands(program: Command): void {
  const webhooks = program
    .command('webhooks')
    .description('deliver events to URLs: signed, with retries and a log (docs/webhooks.md)');
  const session = sessionWith(program);
  addReading(webhooks, session);
  addCreate(webhooks, session);
  addChanges(webhooks, session);
  addReplay(webhooks, session);
}

function addReading(webhooks: Command, session: RunInSession): void {
  webhooks
    .command('list')
    .description('your webhooks; those of all users for admins')
    .option(...JSON_OPTION)
    .action((options: Printed) =>
      session(async ({ client }) => {
        const list = await client.get<z.infer<typeof WebhookList>>(PATH);
        print(list, options, ({ items }) => (items.length > 0 ? webhookTable(items) : 'No webhooks.'));
      }),
    );
  webhooks
    .command('deliveries')
    .description('deliveries of the last seven days, newest events first')
    .argument('<webhook>', 'wh-<id>')
    .option('--status <status>', `only ${DELIVERY_STATUSES.join(', ')}`)
    .option('--limit <n>', boundsText(PAGE_LIMITS), integer(PAGE_LIMITS), PAGE_LIMITS.default)
    .option(...JSON_OPTION)
    .action((id: string, { json, ...query }: Printed & { status?: string; limit: number }) =>
      session(async ({ client }) => {
        const path = `${pathOf(id)}/deliveries?${queryOf(query)}`;
        const page = await client.get<z.infer<typeof WebhookDeliveryList>>(path);
        print(page, { json }, ({ items }) => (items.length > 0 ? deliveryTable(items) : 'No deliveries.'));
      }),
    );
}

interface CreateOptions extends Printed {
  readonly types: string;
  readonly description?: string;
  readonly all?: boolean;
}

function addCreate(webhooks: Command, session: RunInSession): void {
  webhooks
    .command('create')
    .description('create a webhook and print its secret, which nothing prints again')
    .argument('<url>', 'https URL of the receiver')
    .option('--types <list>', 'comma-separated types of events, such as version.* (see docs/events.md)', '*')
    .option('--description <text>', 'note for the people who read the list')
    .option('--all', 'the events of all resources; needs role admin')
    .option(...JSON_OPTION)
    .action((url: string, { json, types, ...options }: CreateOptions) =>
      session(async ({ client }) => {
        const body = { url, types: types.split(','), ...options };
        print(await client.post<z.infer<typeof WebhookWithSecret>>(PATH, body), { json }, secretText);
      }),
    );
  addChange(webhooks, session, 'rotate', 'replace the secret; both sign for 24 hours', async (client, id) => {
    const rotated = await client.post<z.infer<typeof WebhookWithSecret>>(`${pathOf(id)}/rotate-secret`);
    return [rotated, secretText(rotated)];
  });
}

function addChanges(webhooks: Command, session: RunInSession): void {
  const set = (status: 'active' | 'paused') => async (client: ApiClient, id: string) => {
    const webhook = await client.patch<Webhook>(pathOf(id), { status });
    return [webhook, `${id}: ${webhook.status}`] as const;
  };
  addChange(webhooks, session, 'pause', 'stop deliveries until it is resumed', set('paused'));
  addChange(webhooks, session, 'resume', 'continue a paused or disabled webhook', set('active'));
  addChange(webhooks, session, 'delete', 'delete it; its pending deliveries end', async (client, id) => {
    await client.send('DELETE', pathOf(id));
    return [{ webhook_id: id, deleted: true }, `${id}: deleted`];
  });
  addChange(webhooks, session, 'test', 'send a test event', async (client, id) => {
    const delivery = await client.post<WebhookDelivery>(`${pathOf(id)}/test`);
    return [
      delivery,
      `${delivery.delivery_id} is being sent. Its result: touchstone webhooks deliveries ${id}`,
    ];
  });
}

/** A command on one webhook. `run` returns what `--json` prints, and the text. */
function addChange(
  webhooks: Command,
  session: RunInSession,
  name: string,
  description: string,
  run: (client: ApiClient, id: string) => Promise<readonly [object, string]>,
): void {
  webhooks
    .command(name)
    .description(description)
    .argument('<webhook>', 'wh-<id>')
    .option(...JSON_OPTION)
    .action((id: string, options: Printed) =>
      session(async ({ client }) => {
        const [value, text] = await run(client, id);
        print(value, options, () => text);
      }),
    );
}

interface ReplayOptions extends Printed {
  readonly since?: string;
  readonly until?: string;
}

function addReplay(webhooks: Command, session: RunInSession): void {
  webhooks
    .command('replay')
    .description('deliver one event again, or those since a time')
    .argument('<webhook>', 'wh-<id>')
    .argument('[delivery]', 'ID of a delivery')
    .option('--since <time>', 'ISO 8601, up to seven days back')
    .option('--until <time>', 'ISO 8601 (default: now)')
    .option(...JSON_OPTION)
    .action((id: string, delivery: string | undefined, { json, since, until }: ReplayOptions) => {
      if ((delivery === undefined) === (since === undefined)) {
        throw new UsageError('Pass the ID of a delivery, or --since <time> for all events since then.');
      }
      return session(async ({ client }) => {
        if (delivery !== undefined) {
          const path = `${pathOf(id)}/deliveries/${encodeURIComponent(delivery)}/replay`;
          print(await client.post<WebhookDelivery>(path), { json }, (each) => deliveryTable([each]));
          return;
        }
        print(
          await replayAll(client, id, since!, until),
          { json },
          ({ replayed }) => `${replayed} events are delivered again`,
        );
      });
    });
}

/** Replays part by part: one call replays a limited number of events. */
async function replayAll(
  client: ApiClient,
  id: string,
  since: string,
  until: string | undefined,
): Promise<{ readonly replayed: number }> {
  let replayed = 0;
  for (let next: string | null = since; next !== null; ) {
    const body = { since: next, ...(until !== undefined && { until }) };
    const part: z.infer<typeof WebhookReplay> = await client.post(`${pathOf(id)}/replay`, body);
    replayed += part.replayed;
    // More events of one moment than a call replays would begin again at that moment.
    if (part.next_since === next) break;
    next = part.next_since;
  }
  return { replayed };
}

function print<T>(value: T, { json }: Printed, text: (value: T) => string): void {
  console.log(json ? JSON.stringify(value) : text(value));
}

function secretText({ webhook_id, secret, previous_secret_expires_at }: z.infer<typeof WebhookWithSecret>) {
  return [
    webhook_id,
    `Secret: ${secret}`,
    'Store it now: it is not printed again.',
    ...(previous_secret_expires_at
      ? [`The previous secret signs too until ${second(previous_secret_expires_at)} UTC.`]
      : []),
  ].join('\n');
}

function webhookTable(webhooks: readonly Webhook[]): string {
  return table(
    ['Webhook', 'URL', 'Types', 'Groups', 'Status', 'Last success (UTC)', 'Note'],
    webhooks.map((each) => [
      each.webhook_id,
      each.url,
      each.all ? `${each.types.join(', ')} of all users` : each.types.join(', '),
      each.groups.join(', ') || '-',
      each.disabled_reason === null ? each.status : `${each.status}: ${each.disabled_reason}`,
      each.last_success_at === null ? '-' : second(each.last_success_at),
      each.description,
    ]),
  );
}

function deliveryTable(deliveries: readonly WebhookDelivery[]): string {
  return table(
    ['Delivery', 'Type', 'Subject', 'Status', 'Attempts', 'Last attempt', 'Next attempt (UTC)'],
    deliveries.map((each) => {
      const last = each.last_attempts.at(-1);
      return [
        each.delivery_id,
        each.type,
        each.subject,
        each.status,
        each.attempts,
        last === undefined ? '-' : (last.error ?? `HTTP ${last.status}`),
        each.next_attempt_at === null ? '-' : second(each.next_attempt_at),
      ];
    }),
  );
}
