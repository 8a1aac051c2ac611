import type * as z from 'zod';
import type { Challenge, ChallengeList } from '#contract/challenge-api.ts';
import type { ApiClient } from '../client.ts';

export const challengePath = (id: string, rest = '') => `/api/v1/challenges/${encodeURIComponent(id)}${rest}`;
export const challengesOf = (model: string, query = '') =>
  `/api/v1/models/${encodeURIComponent(model)}/challenges${query}`;

/** The challenge that is meant by its id or, as its newest, by a model's name. Rejects for a model without one. */
export async function findChallenge(client: ApiClient, reference: string): Promise<Challenge> {
  if (isId(reference)) return client.get<Challenge>(challengePath(reference));
  const page = await client.get<z.infer<typeof ChallengeList>>(challengesOf(reference, '?limit=1'));
  const [newest] = page.items;
  if (newest) return newest;
  throw new Error(
    `${reference} has no challenge yet: npx touchstone challenge create ${reference} <challenger>`,
  );
}

/** Its id alone, for a call that answers the challenge itself. */
export async function idOf(client: ApiClient, reference: string): Promise<string> {
  return isId(reference) ? reference : (await findChallenge(client, reference)).challenge_id;
}

function isId(reference: string): boolean {
  return reference.startsWith('ch-');
}
