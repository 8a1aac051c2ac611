import * as z from 'zod';
import { ReleasePolicy } from '#contract/registry/release-policy.ts';
import { DEFAULT_RELEASE_RULES } from '#contract/registry/release-rules.ts';
import { MIN_TRADES } from '#contract/values/challenge-limits.ts';
import { accessSettings } from './access-settings.ts';
import { alarmSettings, checkReceivers } from './alarm-settings.ts';
import { checkRestored, dataSettings } from './data-settings.ts';
import { deploymentSettings } from './deployment-settings.ts';
import { SettingsError, validated } from './settings-errors.ts';
import { mergePatch, patchOf } from './settings-patch.ts';
import { checkWeb, webSettings } from './web-settings.ts';

/** Sizes of Fargate from half a vCPU on: units of 1/1024 vCPU -> least and greatest memory and its step, GiB. */
const FARGATE_SIZES = {
  512: [1, 4, 1],
  1024: [2, 8, 1],
  2048: [4, 16, 1],
  4096: [8, 30, 1],
  8192: [16, 60, 4],
  16384: [32, 120, 8],
} as const;
type Cpu = keyof typeof FARGATE_SIZES;

const TaskSize = z
  .strictObject({ cpu: z.literal(Object.keys(FARGATE_SIZES).map(Number) as Cpu[]), memoryMiB: z.int() })
  .check(({ value: { cpu, memoryMiB }, issues }) => {
    const [least, greatest, step] = FARGATE_SIZES[cpu].map((gib) => gib * 1024) as [number, number, number];
    if (memoryMiB >= least && memoryMiB <= greatest && memoryMiB % step === 0) return;
    const message = `is ${memoryMiB}, which Fargate does not offer with cpu ${cpu}: write ${least} to ${greatest} in steps of ${step}`;
    issues.push({ code: 'custom', path: ['memoryMiB'], message, input: memoryMiB });
  });

/** Every setting of a stage. Descriptions are part of touchstone.config.schema.json. */
const Settings = z.strictObject({
  stage: z.enum(['dev', 'test', 'prod']),
  env: z
    .strictObject({
      account: z.string().regex(/^\d{12}$/, 'write the 12 digits of the account in quotes'),
      region: z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'write a region such as "eu-central-1"'),
    })
    .optional()
    .describe('Target account and region. Absent: those of the deploying credentials.'),
  ...accessSettings,
  protect: z
    .boolean()
    .describe(
      'Tables, buckets and stacks are protected from deletion, and are retained when their stack is deleted.',
    ),
  ...dataSettings,
  ...deploymentSettings,
  ...webSettings,
  network: z
    .enum(['public', 'isolated'])
    .describe(
      'Network of backtests and hyperopt workers. `public`: public subnets and addresses, no inbound connections, no fixed cost. `isolated`: outbound only to endpoints of AWS services, about 44 USD per month in two zones.',
    ),
  allowForeignImages: z
    .boolean()
    .default(false)
    .describe(
      'Run images of registered versions in a public network, where their code reaches the internet. An isolated network always runs them.',
    ),
  firewall: z
    .boolean()
    .describe(
      'A web application firewall before the APIs: about 14 USD per month and 0.60 USD per million requests.',
    ),
  rateLimits: z
    .boolean()
    .default(false)
    .describe(
      'Rate limits of the firewall: 100 requests per minute per token, 20 per address without a token. Adds 4 USD per month, 6 with the dashboard.',
    ),
  namespace: z
    .string()
    .max(200)
    .regex(
      /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
      'write a DNS name such as "touchstone.internal"',
    )
    .describe('Private DNS name under which data collection runs: `data-collection.{namespace}:8002`.'),
  dataCollectionUrl: z
    .url({ protocol: /^https?$/, error: 'write a URL with http or https' })
    .optional()
    .describe(
      'URL of an existing data collection service on the internet; it replaces the deployed service.',
    ),
  defaultExchange: z.string().min(1).describe('Exchange of backtests that name none, as ccxt names it.'),
  trustedCallers: z
    .array(
      z
        .string()
        .regex(
          /^(\d{12}|arn:aws(-[a-z]+)*:iam::\d{12}:role\/[\w+=,.@/-]{1,512})$/,
          'write the 12 digits of an account or the ARN of a role, in quotes',
        ),
    )
    .describe(
      'Other callers of the data proxy: accounts, which can then allow any of their roles, or single roles by ARN.',
    ),
  trustedOrganization: z
    .string()
    .regex(/^o-[a-z0-9]{10,32}$/, 'write the ID of an organization, such as "o-a1b2c3d4e5"')
    .optional()
    .describe('AWS organization whose accounts may invoke the data proxy.'),
  allowedRegistries: z
    .array(
      z
        .string()
        .regex(
          /^[a-z0-9.-]+(:\d+)?(\/[a-z0-9._-]+)*$/,
          'write `registry` or `registry/folder`, without https://',
        ),
    )
    .describe(
      'Allowed registries for images of registered versions: `registry` or `registry/folder`, such as `111122223333.dkr.ecr.eu-central-1.amazonaws.com/strategies`. Empty: any registry; for ECR this account and region.',
    ),
  stagingDryRunRequired: z.boolean().describe('Promote only versions whose validation passed.'),
  fourEyesRequired: z
    .boolean()
    .default(DEFAULT_RELEASE_RULES.fourEyesRequired)
    .describe(
      'The user who registered a version cannot promote it (four-eyes principle). A rollback needs one person only.',
    ),
  challengeMinTrades: z
    .int()
    .min(100)
    .max(1_000_000)
    .default(DEFAULT_RELEASE_RULES.challengeMinTrades)
    .describe(
      "Minimum closed trades per variant before a challenger can win, regardless of the challenge's own `min_trades`.",
    ),
  challengeMinHours: z
    .int()
    .min(0)
    .max(8760)
    .default(DEFAULT_RELEASE_RULES.challengeMinHours)
    .describe('Minimum duration of a challenge before its verdict, hours.'),
  challengeMinAssignments: z
    .union([z.literal(MIN_TRADES), z.int().min(0).max(1_000_000)], `write "${MIN_TRADES}" or an integer`)
    .default(DEFAULT_RELEASE_RULES.challengeMinAssignments)
    .describe(
      'Minimum assignments per variant before the verdict; `min_trades`: as many as its required closed trades.',
    ),
  challengeRequireAssignment: z
    .boolean()
    .default(DEFAULT_RELEASE_RULES.challengeRequireAssignment)
    .describe(
      'Default of `require_assignment` of a challenge: only trades count whose key was assigned before.',
    ),
  releasePolicy: ReleasePolicy.default(DEFAULT_RELEASE_RULES.releasePolicy).describe(
    'Thresholds that every version must pass to be staged and promoted.',
  ),
  rollbackReasonRequired: z
    .boolean()
    .default(DEFAULT_RELEASE_RULES.rollbackReasonRequired)
    .describe('A rollback requires a reason.'),
  maxRunning: z
    .strictObject({
      backtest: z.int().min(1).max(10_000),
      fast: z.int().min(0).max(10_000),
      hyperopt: z.int().min(1).max(1_000),
    })
    .describe(
      'Slots of the job queue: concurrent backtests on Fargate, concurrent backtests in functions (0: none), and concurrent hyperopt jobs. A new account has 6 vCPU on Fargate, for all tasks, and 10 concurrent executions of all functions.',
    ),
  fastLaneSeconds: z
    .int()
    .min(10)
    .max(200)
    .default(20)
    .describe(
      'Longest estimated duration of a backtest that runs in a function instead of a Fargate task, seconds. The time limit of the function is four times as long.',
    ),
  backtestTask: TaskSize.describe(
    'Size of a backtest task: units of 1/1024 vCPU, and MiB. Memory needed: about 3 x 8 bytes x (5 + indicators) x candles of all pairs.',
  ),
  hyperoptTask: TaskSize.describe(
    "Size of a hyperopt worker's task: it runs one trial per vCPU; trials share only the candles.",
  ),
  liveViewers: z
    .int()
    .min(1)
    .optional()
    .describe(
      "Concurrent executions reserved for each of the two functions that stream events, of hyperopt jobs and of all jobs, which is also their limit: each viewer uses one. Absent: none reserved. The account's quota must be at least 100 higher than all reservations together.",
    ),
  proxyConcurrency: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .describe(
      "Concurrent executions of the data proxy: reserved for it, and at most as many, so that callers of other accounts cannot use up the account's. Absent: none reserved, because a new account may have a quota of 10. The account's quota must be at least 100 higher than all reservations together.",
    ),
  dataCollectionSpot: z
    .boolean()
    .default(false)
    .describe(
      'Data collection on Fargate Spot: 6 USD per month less. AWS may interrupt it, and ECS starts another task when Spot has capacity.',
    ),
  containerInsights: z
    .boolean()
    .describe(
      'Container Insights of the cluster: CPU, memory and network of each task family, 7.50 USD per month.',
    ),
  ...alarmSettings,
  logLevel: z.enum(['DEBUG', 'INFO', 'WARN', 'ERROR']).describe('Least severe messages that are logged.'),
  logRetentionDays: z.literal([14, 30, 90, 365]).describe('Days after which log messages are deleted.'),
});

/** All differences between stages. Rules between settings: each names the setting to change. */
export const StageConfig = Settings.refine(({ stage, openAccess }) => stage !== 'prod' || !openAccess, {
  path: ['openAccess'],
  message: 'must be false in prod: remove it',
})
  .refine(({ openAccess, identity }) => openAccess || identity.kind !== 'none', {
    path: ['identity', 'kind'],
    message: 'is "none", so no token would be accepted: write "own" or "existing", or set openAccess',
  })
  .refine(
    ({ identity }) => identity.kind !== 'existing' || identity.userPoolId.startsWith(`${identity.region}_`),
    { path: ['identity', 'region'], message: 'is not the region with which userPoolId begins' },
  )
  .refine(({ identity, machineClients }) => identity.kind === 'own' || machineClients.length === 0, {
    path: ['machineClients'],
    message: 'are clients of the pool of this deployment: write "own" as identity.kind, or remove them',
  })
  .refine(
    ({ machineClients }) => new Set(machineClients.map(({ name }) => name)).size === machineClients.length,
    {
      path: ['machineClients'],
      message: 'have one name twice: give each another name',
    },
  )
  .refine(({ domain, env }) => !domain || !env || domain.certificateArn.split(':')[3] === env.region, {
    path: ['domain', 'certificateArn'],
    message: 'is of another region than env: write a certificate of the region of the stage',
  })
  .refine(({ firewall, rateLimits }) => firewall || !rateLimits, {
    path: ['rateLimits'],
    message: 'are rules of the firewall: set it too',
  })
  .refine(({ alarms, trafficShift }) => alarms || !trafficShift, {
    path: ['trafficShift'],
    message: 'is stopped by alarms: set alarms too',
  })
  .check(checkReceivers)
  .check(checkRestored)
  .refine(({ alarms, canary }) => alarms || !canary, {
    path: ['canary'],
    message: 'fires alarms: set alarms too',
  })
  .refine(({ backup, env }) => !backup?.copyToRegion || (env && env.region !== backup.copyToRegion), {
    path: ['backup', 'copyToRegion'],
    message: 'must differ from the region of env: set env too',
  })
  .check(checkWeb);
export type StageConfig = z.infer<typeof StageConfig>;

const STAGES: Readonly<Record<StageConfig['stage'], z.input<typeof StageConfig>>> = {
  dev: {
    stage: 'dev',
    identity: { kind: 'own' },
    protect: false,
    retention: { results: 90, trials: 90, jobs: 365, accessLog: 90 },
    network: 'public',
    firewall: false,
    namespace: 'touchstone-dev.internal',
    defaultExchange: 'binanceusdm',
    trustedCallers: [],
    allowedRegistries: [],
    stagingDryRunRequired: false,
    maxRunning: { backtest: 6, fast: 3, hyperopt: 1 },
    backtestTask: { cpu: 1024, memoryMiB: 4096 },
    hyperoptTask: { cpu: 4096, memoryMiB: 16_384 },
    dataCollectionSpot: true,
    containerInsights: false,
    alarms: false,
    canary: false,
    logLevel: 'DEBUG',
    logRetentionDays: 14,
  },
  test: {
    stage: 'test',
    identity: { kind: 'own' },
    protect: false,
    retention: { accessLog: 90 },
    network: 'isolated',
    firewall: false,
    namespace: 'touchstone-test.internal',
    defaultExchange: 'binanceusdm',
    trustedCallers: [],
    allowedRegistries: [],
    stagingDryRunRequired: true,
    maxRunning: { backtest: 6, fast: 3, hyperopt: 1 },
    backtestTask: { cpu: 1024, memoryMiB: 4096 },
    hyperoptTask: { cpu: 4096, memoryMiB: 16_384 },
    proxyConcurrency: 10,
    containerInsights: false,
    alarms: true,
    canary: true,
    trafficShift: { percent: 10, minutes: 5 },
    logLevel: 'INFO',
    logRetentionDays: 30,
  },
  prod: {
    stage: 'prod',
    identity: { kind: 'own' },
    protect: true,
    retention: { accessLog: 90 },
    tierResultsAfterDays: 30,
    backup: { dailyDays: 35, monthlyDays: 365 },
    network: 'isolated',
    firewall: true,
    namespace: 'touchstone.internal',
    defaultExchange: 'binanceusdm',
    trustedCallers: [],
    allowedRegistries: [],
    stagingDryRunRequired: true,
    challengeMinHours: 24,
    challengeMinAssignments: 'min_trades',
    challengeRequireAssignment: true,
    releasePolicy: { minTrades: 30, minDays: 90, maxEvidenceAgeDays: 180, lookAheadCertificate: true },
    maxRunning: { backtest: 100, fast: 50, hyperopt: 10 },
    backtestTask: { cpu: 1024, memoryMiB: 4096 },
    hyperoptTask: { cpu: 4096, memoryMiB: 16_384 },
    liveViewers: 100,
    proxyConcurrency: 50,
    containerInsights: true,
    alarms: true,
    canary: true,
    trafficShift: { percent: 10, minutes: 5 },
    monthlyBudgetUsd: 500,
    logLevel: 'INFO',
    logRetentionDays: 365,
  },
};

export type StageName = StageConfig['stage'];
export const STAGE_NAMES = Object.keys(STAGES) as StageName[];

/** Changes of a stage's defaults: see {@link mergePatch}. */
export const StageChanges = patchOf(Settings.omit({ stage: true })).meta({ id: 'StageSettings' });

/**
 * The settings of a stage: its defaults, changed as a section of the settings file says.
 * @throws SettingsError that names every wrong setting.
 */
export function stageConfig(name: string, changes: unknown = {}): StageConfig {
  const stage = stageNamed(name);
  return validated(StageConfig, mergePatch(STAGES[stage], changes), ['stages', stage]);
}

/** Settings without a default, which only the installer knows. Prices and tests do without them. */
const Deployable = StageConfig.refine(({ stage, env }) => stage !== 'prod' || env, {
  path: ['env'],
  message:
    'is missing: write the account and region of prod, such as { "account": "111122223333", "region": "eu-central-1" }',
}).refine(
  ({ stage, alarms, alarmEmail, alarmTopicArn }) =>
    stage !== 'prod' || (alarms && (alarmEmail || alarmTopicArn)),
  {
    path: ['alarmEmail'],
    message:
      'is missing: prod needs alarms and somebody to notify. Write an address, such as "desk@example.com", or alarmTopicArn with the ARN of an SNS topic',
  },
);

/** @throws SettingsError for settings with which a stage may not be deployed. */
export function checkDeployable(config: StageConfig): void {
  validated(Deployable, config, ['stages', config.stage]);
}

/** @throws SettingsError for an unknown name, listing the known ones. */
export function stageNamed(name: string): StageName {
  if (Object.hasOwn(STAGES, name)) return name as StageName;
  throw new SettingsError([`Unknown stage "${name}". Use -c stage=${STAGE_NAMES.join('|')}`]);
}

/** The stage's name in entry points: `production` enforces authentication. */
export function environmentOf(config: StageConfig): 'development' | 'production' {
  return config.openAccess ? 'development' : 'production';
}

/** True where images of registered versions may not run: their code would reach the internet. */
export function rejectsImages({ network, allowForeignImages }: StageConfig): boolean {
  return network === 'public' && !allowForeignImages;
}
