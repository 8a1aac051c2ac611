import * as z from 'zod';

const Settings = z.strictObject({
  stage: z.enum(['dev', 'test', 'prod']),
  /** Where to deploy. Absent: the account and region of the credentials that deploy. */
  env: z.strictObject({ account: z.string().regex(/^\d{12}$/), region: z.string().min(1) }).optional(),
  /** Every call needs a token. Otherwise a token is optional, and verified when sent. */
  authRequired: z.boolean(),
  /**
   * Who issues tokens: a user pool of this deployment, one that exists, or nobody (every token is refused then).
   */
  identity: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('none') }),
    z.strictObject({ kind: z.literal('own') }),
    z.strictObject({
      kind: z.literal('existing'),
      userPoolId: z.string(),
      clientId: z.string().min(1),
      region: z.string(),
    }),
  ]),
  /** Tables, buckets and stacks refuse to be deleted, and outlive their stack. */
  protect: z.boolean(),
  /**
   * Where backtests run. `public`: public subnets, a public address, no way in: nothing fixed to pay.
   * `isolated`: no way out but the endpoints of AWS services: about 44 USD a month in two zones.
   */
  network: z.enum(['public', 'isolated']),
  /** A web application firewall before the API: about 8 USD a month and 0.60 USD a million requests. */
  firewall: z.boolean(),
  /** Private DNS name under which data collection runs: `data-collection.{namespace}:8002`. */
  namespace: z.string().min(1),
  /** A data collection service that exists, reachable over the internet: then none is deployed. */
  dataCollectionUrl: z.url({ protocol: /^https?$/ }).optional(),
  defaultExchange: z.string().min(1),
  /** Who else may invoke the data proxy. */
  trustedAccounts: z.array(z.string().regex(/^\d{12}$/)),
  trustedOrganization: z
    .string()
    .regex(/^o-[a-z0-9]{10,32}$/)
    .optional(),
  /**
   * Where images of registered versions may come from: `registry` or `registry/folder`, such as
   * `111122223333.dkr.ecr.eu-central-1.amazonaws.com/strategies`. Empty: from anywhere, of ECR from this account and region.
   */
  allowedRegistries: z.array(z.string().regex(/^[a-z0-9.-]+(:\d+)?(\/[a-z0-9._-]+)*$/)),
  /** Promote only versions whose validation passed. */
  stagingDryRunRequired: z.boolean(),
  /** Whoever registered a version may not promote it. Rolling back stays a matter of one person. */
  fourEyesRequired: z.boolean().default(false),
  /** A rollback needs a reason. */
  rollbackReasonRequired: z.boolean().default(false),
  /** Size of a backtest's task: memory holds about 8 bytes x (5 + indicators) x candles of all pairs, three times over. */
  backtestTask: z.strictObject({ cpu: z.int(), memoryMiB: z.int() }),
  /** Subscribed to the topic of all alarms. */
  alarmEmail: z.email().optional(),
  logLevel: z.enum(['DEBUG', 'INFO', 'WARN', 'ERROR']),
  logRetentionDays: z.union([z.literal(14), z.literal(30), z.literal(90), z.literal(365)]),
});

/** Everything in which the stages differ. What is not here is the same everywhere. */
export const StageConfig = Settings.refine(
  ({ authRequired, identity }) => !authRequired || identity.kind !== 'none',
  { path: ['identity'], message: 'authRequired needs users: give identity the kind own or existing' },
).refine(
  ({ identity }) => identity.kind !== 'existing' || identity.userPoolId.startsWith(`${identity.region}_`),
  { path: ['identity', 'region'], message: 'is not the region with which userPoolId begins' },
);
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
    trustedAccounts: [],
    allowedRegistries: [],
    stagingDryRunRequired: false,
    backtestTask: { cpu: 1024, memoryMiB: 4096 },
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
    trustedAccounts: [],
    allowedRegistries: [],
    stagingDryRunRequired: true,
    backtestTask: { cpu: 1024, memoryMiB: 4096 },
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
    trustedAccounts: [],
    allowedRegistries: [],
    stagingDryRunRequired: true,
    backtestTask: { cpu: 1024, memoryMiB: 4096 },
    logLevel: 'INFO',
    logRetentionDays: 365,
  },
};

/** The configuration of a stage, validated. Throws for an unknown name, with the known ones. */
export function stageConfig(name: string): StageConfig {
  if (!Object.hasOwn(STAGES, name)) {
    throw new Error(`Unknown stage "${name}". Use -c stage=${Object.keys(STAGES).join('|')}`);
  }
  return StageConfig.parse(STAGES[name as StageConfig['stage']]);
}

/** What entry points call the stage: `production` is the name that enforces authentication. */
export function environmentOf(config: StageConfig): 'development' | 'production' {
  return config.authRequired ? 'production' : 'development';
}
