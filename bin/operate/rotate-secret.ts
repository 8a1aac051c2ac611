/** Replaces the tokens of the data proxy, of the canary and of CloudFront: `npm run rotate-secret -- --stage prod`. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { stackName } from '#lib/settings/stage-names.ts';

const run = promisify(execFile);

const USAGE = `usage: npm run rotate-secret -- --stage dev|test|prod [--instance NAME]

Replaces the tokens of the data proxy at data collection, of the canary at the backend and of CloudFront at the services without a rejected request. Takes about ten minutes. Needs the AWS command
line with credentials and a region. If it fails, run it again.`;

/** Stack parameter that selects the tokens which are sent: lib/parts/service-tokens.ts. */
const PARAMETER = 'ServiceTokenSlot';
const SLOTS = ['1', '2'] as const;
type Slot = (typeof SLOTS)[number];

/** Longest call of the proxy, plus a margin: its calls with the earlier token have ended then. */
const DRAIN_MS = 75_000;
const POLL_MS = 10_000;
/** Replacing a task takes two minutes; traffic shifting of the proxy up to `trafficShift.minutes`. */
const LIMIT_MS = 3 * 60 * 60_000;

/**
 * Calls an operation of AWS as `aws {service} {operation}` does, with its input and output as JSON.
 *
 * @throws Error with the message of AWS
 */
export type Aws = <Output>(service: string, operation: string, input: object) => Promise<Output>;

export interface RotationOptions {
  readonly aws: Aws;
  readonly log: (line: string) => void;
  readonly wait: (ms: number) => Promise<unknown>;
}

interface Stack {
  readonly StackName: string;
  readonly StackStatus: string;
  readonly Parameters?: readonly { readonly ParameterKey: string; readonly ParameterValue: string }[];
  readonly Outputs?: readonly { readonly OutputKey: string; readonly OutputValue: string }[];
}

interface Task {
  readonly startedBy: string;
  readonly lastStatus: string;
}

interface ServiceDeployment {
  readonly id: string;
  readonly status: string;
  readonly rolloutState?: string;
}

/** Data collection, which reads its tokens when a task starts. */
interface Collection {
  readonly cluster: string;
  readonly service: string;
}

interface Deployment {
  readonly slot: Slot;
  /** ARNs of the two tokens of each sender. */
  readonly pairs: readonly Readonly<Record<Slot, string>>[];
  /** Undefined with `dataCollectionUrl`. */
  readonly collection: Collection | undefined;
}

/** A secret that this rotation replaced, and the version that it wrote. */
interface Replaced {
  readonly secret: string;
  readonly version: string;
}

/**
 * Gives the unused slot new tokens, restarts data collection, which then accepts its one, and switches the senders. The update of the
 * stack gives the backend the canary's new token before the canary. Then the other slot gets new tokens, and data collection is
 * restarted again, which then rejects the earlier token. The tokens in use never change, so the rotation can end at any step: the
 * next one starts from the slot that the stack's parameter names.
 *
 * @throws Error that says what to do; the proxy's token is then still accepted
 */
export async function rotateServiceTokens(stackName: string, options: RotationOptions): Promise<void> {
  const { aws, log, wait } = options;
  const before = await findDeployment(stackName, options);
  const used = before.slot;
  const unused = used === '1' ? '2' : '1';
  log(`Token ${used} is in use. Waiting for calls with an earlier token to end.`);
  // A rotation that died may have switched a moment ago.
  await wait(DRAIN_MS);

  const replaced = await replaceTokens(aws, before, unused);
  log(`Replaced token ${unused}. Restarting data collection, which accepts both.`);
  if (before.collection) await restart(before.collection, options);

  await checkAlone(aws, stackName, used, replaced);
  log(`Switching to token ${unused}.`);
  await switchSlot(stackName, unused, options);
  log('Waiting for calls with the earlier token to end.');
  await wait(DRAIN_MS);

  const last = await replaceTokens(aws, before, used);
  log(`Replaced token ${used}. Restarting data collection, which then rejects the earlier token.`);
  await checkAlone(aws, stackName, unused, last);
  if (before.collection) await restart(before.collection, options);
  log('Done. Earlier versions of the data proxy have a rejected token: do not roll back to them.');
}

async function describe(aws: Aws, StackName: string): Promise<Stack> {
  const { Stacks } = await aws<{ Stacks: Stack[] }>('cloudformation', 'describe-stacks', { StackName });
  return Stacks[0]!;
}

/** Waits for the end of an update and returns the stack. */
function settled(name: string, { aws, wait }: RotationOptions): Promise<Stack> {
  return poll(wait, `stack ${name} did not finish its update`, async () => {
    const stack = await describe(aws, name);
    return stack.StackStatus.endsWith('_IN_PROGRESS') ? undefined : stack;
  });
}

async function findDeployment(name: string, options: RotationOptions): Promise<Deployment> {
  const stack = await settled(name, options);
  const output = (key: string) => stack.Outputs?.find(({ OutputKey }) => OutputKey === key)?.OutputValue;
  const pairs = ['ServiceToken', 'CanaryToken', 'OriginToken'].flatMap((prefix) => {
    const [first, second] = [output(`${prefix}Arn1`), output(`${prefix}Arn2`)];
    return first && second ? [{ 1: first, 2: second }] : [];
  });
  if (pairs.length === 0) {
    throw new Error(
      `Stack ${name} has no output ServiceTokenArn1. Deploy the stage first; with dataCollectionUrl and without a canary and a dashboard there is no token to rotate.`,
    );
  }
  const [cluster, service] = [output('DataCollectionCluster'), output('DataCollectionService')];
  return { slot: slotOf(stack), pairs, collection: cluster && service ? { cluster, service } : undefined };
}

function slotOf({ Parameters = [], StackName }: Stack): Slot {
  const value = Parameters.find(({ ParameterKey }) => ParameterKey === PARAMETER)?.ParameterValue;
  const slot = SLOTS.find((each) => each === value);
  if (slot) return slot;
  throw new Error(`Parameter ${PARAMETER} of stack ${StackName} is ${value}. Deploy the stage first.`);
}

/** Gives the secrets of a slot random values. */
async function replaceTokens(aws: Aws, { pairs }: Deployment, slot: Slot): Promise<Replaced[]> {
  const replaced: Replaced[] = [];
  for (const { [slot]: secret } of pairs) {
    const input = { SecretId: secret, SecretString: randomBytes(48).toString('base64url') };
    const { VersionId } = await aws<{ VersionId: string }>('secretsmanager', 'put-secret-value', input);
    replaced.push({ secret, version: VersionId });
  }
  return replaced;
}

/** Throws when another rotation or a deployment changed what this one relies on. */
async function checkAlone(
  aws: Aws,
  stackName: string,
  slot: Slot,
  replaced: readonly Replaced[],
): Promise<void> {
  const stack = await describe(aws, stackName);
  const areCurrent = await Promise.all(replaced.map((each) => isCurrent(aws, each)));
  const isAlone = areCurrent.every(Boolean) && slotOf(stack) === slot;
  if (isAlone && !stack.StackStatus.endsWith('_IN_PROGRESS')) return;
  throw new Error(
    `Another rotation or a deployment of ${stackName} is running. Wait for its end, then run this again.`,
  );
}

async function isCurrent(aws: Aws, { secret, version }: Replaced): Promise<boolean> {
  const { VersionIdsToStages } = await aws<{ VersionIdsToStages: Record<string, string[]> }>(
    'secretsmanager',
    'describe-secret',
    { SecretId: secret },
  );
  return VersionIdsToStages[version]?.includes('AWSCURRENT') ?? false;
}

/** Replaces the tasks of data collection and waits until every earlier task has ended. */
async function restart({ cluster, service }: Collection, { aws, wait }: RotationOptions): Promise<void> {
  type Service = { deployments: ServiceDeployment[] };
  const update = { cluster, service, forceNewDeployment: true };
  const updated = await aws<{ service: Service }>('ecs', 'update-service', update);
  const started = updated.service.deployments.find(({ status }) => status === 'PRIMARY')!;
  await poll(wait, 'data collection did not replace its tasks', async () => {
    const input = { cluster, services: [service] };
    const { services } = await aws<{ services: Service[] }>('ecs', 'describe-services', input);
    const deployment = services[0]!.deployments.find(({ id }) => id === started.id);
    if (deployment === undefined || deployment.rolloutState === 'FAILED') {
      throw new Error(
        'ECS ended the new deployment of data collection, or another one replaced it. The data proxy keeps its token, which stays valid. See the events of the service, then run this again.',
      );
    }
    if (deployment.rolloutState !== 'COMPLETED') return undefined;
    const earlier = (await tasksOf(aws, cluster, service)).filter(
      ({ startedBy, lastStatus }) => startedBy !== started.id && lastStatus !== 'STOPPED',
    );
    return earlier.length === 0 ? true : undefined;
  });
}

/** Tasks of a service, also those that are stopping. */
async function tasksOf(aws: Aws, cluster: string, serviceName: string): Promise<Task[]> {
  const listed = await Promise.all(
    ['RUNNING', 'STOPPED'].map((desiredStatus) =>
      aws<{ taskArns: string[] }>('ecs', 'list-tasks', { cluster, serviceName, desiredStatus }),
    ),
  );
  const arns = listed.flatMap(({ taskArns }) => taskArns);
  if (arns.length === 0) return [];
  // As many as one call describes.
  const input = { cluster, tasks: arns.slice(0, 100) };
  const { tasks } = await aws<{ tasks: Task[] }>('ecs', 'describe-tasks', input);
  return tasks;
}

/** Updates the stack's parameter, and nothing else. */
async function switchSlot(StackName: string, slot: Slot, options: RotationOptions): Promise<void> {
  const { Parameters = [] } = await describe(options.aws, StackName);
  await options.aws('cloudformation', 'update-stack', {
    StackName,
    UsePreviousTemplate: true,
    Capabilities: ['CAPABILITY_NAMED_IAM', 'CAPABILITY_AUTO_EXPAND'],
    Parameters: Parameters.map(({ ParameterKey }) =>
      ParameterKey === PARAMETER
        ? { ParameterKey, ParameterValue: slot }
        : { ParameterKey, UsePreviousValue: true },
    ),
  });
  const { StackStatus } = await settled(StackName, options);
  if (StackStatus === 'UPDATE_COMPLETE') return;
  throw new Error(
    `The update of stack ${StackName} ended with ${StackStatus}. The data proxy keeps its token, which stays valid. See the events of the stack, then run this again.`,
  );
}

/** Repeats `read` until it returns a value. Throws after the time limit. */
async function poll<T>(
  wait: RotationOptions['wait'],
  problem: string,
  read: () => Promise<T | undefined>,
): Promise<T> {
  for (let waited = 0; waited < LIMIT_MS; waited += POLL_MS) {
    const value = await read();
    if (value !== undefined) return value;
    await wait(POLL_MS);
  }
  throw new Error(`Within ${LIMIT_MS / 60_000} minutes ${problem}. Fix the cause, then run this again.`);
}

/**
 * The AWS command line. Its input, which may hold a token, is in a file that only this user can read: the arguments of a process
 * are visible to other users.
 */
export const commandLine: Aws = async (service, operation, input) => {
  const folder = await mkdtemp(join(tmpdir(), 'touchstone-rotate-'));
  const file = join(folder, 'input.json');
  try {
    await writeFile(file, JSON.stringify(input), { mode: 0o600 });
    const args = [service, operation, '--cli-input-json', `file://${file}`, '--output', 'json'];
    const { stdout } = await run('aws', args, { env: { ...process.env, AWS_PAGER: '' } });
    return JSON.parse(stdout || '{}');
  } catch (error) {
    const { code, stderr } = error as NodeJS.ErrnoException & { stderr?: string };
    if (code === 'ENOENT') throw new Error('The AWS command line (aws) is not installed. Install it.');
    throw new Error(`aws ${service} ${operation} failed: ${stderr?.trim() || (error as Error).message}`);
  } finally {
    await rm(folder, { recursive: true });
  }
};

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      stage: { type: 'string' },
      instance: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return console.log(USAGE);
  const { stage, instance } = values;
  if (!stage) throw new Error(`--stage is missing.\n\n${USAGE}`);
  await rotateServiceTokens(stackName({ stage, instance }, 'platform'), {
    aws: commandLine,
    log: console.log,
    wait: sleep,
  });
}

if (import.meta.main) {
  await main().catch((error: Error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
