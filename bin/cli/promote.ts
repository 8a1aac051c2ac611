import type { PromoteReply } from '#contract/registry-api.ts';
import type { ApiClient } from './client.ts';
import { expectedProduction } from './expected-production.ts';
import { minute, table } from './format.ts';

export interface PromoteOptions {
  readonly comment?: string;
  readonly expect?: string;
  readonly challenge?: string;
  readonly force?: boolean;
}

/** Promotes a staged version and prints what it replaced. */
export async function promoteVersion(
  client: ApiClient,
  model: string,
  version: string,
  options: PromoteOptions,
): Promise<void> {
  const reply = await client.post<PromoteReply>(`/api/v1/strategies/${encodeURIComponent(model)}/promote`, {
    version,
    ...(options.comment === undefined ? {} : { comment: options.comment }),
    ...expectedProduction(options.expect),
    ...(options.challenge === undefined ? {} : { challenge_id: options.challenge }),
    ...(options.force ? { force: true } : {}),
  });
  console.log(reply.message);
  console.log(
    table(
      ['Version', 'From', 'To', 'Archived', 'Promoted (UTC)'],
      [
        [
          reply.version,
          reply.previous_stage,
          reply.new_stage,
          reply.archived_versions.join(', ') || null,
          minute(reply.promoted_at),
        ],
      ],
    ),
  );
}
