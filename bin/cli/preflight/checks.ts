import type { StageConfig } from '#lib/settings/config.ts';
import { proxyParameterName, stackName } from '#lib/settings/stage-names.ts';
import { type Account, AwsError, elements } from './account.ts';
import { check, fix, type Line, ok } from './line.ts';

/** Stage to deploy, and where. */
export interface Target {
  readonly config: StageConfig;
  readonly aws: Account;
  /** Twelve digits. */
  readonly account: string;
  /** States of the stage's stacks that exist, by their name. */
  readonly stacks: ReadonlyMap<string, Stack>;
}

export interface Stack {
  readonly status: string;
  readonly isProtected: boolean;
}

/** True for a stack whose resources exist. One that failed at its creation, or waits for it, has none that count. */
function isDeployed(stack: Stack | undefined): boolean {
  return stack !== undefined && /^(CREATE_COMPLETE|UPDATE_|IMPORT_COMPLETE)/.test(stack.status);
}

/** Oldest version of the bootstrap stack that the templates accept. */
const MIN_BOOTSTRAP = 6;
/** Concurrent executions that Lambda leaves to functions without a reservation. */
const UNRESERVED = 100;
/** Concurrent requests of an open dashboard and the functions behind it. */
const REQUESTS = 10;
const DEFAULT_QUALIFIER = 'hnb659fds';
const REQUEST = 'request more in Service Quotas';

/** Value of a call; undefined if AWS does not have the thing. */
async function found<T>(call: Promise<T>, ...missing: readonly string[]): Promise<T | undefined> {
  return call.catch((error: unknown) => {
    if (error instanceof AwsError && missing.some((code) => error.code.includes(code))) return undefined;
    throw error;
  });
}

const DELETE = (name: string) => `aws cloudformation delete-stack --stack-name ${name}`;
const LIFT = (name: string) =>
  `aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name ${name}`;

/** States in which CloudFormation accepts no update, and what ends them. */
export function stackLine(name: string, stack: Stack | undefined): Line {
  const subject = `stack ${name}`;
  if (!stack) return ok(subject, 'does not exist yet');
  const { status, isProtected } = stack;
  if (status.endsWith('_IN_PROGRESS') && status !== 'REVIEW_IN_PROGRESS') {
    return fix(subject, status, 'wait until it ends');
  }
  if (status === 'UPDATE_ROLLBACK_FAILED') {
    return fix(subject, status, `aws cloudformation continue-update-rollback --stack-name ${name}`);
  }
  if (/^(ROLLBACK_|CREATE_FAILED|DELETE_FAILED)/.test(status)) {
    if (isProtected) return fix(subject, `${status}, and is protected`, LIFT(name));
    return status === 'ROLLBACK_COMPLETE'
      ? ok(subject, `${status}: the deployment replaces it`)
      : fix(subject, status, DELETE(name));
  }
  return ok(subject, status);
}

/** Names of the stage's stacks, and the region of each. */
export function stackRegions(config: StageConfig, region: string): Map<string, string> {
  const copies = config.backup?.copyToRegion;
  return new Map([
    ...(copies ? [[stackName(config, 'copies'), copies] as const] : []),
    [stackName(config, 'data'), region],
    [stackName(config, 'platform'), region],
  ]);
}

/** Reads those of the stacks that exist. */
export async function stacksOf(
  aws: Account,
  regions: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, Stack>> {
  const read = [...regions].map(async ([StackName, region]): Promise<[string, Stack] | undefined> => {
    const call = aws.in(region).query('cloudformation', 'DescribeStacks', { StackName });
    const xml = await found(call, 'ValidationError');
    const [status] = elements(xml ?? '', 'StackStatus');
    if (xml === undefined || status === undefined || status === 'DELETE_COMPLETE') return undefined;
    return [
      StackName,
      { status, isProtected: elements(xml, 'EnableTerminationProtection').includes('true') },
    ];
  });
  return new Map((await Promise.all(read)).filter((each) => each !== undefined));
}

/** Bootstrap stacks of all regions of the stage. */
export async function bootstrapLines({ config, aws, account }: Target): Promise<Line[]> {
  const regions = new Set(stackRegions(config, aws.region).values());
  return Promise.all([...regions].map((region) => bootstrapLine(config, aws.in(region), account)));
}

async function bootstrapLine(config: StageConfig, aws: Account, account: string): Promise<Line> {
  const qualifier = config.bootstrapQualifier ?? DEFAULT_QUALIFIER;
  const subject = `bootstrap of ${aws.region}`;
  const option = config.bootstrapQualifier ? ` --qualifier ${qualifier}` : '';
  const advice = `npx cdk bootstrap${option} aws://${account}/${aws.region} --cloudformation-execution-policies arn:aws:iam::${account}:policy/touchstone-deploy`;
  const Name = `/cdk-bootstrap/${qualifier}/version`;
  const parameter = await found(
    aws.json<{ Parameter: { Value: string } }>('ssm', 'GetParameter', { Name }),
    'ParameterNotFound',
  );
  if (!parameter) return fix(subject, `${Name} does not exist`, advice);
  const version = Number(parameter.Parameter.Value);
  return version >= MIN_BOOTSTRAP
    ? ok(subject, `version ${version}`)
    : fix(subject, `version ${version}, and ${MIN_BOOTSTRAP} is needed`, advice);
}

const ACCOUNT_TEMPLATE = 'deploy/account.json (docs/deploy.md, step 2)';

export async function roleLines({ config, aws, account }: Target): Promise<Line[]> {
  const ecs = await found(aws.query('iam', 'GetRole', { RoleName: 'AWSServiceRoleForECS' }), 'NoSuchEntity');
  const lines = [
    ecs === undefined
      ? fix('role of ECS', 'does not exist', `deploy ${ACCOUNT_TEMPLATE} with EcsServiceRole=create`)
      : ok('role of ECS', 'exists'),
  ];
  const { permissionsBoundary: name } = config;
  if (name) {
    const PolicyArn = `arn:${partitionOf(aws)}:iam::${account}:policy/${name}`;
    const policy = await found(aws.query('iam', 'GetPolicy', { PolicyArn }), 'NoSuchEntity');
    lines.push(
      policy === undefined
        ? fix(
            `boundary ${name}`,
            'does not exist',
            `deploy ${ACCOUNT_TEMPLATE}, or correct permissionsBoundary`,
          )
        : ok(`boundary ${name}`, 'exists'),
    );
  }
  return lines;
}

/** The account's role for logs of API Gateway, which a deployment sets or relies on. */
export async function logRoleLines({ config, aws, stacks }: Target): Promise<Line[]> {
  const subject = "API Gateway's role for logs";
  const { cloudwatchRoleArn: arn } = JSON.parse(await aws.get('apigateway', 'GetAccount', '/account')) as {
    cloudwatchRoleArn?: string;
  };
  const owner = [...stacks.keys()].find((name) => arn?.includes(`:role/${name}-`));
  if (config.apiGatewayLogRole === 'existing') {
    return [
      arn
        ? ok(subject, arn)
        : fix(
            subject,
            'the account has none',
            'set one with aws apigateway update-account, or remove apiGatewayLogRole',
          ),
    ];
  }
  return [
    arn && !owner
      ? check(
          subject,
          `the account has ${arn}, which a deployment replaces for all its APIs`,
          'to keep it, set "apiGatewayLogRole": "existing"',
        )
      : ok(subject, arn ?? 'the deployment sets it'),
  ];
}

/** Executions that functions of the stage reserve: event streams of two functions, and the data proxy. */
function reservedExecutions({ liveViewers = 0, proxyConcurrency = 0 }: StageConfig): number {
  return 2 * liveViewers + proxyConcurrency;
}

export async function functionQuotaLines({ config, aws, stacks }: Target): Promise<Line[]> {
  const subject = 'Lambda: concurrent executions';
  const { AccountLimit } = JSON.parse(
    await aws.get('lambda', 'GetAccountSettings', '/2016-08-19/account-settings/'),
  ) as { AccountLimit: { ConcurrentExecutions: number; UnreservedConcurrentExecutions: number } };
  const { ConcurrentExecutions: quota, UnreservedConcurrentExecutions: unreserved } = AccountLimit;
  const reserved = reservedExecutions(config);
  // What a deployed stage has reserved is not among the unreserved ones.
  const available = isDeployed(stacks.get(stackName(config, 'platform'))) ? quota : unreserved;
  const needed = reserved + UNRESERVED;
  if (reserved > 0 && available < needed) {
    return [
      fix(
        subject,
        `${available} are available; the stage reserves ${reserved}, and Lambda keeps ${UNRESERVED}`,
        `${REQUEST} (lambda, L-B99A9384): at least ${quota - available + needed}; or set "liveViewers": null and "proxyConcurrency": null until then`,
      ),
    ];
  }
  const needs = config.maxRunning.fast + REQUESTS;
  return [
    available - reserved < needs
      ? check(
          subject,
          `${available - reserved} remain for requests and maxRunning.fast (${config.maxRunning.fast})`,
          `${REQUEST} (lambda, L-B99A9384), or lower maxRunning.fast`,
        )
      : ok(subject, `${quota}, of which the stage reserves ${reserved}`),
  ];
}

async function quotaOf(aws: Account, ServiceCode: string, QuotaCode: string): Promise<number> {
  type Answer = { readonly Quota: { readonly Value: number } };
  const quota = { ServiceCode, QuotaCode };
  // Some quotas have no value of the account until one is requested.
  const own = await found(aws.json<Answer>('servicequotas', 'GetServiceQuota', quota), 'NoSuchResource');
  const { Quota } = own ?? (await aws.json<Answer>('servicequotas', 'GetAWSDefaultServiceQuota', quota));
  return Quota.Value;
}

export async function taskQuotaLines({ config, aws }: Target): Promise<Line[]> {
  const { maxRunning, backtestTask, hyperoptTask } = config;
  // A worker per hyperopt job, at least. Data collection is a quarter of a vCPU.
  const wanted = Math.ceil(
    (maxRunning.backtest * backtestTask.cpu + maxRunning.hyperopt * hyperoptTask.cpu + 256) / 1024,
  );
  const quotas = [
    ['on demand', 'L-3032A538'],
    ['Spot', 'L-36FBB829'],
  ] as const;
  return Promise.all(
    quotas.map(async ([name, code]) => {
      const quota = await quotaOf(aws, 'fargate', code);
      const subject = `Fargate: vCPU ${name}`;
      return quota < wanted
        ? check(
            subject,
            `${quota}; maxRunning uses up to ${wanted}`,
            `${REQUEST} (fargate, ${code}), or lower maxRunning: further jobs wait for capacity`,
          )
        : ok(subject, `${quota}; maxRunning uses up to ${wanted}`);
    }),
  );
}

export async function networkQuotaLines({ config, aws, stacks }: Target): Promise<Line[]> {
  const subject = 'VPCs of the region';
  const [quota, xml] = await Promise.all([
    quotaOf(aws, 'vpc', 'L-F678F1CE'),
    aws.query('ec2', 'DescribeVpcs'),
  ]);
  const used = elements(xml, 'vpcId').length;
  return [
    used >= quota && !isDeployed(stacks.get(stackName(config, 'platform')))
      ? fix(
          subject,
          `${used} of ${quota}, and the stage needs one`,
          `delete one, or ${REQUEST} (vpc, L-F678F1CE)`,
        )
      : ok(subject, `${used} of ${quota}`),
  ];
}

/** Names that each certificate must cover. */
function certificatesOf({ domain, web }: StageConfig) {
  return [
    ...(domain
      ? [{ arn: domain.certificateArn, names: [`backend.${domain.name}`, `strategy.${domain.name}`] }]
      : []),
    ...(web.enabled && web.domain ? [{ arn: web.domain.certificateArn, names: [web.domain.name] }] : []),
  ];
}

export function certificateLines({ config, aws }: Target): Promise<Line[]> {
  return Promise.all(certificatesOf(config).map(({ arn, names }) => certificateLine(aws, arn, names)));
}

async function certificateLine(aws: Account, arn: string, names: readonly string[]): Promise<Line> {
  const subject = `certificate of ${names.join(' and ')}`;
  const region = arn.split(':')[3]!;
  const described = await found(
    aws.in(region).json<{
      Certificate: { Status: string; DomainName: string; SubjectAlternativeNames?: string[] };
    }>('acm', 'DescribeCertificate', { CertificateArn: arn }),
    'ResourceNotFound',
  );
  if (!described) return fix(subject, `${arn} does not exist`, `request one in ${region}, and write its ARN`);
  const { Status, DomainName, SubjectAlternativeNames = [] } = described.Certificate;
  if (Status !== 'ISSUED') {
    return fix(
      subject,
      Status,
      'create the DNS record that ACM names for its validation, then wait for ISSUED',
    );
  }
  const covered = [DomainName, ...SubjectAlternativeNames];
  const missing = names.filter((name) => !covered.some((each) => covers(each, name)));
  return missing.length > 0
    ? fix(subject, `does not cover ${missing.join(' and ')}`, `request one in ${region} that does`)
    : ok(subject, `${Status} in ${region}`);
}

/** `*.example.com` covers names with one label more. */
function covers(pattern: string, name: string): boolean {
  return pattern === name || (pattern.startsWith('*.') && name.slice(name.indexOf('.')) === pattern.slice(1));
}

export function callerLines({ config, aws, account }: Target): Promise<Line[]> {
  const roles = config.trustedCallers.filter((caller) => caller.startsWith('arn:'));
  return Promise.all(
    roles.map(async (arn): Promise<Line> => {
      const subject = `caller ${arn}`;
      const RoleName = arn.slice(arn.lastIndexOf('/') + 1);
      if (arn.split(':')[4] !== account) {
        return check(
          subject,
          'is in another account, which these credentials do not show',
          `it must exist: aws iam get-role --role-name ${RoleName} with credentials of that account`,
        );
      }
      const xml = await found(aws.query('iam', 'GetRole', { RoleName }), 'NoSuchEntity');
      return elements(xml ?? '', 'Arn').includes(arn)
        ? ok(subject, 'exists')
        : fix(
            subject,
            'does not exist',
            'create the role, or remove it from trustedCallers and add it later',
          );
    }),
  );
}

/** Names that only one stack of the account can have. */
export async function leftoverLines({ config, aws, stacks }: Target): Promise<Line[]> {
  const { stage, backup } = config;
  const lines: Line[] = [];
  const Name = proxyParameterName(config);
  if (!isDeployed(stacks.get(stackName(config, 'platform')))) {
    const parameter = await found(aws.json('ssm', 'GetParameter', { Name }), 'ParameterNotFound');
    lines.push(
      parameter === undefined
        ? ok(`parameter ${Name}`, 'is free')
        : fix(`parameter ${Name}`, 'exists without the stack', `aws ssm delete-parameter --name ${Name}`),
    );
  }
  // The vault and its stack have one name.
  const vault = stackName(config, 'copies');
  if (backup?.copyToRegion && !isDeployed(stacks.get(vault))) {
    const there = aws.in(backup.copyToRegion);
    // A list: of a vault that does not exist AWS says that access is denied.
    const { BackupVaultList } = JSON.parse(
      await there.get('backup', 'ListBackupVaults', '/backup-vaults/?maxResults=1000'),
    ) as { BackupVaultList: readonly { readonly BackupVaultName: string }[] };
    const exists = BackupVaultList.some(({ BackupVaultName }) => BackupVaultName === vault);
    const subject = `vault ${vault} in ${backup.copyToRegion}`;
    const adopt = `npx cdk deploy ${vault} -c stage=${stage} --import-existing-resources`;
    lines.push(
      exists
        ? fix(subject, 'exists without its stack', `${adopt} adopts it; or delete it if it is empty`)
        : ok(subject, 'is free'),
    );
  }
  return lines;
}

/** A new account may not create distributions, and no call shows it. */
export async function distributionLines({ config, stacks }: Target): Promise<Line[]> {
  if (!config.web.enabled || isDeployed(stacks.get(stackName(config, 'platform')))) return [];
  return [
    check(
      'CloudFront',
      'a new account may have to be verified before it creates distributions',
      'ask AWS Support, or set "web": { "enabled": false } until then',
    ),
  ];
}

function partitionOf({ region }: Account): string {
  return region.startsWith('cn-') ? 'aws-cn' : 'aws';
}
