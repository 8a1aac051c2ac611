import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startProcess } from './processes.ts';

const LAUNCHER = join(import.meta.dirname, 'emulator');
const REQUIREMENTS = 'test/rehearsal/emulator/requirements.txt';
/** Fails with one sentence unless this is a Python with the packages, and with the moto that the emulator patches. */
const PROBE = `
import importlib.metadata, sys
if sys.version_info < (3, 11): sys.exit("Python 3.11 or later is needed, not " + sys.version.split()[0])
import moto.server, cfnlint, jsonschema
wanted, found = sys.argv[1], importlib.metadata.version("moto")
if found != wanted: sys.exit(f"moto {wanted} is needed, not {found}")
`;
/** Python with the packages of emulator/requirements.txt. */
const PYTHON = process.env.PYTHON ?? 'python3';
export const REGION = 'us-east-1';
/** Account of the emulator: moto's default. */
export const ACCOUNT = '123456789012';

interface EmulatedStack {
  readonly status: string;
  readonly outputs: Readonly<Record<string, string>>;
  /** By logical ID. */
  readonly resources: Readonly<Record<string, { readonly type: string; readonly physical: string }>>;
}

/** What the emulator did; see emulator/report.py. */
export interface EmulatorReport {
  /** `stub`: nothing was created. */
  readonly resources: readonly {
    readonly stack: string;
    readonly id: string;
    readonly type: string;
    readonly made: 'moto' | 'service' | 'stub' | 'quiet';
  }[];
  readonly findings: readonly {
    readonly stack: string;
    readonly id: string;
    readonly type: string;
    readonly kind: 'schema' | 'create' | 'update' | 'delete';
    readonly text: string;
  }[];
  readonly invocations: readonly { readonly function: string; readonly error: unknown }[];
  /** ECS tasks that have ended. */
  readonly tasks: readonly {
    readonly program: string;
    readonly definition: string;
    readonly exit_code: number | null;
  }[];
  readonly stacks: Readonly<Record<string, EmulatedStack>>;
}

export interface Emulator {
  readonly endpoint: string;
  /** Region of its clients. */
  readonly region: string;
  /** Environment with which AWS's clients, the AWS CLI and the CDK CLI reach the emulator, and nothing else. */
  readonly env: Readonly<Record<string, string>>;
  report(): Promise<EmulatorReport>;
  /** What the emulator printed. */
  log(): string;
  /** Resolves when the emulator has ended. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** Why the emulator cannot run here; undefined where it can. */
export function missingForEmulator(): string | undefined {
  const pinned = /^moto\S*==(\S+)/m.exec(readFileSync(join(LAUNCHER, 'requirements.txt'), 'utf8'))![1]!;
  const { error, status, stderr } = spawnSync(PYTHON, ['-c', PROBE, pinned], { encoding: 'utf8' });
  if (error) return `${PYTHON} cannot be started. Install Python 3.11 or later, or name it in PYTHON.`;
  if (status === 0) return undefined;
  const reason = stderr.trim().split('\n').at(-1);
  return `${PYTHON}: ${reason}. Install ${REQUIREMENTS} with pip, or name a Python that has it in PYTHON.`;
}

/**
 * Starts an empty account on loopback. It ends when `stop` is called, at the latest with this process.
 *
 * @throws Error with the end of its log if it does not start
 */
export async function startEmulator({ port = 0 } = {}): Promise<Emulator> {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-emulator-'));
  const logFile = join(folder, 'emulator.log');
  const child = startProcess(PYTHON, [LAUNCHER, '--port', String(port), '--node', process.execPath], {
    stdio: ['pipe', 'pipe', openSync(logFile, 'w')],
    env: { ...process.env, TMPDIR: folder, AWS_DEFAULT_REGION: REGION },
  });
  const ended = once(child, 'exit').then(() => undefined);
  const line = await Promise.race([
    once(createInterface(child.stdout!), 'line').then(([text]) => Number(text)),
    ended,
  ]);
  const log = () => readFileSync(logFile, 'utf8');
  if (!line) {
    const text = log().trim();
    rmSync(folder, { recursive: true, force: true });
    throw new Error(`The emulator did not start:\n${text.slice(-2000)}`);
  }
  const endpoint = `http://127.0.0.1:${line}`;
  return {
    endpoint,
    region: REGION,
    env: environmentOf(endpoint, REGION),
    report: async () => (await (await fetch(`${endpoint}/moto-api/rehearsal`)).json()) as EmulatorReport,
    log,
    ended,
    stop: async () => {
      child.stdin!.end();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The same emulator for clients of another region. Its report has the stacks of the first region only. */
export function inRegion(emulator: Emulator, region: string): Emulator {
  return { ...emulator, region, env: environmentOf(emulator.endpoint, region) };
}

function environmentOf(endpoint: string, region: string): Record<string, string> {
  return {
    AWS_ENDPOINT_URL: endpoint,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_PAGER: '',
  };
}

/** Configuration of a client of AWS's SDK. */
export function clientConfig({ endpoint, region }: Emulator) {
  return { endpoint, region, credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };
}

/** Header by which the emulator finds the service of a call. It verifies no signature. */
export function authorizationOf(service: string): string {
  const scope = `test/20260101/${REGION}/${service}/aws4_request`;
  return `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=none`;
}

/** Calls a JSON API of the emulator that has no client among the dependencies of this project. */
export async function getJson<T>(emulator: Emulator, service: string, path: string): Promise<T> {
  const headers = { authorization: authorizationOf(service) };
  const response = await fetch(`${emulator.endpoint}${path}`, { headers });
  if (!response.ok) throw new Error(`${service} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

/** Calls an API of the emulator whose parameters are a form, and returns the response's text. */
export async function query(
  { endpoint }: Emulator,
  service: string,
  Action: string,
  parameters: Readonly<Record<string, string>>,
): Promise<string> {
  const headers = { authorization: authorizationOf(service) };
  const body = new URLSearchParams({ Action, ...parameters });
  const response = await fetch(endpoint, { method: 'POST', headers, body });
  const text = await response.text();
  if (!response.ok) throw new Error(`${Action}: ${response.status} ${text.slice(0, 500)}`);
  return text;
}

/** Posts to the emulator's own endpoints. */
export async function postJson<T>({ endpoint }: Emulator, path: string, body: unknown): Promise<T> {
  const response = await fetch(`${endpoint}${path}`, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${(await response.text()).slice(-2000)}`);
  return (await response.json()) as T;
}
