import type { ResourceKind } from '#contract/values/sharing.ts';
import { type Caller, mayAccess, type Ownership } from '../access/access.ts';

/** Kind of the owned resource by the first part of a subject. Market data has no owner: every caller sees its events. */
const KINDS: Readonly<Record<string, EventResource>> = {
  backtests: 'backtest',
  hyperopt: 'hyperopt',
  models: 'model',
  challenges: 'challenge',
  approvals: 'approval',
};

type EventResource = Exclude<ResourceKind, 'webhook' | 'signals'>;

/** True when the caller may see the events of a subject at this moment. Throws DATA005, SVC005. */
export async function maySeeEvents(
  ownership: Pick<Ownership, EventResource>,
  caller: Caller,
  subject: string,
): Promise<boolean> {
  const [collection, id] = subject.split('/') as [string, string];
  const kind = KINDS[collection];
  if (kind === undefined || caller.isAdmin) return true;
  const resource = await ownership[kind].sharing.find(id);
  // A deleted resource has no owner left.
  return resource !== undefined && mayAccess(caller, resource, 'read');
}
