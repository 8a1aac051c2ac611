import { Campaign, type CampaignOptions, type CampaignResult } from './campaign.ts';
import { startTarget, type Target } from './target.ts';

/** Allowed growth of the platform's memory during a campaign, MB. */
const MEMORY_GROWTH_MB = 400;

export interface FuzzResult extends CampaignResult {
  readonly enforced: boolean;
  /** Problems of the platform after the campaign. */
  readonly ailments: readonly string[];
  readonly memoryMb: { readonly before: number; readonly after: number };
}

/** Starts a platform, fuzzes it and checks its state afterwards. */
export async function fuzzPlatform(enforced: boolean, options: CampaignOptions): Promise<FuzzResult> {
  const target = await startTarget(enforced);
  try {
    const before = target.memoryMb();
    const result = await new Campaign(target, options).run();
    const after = target.memoryMb();
    const grown = after - before > MEMORY_GROWTH_MB ? [`memory grew from ${before} to ${after} MB`] : [];
    return {
      ...result,
      enforced,
      memoryMb: { before, after },
      ailments: [...grown, ...(await ailmentsOf(target))],
    };
  } finally {
    await target.stop();
  }
}

async function ailmentsOf(target: Target): Promise<string[]> {
  const states = await Promise.all(
    target.services.map(async ({ base }) => {
      const response = await fetch(`${base}/api/v1/health`).catch((error: Error) => error);
      if (response instanceof Error) return [`${base} does not respond: ${response.message}`];
      const { status } = (await response.json()) as { status: string };
      return response.status === 200 && status === 'healthy'
        ? []
        : [`${base} is ${response.status} ${status}`];
    }),
  );
  return [...states.flat(), ...target.serverErrors().map((line) => `log: ${line.slice(0, 1000)}`)];
}
