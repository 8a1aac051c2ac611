import type { Challenge } from '#contract/registry/challenge-api.ts';
import type { StoredChallenge } from '#contract/registry/stored-challenge.ts';
import { type Caller, mayAccess } from '../access/access.ts';
import type { Page } from '../ports.ts';
import type { Cursors } from '../shared/cursors.ts';
import type { ModelSharing } from '../transitions/registry-store.ts';
import type { ChallengePosition, ChallengeRow } from './challenge-store.ts';
import { challengeView, type ReadDeps, statusAt, withDeadlinesApplied } from './read-challenges.ts';

export interface ListAllChallengesDeps extends ReadDeps {
  readonly registry: { readonly sharing: Pick<ModelSharing, 'findMany'> };
  readonly cursors: Cursors;
}

interface AllChallengesInput {
  /** Admins see all challenges, others those of models they own or that are shared with them. */
  readonly caller: Caller;
  readonly status?: StoredChallenge['status'] | undefined;
  readonly limit: number;
  readonly cursor: string | null;
}

/** Maximum rows per page. A row without a match costs the read of its challenge or less. */
const MAX_ROWS = 2_000;
/** Rows whose challenges are read together when some of them may not match. */
const FILTERED_PART = 100;

/**
 * One page of the challenges of all models, newest first. A page reads up to 2,000 challenges, so it may be short while more
 * follow. Throws VAL006, SVC005.
 */
export async function listAllChallenges(
  deps: ListAllChallengesDeps,
  input: AllChallengesInput,
): Promise<Page<Challenge>> {
  const { caller, status, limit, cursor } = input;
  const visibleTo = caller.isAdmin ? null : caller.id;
  const scope = { list: 'all-challenges', status: status ?? null, visible_to: visibleTo };
  const [created_at = '', challenge_id = ''] = cursor === null ? [] : deps.cursors.decode(cursor, scope, 2);
  const pageAfter = (last: ChallengePosition) =>
    deps.cursors.encode([last.created_at, last.challenge_id], scope);
  const rows = deps.challenges.rows(cursor === null ? null : { created_at, challenge_id });
  const size = caller.isAdmin && !status ? limit + 1 : FILTERED_PART;
  const isVisible = visibility(deps.registry.sharing, caller);
  const items: StoredChallenge[] = [];
  const page = async (next: string | null) => {
    const current = await Promise.all(items.map((each) => withDeadlinesApplied(deps, each)));
    return { items: current.map(challengeView), next };
  };
  let read = 0;
  for await (const part of inParts(rows, size)) {
    for (const challenge of await isVisible(await readMatching(deps, part, status))) {
      if (items.length === limit) return page(pageAfter(items.at(-1)!));
      items.push(challenge);
    }
    read += part.length;
    if (read >= MAX_ROWS) return page(pageAfter(part.at(-1)!));
  }
  return page(null);
}

async function* inParts<T>(all: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let part: T[] = [];
  for await (const each of all) {
    part.push(each);
    if (part.length < size) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

/** Challenges of the rows in a status. A row may still be active although the time limit of its challenge has passed. */
async function readMatching(
  { challenges, clock }: ReadDeps,
  rows: readonly ChallengeRow[],
  status: StoredChallenge['status'] | undefined,
): Promise<readonly StoredChallenge[]> {
  const candidates = rows.filter((row) => !status || row.status === status || row.status === 'active');
  const read = await challenges.readMany(candidates.map(({ challenge_id }) => challenge_id));
  return status ? read.filter((challenge) => statusAt(challenge, clock.now()) === status) : read;
}

/** Filter of the challenges that the caller can see. Each model is read once. */
function visibility(sharing: Pick<ModelSharing, 'findMany'>, caller: Caller) {
  const known = new Map<string, boolean>();
  return async (challenges: readonly StoredChallenge[]): Promise<readonly StoredChallenge[]> => {
    if (caller.isAdmin) return challenges;
    const unknown = challenges.map(({ model_name }) => model_name).filter((name) => !known.has(name));
    const models = await sharing.findMany(unknown);
    for (const name of unknown) {
      const model = models.get(name);
      known.set(name, model !== undefined && mayAccess(caller, model, 'read'));
    }
    return challenges.filter(({ model_name }) => known.get(model_name));
  };
}
