import type { RollbackReply } from '#contract/registry-api.ts';
import type { ApiClient } from './client.ts';
import { expectedProduction } from './expected-production.ts';
import { table } from './format.ts';

export interface RollbackOptions {
  readonly reason?: string;
  readonly expect?: string;
}

/** Puts an archived version back into Production and prints the change. */
export async function rollBack(
  client: ApiClient,
  model: string,
  version: string,
  options: RollbackOptions,
): Promise<void> {
  const reply = await client.post<RollbackReply>(`/api/v1/models/${encodeURIComponent(model)}/rollback`, {
    version,
    ...(options.reason === undefined ? {} : { reason: options.reason }),
    ...expectedProduction(options.expect),
  });
  console.log(reply.message);
  console.log(
    table(
      ['Model', 'Production before', 'Production now'],
      [[reply.model_name, reply.previous_production, reply.new_production]],
    ),
  );
}
