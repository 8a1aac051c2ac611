import * as z from 'zod';
import { MIN_TRADES, NO_POLICY, ReleasePolicy } from '#contract/release-policy.ts';

const Settings = z.strictObject({
  stage: z.enum(['dev', 'test', 'prod']),
  /** Target account and region. Absent: those of the deploying credentials. */
  env: z.strictObject({ account: z.string().regex(/^\d{12}$/), region: z.string().min(1) }).optional(),
  /** Every call needs a token. If false, a token is optional and verified when sent. */
  authRequired: z.boolean(),
  /** Issuer of tokens: a new user pool of this deployment, an existing one, or none (every token is rejected). */
  identity: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('none') }),
    z.strictObject({
      kind: z.literal('own'),
      /** Cognito's sign-in pages for browser applications. Absent: no pages and no domain. */
      hostedUi: z
        .strictObject({
          /** Prefix of `https://{domainPrefix}.auth.{region}.amazoncognito.com`, unique in the region. */
          domainPrefix: z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/),
          callbackUrls: z.array(z.url({ protocol: /^https$/ })).min(1),
        })
        .optional(),
    }),
    z.strictObject({
      kind: z.literal('existing'),
      userPoolId: z.string(),
      clientId: z.string().min(1),
      region: z.string(),
    }),
  ]),
  /** Tables, buckets and stacks are protected from deletion, and are retained when their stack is deleted. */
  protect: z.boolean(),
  /**
   * Network of backtests and hyperopt workers. `public`: public subnets and addresses, no inbound connections, no fixed cost.
   * `isolated`: outbound only to endpoints of AWS services, about 44 USD per month in two zones.
   */
  network: z.enum(['public', 'isolated']),
  /** A web application firewall before the APIs: about 14 USD per month and 0.60 USD per million requests. */
  firewall: z.boolean(),
  /** Rate limits of the firewall: 100 requests per minute per token, 20 per address without a token. Adds 4 USD per month. */
  rateLimits: z.boolean().default(false),
  /** Private DNS name under which data collection runs: `data-collection.{namespace}:8002`. */
  namespace: z.string().min(1),
  /** URL of an existing data collection service on the internet; it replaces the deployed service. */
  dataCollectionUrl: z.url({ protocol: /^https?$/ }).optional(),
  defaultExchange: z.string().min(1),
  /** Other callers of the data proxy: accounts, which can then allow any of their roles, or single roles by ARN. */
  trustedCallers: z.array(
    z.string().regex(/^(\d{12}|arn:aws(-[a-z]+)*:iam::\d{12}:role\/[\w+=,.@/-]{1,512})$/),
  ),
  trustedOrganization: z
    .string()
    .regex(/^o-[a-z0-9]{10,32}$/)
    .optional(),
  /**
   * Allowed registries for images of registered versions: `registry` or `registry/folder`, such as
   * `111122223333.dkr.ecr.eu-central-1.amazonaws.com/strategies`. Empty: any registry; for ECR this account and region.
   */
  allowedRegistries: z.array(z.string().regex(/^[a-z0-9.-]+(:\d+)?(\/[a-z0-9._-]+)*$/)),
  /** Promote only versions whose validation passed. */
  stagingDryRunRequired: z.boolean(),
  /** The user who registered a version cannot promote it (four-eyes principle). A rollback needs one person only. */
  fourEyesRequired: z.boolean().default(false),
  /** Minimum closed trades per variant before a challenger can win, regardless of the challenge's own `min_trades`. */
  challengeMinTrades: z.int().min(100).max(1_000_000).default(100),
  /** Minimum duration of a challenge before its verdict, hours. */
  challengeMinHours: z.int().min(0).max(8760).default(0),
  /** Minimum assignments per variant before the verdict; `min_trades`: as many as its required closed trades. */
  challengeMinAssignments: z.union([z.literal(MIN_TRADES), z.int().min(0).max(1_000_000)]).default(0),
  /** Thresholds that every version must pass to be staged and promoted. */
  releasePolicy: ReleasePolicy.default(NO_POLICY),
  /** A rollback requires a reason. */
  rollbackReasonRequired: z.boolean().default(false),
  /** Slots of the job queue: concurrent backtests and concurrent hyperopt jobs. A new account has 6 vCPU on Fargate, for all tasks. */
  maxRunning: z.strictObject({ backtest: z.int().min(1).max(10_000), hyperopt: z.int().min(1).max(1_000) }),
  /** Size of a backtest task. Memory needed: about 3 x 8 bytes x (5 + indicators) x candles of all pairs. */
  backtestTask: z.strictObject({ cpu: z.int(), memoryMiB: z.int() }),
  /** Size of a hyperopt worker's task: it runs one trial per vCPU; trials share only the candles. */
  hyperoptTask: z.strictObject({ cpu: z.int(), memoryMiB: z.int() }),
  /**
   * Concurrent executions reserved for event streams, which is also their limit: each viewer of a hyperopt job uses one.
   * Default: none reserved. The account's quota must be at least 100 higher.
   */
  liveViewers: z.int().min(1).optional(),
  /** Data collection on Fargate Spot: 6 USD per month less. AWS may interrupt it, and ECS starts another task when Spot has capacity. */
  dataCollectionSpot: z.boolean().default(false),
  /** Container Insights of the cluster: CPU, memory and network of each task family, 7.50 USD per month. */
  containerInsights: z.boolean(),
  /** Alarms of docs/runbook.md, 4.70 USD per month. If false, the dashboard shows most of their metrics. */
  alarms: z.boolean(),
  /** Address subscribed to the topic of all alarms. */
  alarmEmail: z.email().optional(),
  logLevel: z.enum(['DEBUG', 'INFO', 'WARN', 'ERROR']),
  logRetentionDays: z.union([z.literal(14), z.literal(30), z.literal(90), z.literal(365)]),
});

/** All differences between stages. */
export const StageConfig = Settings.refine(({ stage, authRequired }) => stage !== 'prod' || authRequired, {
  path: ['authRequired'],
  message: 'must be true in prod',
})
  .refine(({ authRequired, identity }) => !authRequired || identity.kind !== 'none', {
    path: ['identity'],
    message: 'authRequired needs users: give identity the kind own or existing',
  })
  .refine(
    ({ identity }) => identity.kind !== 'existing' || identity.userPoolId.startsWith(`${identity.region}_`),
    { path: ['identity', 'region'], message: 'is not the region with which userPoolId begins' },
  )
  .refine(({ firewall, rateLimits }) => firewall || !rateLimits, {
    path: ['rateLimits'],
    message: 'are rules of the firewall: set it too',
  })
  .refine(({ alarms, alarmEmail }) => alarms || !alarmEmail, {
    path: ['alarmEmail'],
    message: 'receives alarms: set alarms too',
  });
export type StageConfig = z.infer<typeof StageConfig>;

const STAGES: Readonly<Record<StageConfig['stage'], z.input<typeof StageConfig>>> = {
  dev: {
    stage: 'dev',
    authRequired: false,
    identity: { kind: 'none' },
    protect: false,
    network: 'public',
    firewall: false,
    namespace: 'touchstone-dev.internal',
    defaultExchange: 'binanceusdm',
    trustedCallers: [],
    allowedRegistries: [],
    stagingDryRunRequired: false,
    maxRunning: { backtest: 6, hyperopt: 1 },
    backtestTask: { cpu: 1024, memoryMiB: 4096 },
    hyperoptTask: { cpu: 4096, memoryMiB: 16_384 },
    dataCollectionSpot: true,
    containerInsights: false,
    alarms: false,
    logLevel: 'DEBUG',
    logRetentionDays: 14,
  },
  test: {
    stage: 'test',
    authRequired: true,
    identity: { kind: 'own' },
    protect: false,
    network: 'public',
    firewall: false,
    namespace: 'touchstone-test.internal',
    defaultExchange: 'binanceusdm',
    trustedCallers: [],
    allowedRegistries: [],
    stagingDryRunRequired: true,
    maxRunning: { backtest: 6, hyperopt: 1 },
    backtestTask: { cpu: 1024, memoryMiB: 4096 },
    hyperoptTask: { cpu: 4096, memoryMiB: 16_384 },
    containerInsights: false,
    alarms: true,
    logLevel: 'INFO',
    logRetentionDays: 30,
  },
  prod: {
    stage: 'prod',
    authRequired: true,
    identity: { kind: 'own' },
    protect: true,
    network: 'isolated',
    firewall: true,
    namespace: 'touchstone.internal',
    defaultExchange: 'binanceusdm',
    trustedCallers: [],
    allowedRegistries: [],
    stagingDryRunRequired: true,
    challengeMinHours: 24,
    challengeMinAssignments: 'min_trades',
    releasePolicy: { minTrades: 30, minDays: 90, maxEvidenceAgeDays: 180, lookAheadCertificate: true },
    maxRunning: { backtest: 100, hyperopt: 10 },
    backtestTask: { cpu: 1024, memoryMiB: 4096 },
    hyperoptTask: { cpu: 4096, memoryMiB: 16_384 },
    liveViewers: 100,
    containerInsights: true,
    alarms: true,
    logLevel: 'INFO',
    logRetentionDays: 365,
  },
};

export const STAGE_NAMES = Object.keys(STAGES) as StageConfig['stage'][];

/** The validated configuration of a stage. Throws for an unknown name, listing the known ones. */
export function stageConfig(name: string): StageConfig {
  if (!Object.hasOwn(STAGES, name)) {
    throw new Error(`Unknown stage "${name}". Use -c stage=${STAGE_NAMES.join('|')}`);
  }
  return StageConfig.parse(STAGES[name as StageConfig['stage']]);
}

/** The stage's name in entry points: `production` enforces authentication. */
export function environmentOf(config: StageConfig): 'development' | 'production' {
  return config.authRequired ? 'production' : 'development';
}
