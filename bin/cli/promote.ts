import type { PromoteReply } from '#contract/registry-api.ts';
import { postChecked, printWarnings, type WaiveOptions, waiverOf } from './checks.ts';
import type { ApiClient } from './client.ts';
import { expectedProduction } from './expected-production.ts';
import { minute, table } from './format.ts';

export interface PromoteOptions extends WaiveOptions {
  readonly comment?: string;
  readonly expect?: string;
  readonly challenge?: string;
  readonly force?: boolean;
}

/** Promotes a staged version and prints what it replaced, or which checks it missed. Answers the exit code. */
export async function promoteVersion(
  client: ApiClient,
  model: string,
  version: string,
  options: PromoteOptions,
): Promise<number> {
  const path = `/api/v1/strategies/${encodeURIComponent(model)}/promote`;
  const reply = await postChecked<PromoteReply>(client, path, {
    version,
    ...(options.comment === undefined ? {} : { comment: options.comment }),
    ...expectedProduction(options.expect),
    ...(options.challenge === undefined ? {} : { challenge_id: options.challenge }),
    ...(options.force ? { force: true } : {}),
    ...waiverOf(options),
  });
  if (!reply) return 1;
  console.log(reply.message);
  printWarnings(reply);
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
  return 0;
}
