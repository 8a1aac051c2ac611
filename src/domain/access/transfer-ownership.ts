import type { Sharing } from '#contract/common/sharing-schemas.ts';
import { CodedError } from '#contract/values/errors.ts';
import { BACKTEST_ID_PREFIX, HYPEROPT_ID_PREFIX } from '#contract/values/job-limits.ts';
import { MAX_ID_LENGTH } from '#contract/values/request-limits.ts';
import { OWNED_RESOURCES, PRINCIPAL_NAME, type ResourceKind } from '#contract/values/sharing.ts';
import { SIGNALS_ID_PREFIX } from '#contract/values/signals-limits.ts';
import { WEBHOOK_ID_PREFIX } from '#contract/values/webhook-limits.ts';
import { retryConflicts } from '../shared/retry-conflicts.ts';
import { expired } from '../shared/unknown-resources.ts';
import { type Ownership, userPrincipal } from './access.ts';
import { isOwnPrincipal } from './own-principals.ts';

/** Kind by the first part of a resource's path, and the start of its IDs: both kinds of jobs are stored together. */
const KINDS = {
  models: { kind: 'model', prefix: '' },
  backtests: { kind: 'backtest', prefix: BACKTEST_ID_PREFIX },
  hyperopt: { kind: 'hyperopt', prefix: HYPEROPT_ID_PREFIX },
  signals: { kind: 'signals', prefix: SIGNALS_ID_PREFIX },
  webhooks: { kind: 'webhook', prefix: WEBHOOK_ID_PREFIX },
} as const satisfies Record<string, { readonly kind: ResourceKind; readonly prefix: string }>;

const MAX_ATTEMPTS = 5;

/**
 * Makes another user the owner of a resource. A challenge goes with its model. The owner before loses access, as far as no grant is
 * theirs; the grant of the new owner, who needs none, is removed. Repeating it changes nothing.
 * Throws the error of an unknown resource, VAL005, RES005 (a job that has not ended, or other calls keep changing it), RES006, DATA005,
 * SVC005.
 *
 * @param resource its path, such as `models/ema_crossover`
 */
export async function transferOwnership(
  ownership: Ownership,
  { resource, owner }: { readonly resource: string; readonly owner: string },
): Promise<Sharing> {
  const { kind, prefix, id } = resourceOf(resource);
  if (!PRINCIPAL_NAME.test(owner)) {
    throw new CodedError('VAL005', {
      message: 'owner must be the ID of a user: 1 to 128 characters without spaces',
      field: 'owner',
      context: { value: owner.slice(0, 150) },
    });
  }
  if (isOwnPrincipal(owner)) {
    throw new CodedError('VAL005', {
      message: `${owner} is a name of the platform itself: name a user`,
      field: 'owner',
    });
  }
  const { sharing, unknown } = ownership[kind];
  const { noun } = OWNED_RESOURCES[kind];
  // A body may name anything; a key of a table is limited.
  if (!id.startsWith(prefix) || id.length > MAX_ID_LENGTH)
    throw unknown(id.slice(0, MAX_ID_LENGTH), 'resource');
  return retryConflicts<Sharing>({ attempts: MAX_ATTEMPTS }, async () => {
    const found = await sharing.find(id);
    if (!found) throw unknown(id, 'resource');
    if (found.expired_at) throw expired(`The ${noun}`, id, 'resource');
    const shared_with = (found.shared_with ?? []).filter(
      ({ principal }) => principal !== userPrincipal(owner),
    );
    const saved = await sharing.transfer(id, found, { owner, shared_with });
    if (saved === 'done') return { result: { owner, shared_with } };
    const message =
      saved === 'unfinished'
        ? `This ${noun} has not ended: cancel it, or transfer it when it has`
        : `Write conflict: other requests changed this ${noun}: retry the request`;
    const error = new CodedError('RES005', { message, field: 'resource' });
    if (saved === 'unfinished') throw error;
    return { conflict: error };
  });
}

function resourceOf(resource: string): (typeof KINDS)[keyof typeof KINDS] & { readonly id: string } {
  const [collection, ...rest] = resource.split('/');
  const id = rest.join('/');
  if (collection && Object.hasOwn(KINDS, collection) && id !== '') {
    return { ...KINDS[collection as keyof typeof KINDS], id };
  }
  throw new CodedError('VAL005', {
    message: `resource must be a path of ${Object.keys(KINDS).join(', ')}, such as models/ema_crossover; a challenge goes with its model`,
    field: 'resource',
    context: { value: resource.slice(0, 150) },
  });
}
