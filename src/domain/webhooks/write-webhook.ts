import type { Immutable } from '#contract/common/immutable.ts';
import type { StoredWebhook } from '#contract/platform/stored-webhook.ts';
import type { WebhookChange, WebhookRequest } from '#contract/platform/webhook-api.ts';
import { CodedError } from '#contract/values/errors.ts';
import { EVENT_SELECTION } from '#contract/values/event-types.ts';
import { ROTATION_HOURS, WEBHOOK_ID_PREFIX, WEBHOOK_LIMITS } from '#contract/values/webhook-limits.ts';
import type { Caller } from '../access/access.ts';
import type { Clock, Ids } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import { retryConflicts } from '../shared/retry-conflicts.ts';
import { unknownWebhook } from '../shared/unknown-resources.ts';
import { checkCount, checkMaxLength, checkOneOf } from '../shared/validate.ts';
import type { WebhookSender, WebhookSignatures, WebhookStore, WebhookWaker } from './webhook-ports.ts';

export interface WriteWebhookDeps {
  readonly webhooks: WebhookStore;
  readonly sender: Pick<WebhookSender, 'urlProblem'>;
  readonly signatures: Pick<WebhookSignatures, 'newSecret'>;
  readonly waker: WebhookWaker;
  readonly ids: Ids;
  readonly clock: Clock;
}

const MAX_ATTEMPTS = 5;
/** Of as many calls at the same time each is stored, one after the other. */
const CREATE_ATTEMPTS = 50;

/** The webhook with its secret. Throws VAL005, RES005 (too many), DATA005. */
export async function createWebhook(
  deps: WriteWebhookDeps,
  caller: Caller,
  { url, types = ['*'], description = '', all = false }: Immutable<WebhookRequest>,
): Promise<StoredWebhook> {
  await checkUrl(deps, url);
  checkTypes(types);
  checkDescription(description);
  const now = isoTime(deps.clock.now());
  const webhook: StoredWebhook = {
    schema_version: 1,
    webhook_id: `${WEBHOOK_ID_PREFIX}${deps.ids.ulid()}`,
    revision: 0,
    owner: caller.id,
    groups: [...caller.groups],
    groups_at: now,
    url,
    types: [...types],
    description: description || null,
    all,
    status: 'active',
    disabled_reason: null,
    secrets: [{ secret: deps.signatures.newSecret(), expires_at: null }],
    created_at: now,
    updated_at: now,
    failures: 0,
    failing_since: null,
    last_success_at: null,
    resume_at: null,
  };
  return retryConflicts<StoredWebhook>({ attempts: CREATE_ATTEMPTS }, async () => {
    // Read before the webhooks: no other call can create one between their count and the write.
    const created = await deps.webhooks.created();
    await checkNumber(deps.webhooks, caller);
    if ((await deps.webhooks.create(webhook, created)) === 'done') return { result: webhook };
    const message = 'Write conflict: other requests created webhooks: retry the request';
    return { conflict: new CodedError('RES005', { message, field: 'url' }) };
  });
}

/** Throws HOOK001, VAL005, RES005 (other calls keep changing it), DATA005. */
export async function updateWebhook(
  deps: WriteWebhookDeps,
  id: string,
  { url, types, description, status }: Immutable<WebhookChange>,
): Promise<StoredWebhook> {
  if (url !== undefined) await checkUrl(deps, url);
  if (types !== undefined) checkTypes(types);
  if (description !== undefined) checkDescription(description);
  const wanted = status === undefined ? undefined : checkOneOf(status, 'status', ['active', 'paused']);
  const changed = await change(deps, id, () => ({
    ...(url !== undefined && { url }),
    ...(types !== undefined && { types: [...types] }),
    ...(description !== undefined && { description: description || null }),
    ...(wanted !== undefined && { status: wanted, disabled_reason: null }),
    // A new address, or a receiver that its owner has repaired, starts without a history of failures.
    ...((wanted === 'active' || url !== undefined) && { failures: 0, failing_since: null, resume_at: null }),
  }));
  if (changed.status === 'active') await deps.waker.wake(id);
  return changed;
}

/** Throws HOOK001, DATA005. */
export async function deleteWebhook(
  { webhooks }: Pick<WriteWebhookDeps, 'webhooks'>,
  id: string,
): Promise<void> {
  if (!(await webhooks.find(id))) throw unknownWebhook(id);
  await webhooks.remove(id);
}

/** The webhook with a new secret first. The previous one signs for 24 h, one before it no longer. Throws HOOK001, RES005, DATA005. */
export function rotateWebhookSecret(deps: WriteWebhookDeps, id: string): Promise<StoredWebhook> {
  return change(deps, id, ({ secrets }) => ({
    secrets: [
      { secret: deps.signatures.newSecret(), expires_at: null },
      { ...secrets[0]!, expires_at: isoTime(deps.clock.now() + ROTATION_HOURS * 60 * 60_000) },
    ],
  }));
}

function change(
  { webhooks, clock }: Pick<WriteWebhookDeps, 'webhooks' | 'clock'>,
  id: string,
  decide: (webhook: StoredWebhook) => Partial<StoredWebhook>,
): Promise<StoredWebhook> {
  return retryConflicts<StoredWebhook>({ attempts: MAX_ATTEMPTS }, async () => {
    const webhook = await webhooks.find(id);
    if (!webhook) throw unknownWebhook(id);
    const { revision } = webhook;
    const set = { ...decide(webhook), revision: revision + 1, updated_at: isoTime(clock.now()) };
    if ((await webhooks.change(id, revision, set)) === 'done') return { result: { ...webhook, ...set } };
    const message =
      'Write conflict: other requests changed this webhook: read it again and retry the request';
    return { conflict: new CodedError('RES005', { message, field: 'webhook_id' }) };
  });
}

async function checkUrl({ sender }: Pick<WriteWebhookDeps, 'sender'>, url: string): Promise<void> {
  checkMaxLength(url, 'url', WEBHOOK_LIMITS.url);
  const problem = await sender.urlProblem(url);
  if (problem === undefined) return;
  // The URL may hold a password, and errors are logged.
  throw new CodedError('VAL005', { message: `url ${problem}`, field: 'url' });
}

function checkTypes(types: readonly string[]): void {
  checkCount(types.length, 'types', { min: 1, max: WEBHOOK_LIMITS.types }, 'types');
  for (const [index, type] of types.entries()) {
    if (!type.includes(',') && EVENT_SELECTION.test(type)) continue;
    throw new CodedError('VAL005', {
      message: `types.${index} is not a type of events: pass a type such as backtest.completed, version.* or *`,
      field: `types.${index}`,
      context: { value: type.slice(0, 100) },
    });
  }
}

function checkDescription(description: string): void {
  checkMaxLength(description, 'description', WEBHOOK_LIMITS.description);
}

async function checkNumber(webhooks: WebhookStore, caller: Caller): Promise<void> {
  const stored = await webhooks.list();
  const own = stored.filter(({ owner }) => owner === caller.id).length;
  const all = stored.length;
  const { perOwner, total } = WEBHOOK_LIMITS;
  if (own < perOwner && all < total) return;
  throw new CodedError('RES005', {
    message:
      own < perOwner
        ? `The platform has ${total} webhooks, the maximum: ask an admin to delete some`
        : `You have ${perOwner} webhooks, the maximum: delete one first`,
    field: 'url',
    context: { count: own < perOwner ? all : own },
  });
}
