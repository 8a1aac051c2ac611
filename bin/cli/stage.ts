import type { ModelVersionDetail, StageReply } from '#contract/registry-api.ts';
import type { StoredVersion } from '#contract/stored-registry.ts';
import { checkTable, postChecked, printWarnings, type WaiveOptions, waiverOf } from './checks.ts';
import type { ApiClient } from './client.ts';

export interface StageOptions extends WaiveOptions {
  readonly comment?: string;
  readonly check?: boolean;
  readonly skipValidation?: boolean;
  readonly wait: boolean;
}

type Validation = StoredVersion['validation'];

const POLL_MS = 500;

/**
 * Stages a version and prints its check list, once the checks that need a task have ended unless told not to wait.
 * Answers the exit code: 0 unless a check failed.
 */
export async function stageVersion(
  client: ApiClient,
  model: string,
  version: string,
  options: StageOptions,
): Promise<number> {
  const reply = await postChecked<StageReply>(
    client,
    `/api/v1/strategies/${encodeURIComponent(model)}/stage`,
    {
      version,
      ...(options.comment === undefined ? {} : { comment: options.comment }),
      ...(options.check ? { validate_only: true } : {}),
      ...(options.skipValidation ? { skip_validation: true } : {}),
      ...waiverOf(options),
    },
  );
  if (!reply) return 1;
  console.log(reply.message);
  printWarnings(reply);
  const follow = options.wait && !options.check && reply.validation.status === 'pending';
  return printValidation(follow ? await validationOf(client, reply) : reply.validation);
}

/** The validation of a staged version when it is decided. */
async function validationOf(
  client: ApiClient,
  { model_name, version }: { readonly model_name: string; readonly version: string },
): Promise<Validation> {
  console.log('Waiting for the checks that need a run');
  for (;;) {
    const { validation } = await client.get<ModelVersionDetail>(
      `/api/v1/models/${encodeURIComponent(model_name)}/versions/${version}`,
    );
    if (validation.status !== 'pending') return validation;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function printValidation({ status, checks }: Validation): number {
  if (checks.length > 0) console.log(checkTable(checks));
  console.log(`Validation: ${status}`);
  return status === 'failed' ? 1 : 0;
}
