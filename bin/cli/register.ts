import type { RegisterReply } from '#contract/registry-api.ts';
import { checkTable, printWarnings } from './checks.ts';
import { type ApiClient, ApiError } from './client.ts';
import { number, table } from './format.ts';

export interface RegisterOptions {
  readonly run: string;
  readonly image: string;
  readonly description?: string;
  readonly tag: readonly string[];
  readonly minSharpe?: number;
  readonly minProfitFactor?: number;
  readonly maxDrawdown?: number;
  readonly skipValidation?: boolean;
}

/** Registers a backtest as the next version; a missed threshold is shown with its metric. Answers the exit code. */
export async function registerVersion(
  client: ApiClient,
  strategy: string,
  options: RegisterOptions,
): Promise<number> {
  try {
    const reply = await client.post<RegisterReply>(
      `/api/v1/strategies/${encodeURIComponent(strategy)}/register`,
      requestOf(options),
    );
    console.log(reply.message);
    const policy = reply.validation.checks.filter(({ name }) => name !== 'thresholds');
    if (policy.some(({ status }) => status === 'failed')) console.log(checkTable(policy));
    printWarnings({ warnings: reply.warnings?.filter((each) => !each.startsWith('release policy: ')) ?? [] });
    const { model_name, version, validation } = reply;
    if (validation.status !== 'failed') console.log(`Next: npx touchstone stage ${model_name} ${version}`);
    return 0;
  } catch (error) {
    if (!(error instanceof ApiError) || !Array.isArray(error.context.failures)) throw error;
    console.error(error.summary);
    console.error(failureTable(error.context.failures as Failure[]));
    return 1;
  }
}

function requestOf(options: RegisterOptions) {
  const thresholds = {
    ...(options.minSharpe === undefined ? {} : { min_sharpe: options.minSharpe }),
    ...(options.minProfitFactor === undefined ? {} : { min_profit_factor: options.minProfitFactor }),
    ...(options.maxDrawdown === undefined ? {} : { max_drawdown: options.maxDrawdown }),
  };
  return {
    backtest_run_id: options.run,
    container_image_uri: options.image,
    ...(options.description === undefined ? {} : { description: options.description }),
    ...(options.tag.length > 0 ? { tags: [...options.tag] } : {}),
    ...(options.skipValidation ? { skip_validation: true } : {}),
    ...(Object.keys(thresholds).length > 0 ? { thresholds } : {}),
  };
}

interface Failure {
  readonly metric: string;
  readonly value: number | null;
  readonly threshold: number;
}

function failureTable(failures: readonly Failure[]): string {
  return table(
    ['Metric', 'Value', 'Threshold'],
    failures.map(({ metric, value, threshold }) => [metric, number(value), number(threshold)]),
  );
}
