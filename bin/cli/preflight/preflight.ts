import type { StageConfig } from '#lib/settings/config.ts';
import { Account, AwsError, elements } from './account.ts';
import {
  bootstrapLines,
  callerLines,
  certificateLines,
  distributionLines,
  functionQuotaLines,
  leftoverLines,
  logRoleLines,
  networkQuotaLines,
  roleLines,
  stackLine,
  stackRegions,
  stacksOf,
  type Target,
  taskQuotaLines,
} from './checks.ts';
import { fix, type Line, linesOf, ok, unread } from './line.ts';

/** Checks after the account and the stacks are known, each with what its line names if AWS rejects the call. */
const CHECKS: readonly (readonly [string, (target: Target) => Promise<readonly Line[]>])[] = [
  ['bootstrap', bootstrapLines],
  ['roles', roleLines],
  ["API Gateway's role for logs", logRoleLines],
  ['Lambda: concurrent executions', functionQuotaLines],
  ['Fargate: vCPU', taskQuotaLines],
  ['VPCs of the region', networkQuotaLines],
  ['certificates', certificateLines],
  ['callers', callerLines],
  ['names that must be free', leftoverLines],
  ['CloudFront', distributionLines],
];

/**
 * Lines about what the deployment of a stage needs, from an account that it only reads.
 *
 * @throws Error without credentials or a region
 */
export async function preflight(
  config: StageConfig,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly Line[]> {
  const region = config.env?.region ?? env.AWS_REGION ?? env.AWS_DEFAULT_REGION;
  if (!region) throw new Error(`The region is not known: set env of ${config.stage}, or AWS_REGION.`);
  const aws = new Account(region, env.AWS_ENDPOINT_URL);
  const account = await accountOf(aws);
  const subject = 'account';
  if (config.env && config.env.account !== account) {
    const found = `the credentials are those of ${account}`;
    return [fix(subject, found, `use credentials of ${config.env.account}, or correct env`)];
  }
  const regions = stackRegions(config, region);
  const stacks = await stacksOf(aws, regions).catch((error: unknown) => {
    if (error instanceof AwsError) return unread('stacks', error);
    throw error;
  });
  if ('state' in stacks) return [ok(subject, `${account}, ${region}`), stacks];
  const target = { config, aws, account, stacks };
  const lines = await Promise.all(CHECKS.map(([what, read]) => linesOf(what, () => read(target))));
  return [
    ok(subject, `${account}, ${region}`),
    ...[...regions.keys()].map((name) => stackLine(name, stacks.get(name))),
    ...lines.flat(),
  ];
}

async function accountOf(aws: Account): Promise<string> {
  try {
    const [account] = elements(await aws.query('sts', 'GetCallerIdentity'), 'Account');
    return account!;
  } catch (error) {
    throw new Error(
      `AWS cannot be called with these credentials: ${(error as Error).message}. Sign in (aws sso login) or set AWS_PROFILE, check the network, then run this again.`,
    );
  }
}
