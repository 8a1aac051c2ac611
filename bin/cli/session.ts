import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Command } from 'commander';
import { LocalEnv } from '#contract/env/env.ts';
import { TOUCHSTONE } from '#contract/values/names.ts';
import { readEnv } from '#runtime/env.ts';
import { PLATFORM_FILE, type PlatformInfo } from '../../src/local/platform-info.ts';
import type { PlatformOptions } from '../../src/local/platform-options.ts';
import { ApiClient } from './client.ts';
import { UsageError } from './options.ts';

/** Where a command sends its requests. */
export interface Session {
  readonly client: ApiClient;
  /** The platform in local mode; null for a deployed service. */
  readonly platform: PlatformInfo | null;
  /** The platform was started for this command and stops with it. */
  readonly temporary: boolean;
}

export type RunInSession = <T>(work: (session: Session) => Promise<T>) => Promise<T>;

export interface ProgramOptions {
  readonly url?: string;
  readonly strategyUrl?: string;
  readonly session?: string;
}

const ADDRESSES = {
  backend: 'backend_url',
  strategy: 'strategy_service_url',
  data_collection: 'data_collection_url',
} as const;
export type Service = keyof typeof ADDRESSES;

/** What a platform that is started for a command needs beyond the environment's options. */
type PrepareOptions = () => Promise<Partial<PlatformOptions>>;

/** Runs work against the service at the address that the program's options name, else in local mode. */
export function sessionWith(
  program: Command,
  service: Service = 'backend',
  prepare?: PrepareOptions,
): RunInSession {
  return async (command) => {
    const { url, strategyUrl, session } = program.opts<ProgramOptions>();
    const work: typeof command = (opened) => {
      opened.client.trialSession = session || undefined;
      return command(opened);
    };
    if (service === 'backend') return withSession(url, work, service, prepare);
    if (service === 'data_collection') {
      if (!url) return withSession(process.env.DATA_COLLECTION_URL || undefined, work, service);
      throw new UsageError(
        'This command calls the data collection service. Leave out --url; set DATA_COLLECTION_URL for a deployed service.',
      );
    }
    if (!url || strategyUrl) return withSession(strategyUrl, work, service);
    throw new UsageError('This command calls the strategy service. Pass its address: --strategy-url <url>');
  };
}

/** The token that commands send, if there is one. */
export const userToken = () => process.env.TOUCHSTONE_TOKEN || undefined;

/** Longest wait for a platform that another command starts or stops, ms. */
const WAIT_FOR_OTHER_MS = 30_000;
const POLL_MS = 100;

/** Runs `work` against the service at `url`; without one, against the platform on this data folder, started if it is not running. */
export async function withSession<T>(
  url: string | undefined,
  work: (session: Session) => Promise<T>,
  service: Service = 'backend',
  prepare?: PrepareOptions,
): Promise<T> {
  if (url)
    return sourced({ client: new ApiClient(url, userToken()), platform: null, temporary: false }, work);
  const env = readEnv(LocalEnv);
  let options: PlatformOptions | undefined;
  const { running, opened } = await openHome(env.TOUCHSTONE_HOME, async () => {
    // Loaded only here: the platform takes longer to load than most commands to run.
    const { startPlatform } = await import('../../src/local/platform.ts');
    const { platformOptions } = await import('../../src/local/platform-options.ts');
    options ??= {
      ...platformOptions(env),
      ports: { backend: 0, strategy: 0, dataCollection: 0 },
      ...(await prepare?.()),
    };
    return startPlatform(options);
  });
  if (running) return sourced(sessionOn(running, service, false), work);
  try {
    return await sourced(sessionOn(opened.info, service, true), work);
  } finally {
    await opened.stop();
  }
}

type Home<T> =
  | { readonly running: PlatformInfo; readonly opened?: never }
  | { readonly running?: never; readonly opened: T };

/** The platform that runs on the data folder, else what `open` opens there. It waits for one that another command starts or stops. */
async function openHome<T>(home: string, open: () => Promise<T>): Promise<Home<T>> {
  const deadline = Date.now() + WAIT_FOR_OTHER_MS;
  for (;;) {
    const running = await runningPlatform(home);
    if (running) return { running };
    const { DataFolderInUseError } = await import('#adapters/local/data-folder.ts');
    try {
      return { opened: await open() };
    } catch (error) {
      if (!(error instanceof DataFolderInUseError) || Date.now() > deadline) throw error;
    }
    await setTimeout(POLL_MS);
  }
}

/** What a command needs that reads and writes the data folder without a service. */
export type StorageSession = Pick<PlatformInfo, 'exchange' | 'storage'>;

/** Runs `work` on the storage of the platform on this data folder; without a running one, on the storage only. */
export async function withStorage<T>(work: (storage: StorageSession) => Promise<T>): Promise<T> {
  const env = readEnv(LocalEnv);
  const { running, opened } = await openHome(env.TOUCHSTONE_HOME, async () => {
    // A platform would take longer to load than a file of candles to read.
    const { openStorage } = await import('../../src/local/storage.ts');
    return openStorage({
      home: env.TOUCHSTONE_HOME,
      dynamodbEndpoint: env.DYNAMODB_ENDPOINT,
      logLevel: env.LOG_LEVEL,
    });
  });
  if (running) return sourced(sessionOn(running, 'backend', false), () => work(running));
  try {
    return await sourced(null, () => work({ exchange: env.DEFAULT_EXCHANGE, storage: opened.storage }));
  } finally {
    await opened.stop();
  }
}

function sessionOn(platform: PlatformInfo, service: Service, temporary: boolean): Session {
  // Without an issuer the platform cannot verify tokens and rejects all of them.
  const token = platform.issuer_url ? userToken() : undefined;
  return { client: new ApiClient(platform[ADDRESSES[service]], token), platform, temporary };
}

/**
 * Runs work, and states on a terminal where its numbers come from, unless the work has stated it.
 * @param session null: the data folder without a platform
 */
async function sourced<T, S extends Session | null>(
  session: S,
  work: (session: S) => Promise<T>,
): Promise<T> {
  const done = await work(session);
  if (process.stderr.isTTY && !isSourceStated && !process.argv.includes('--json')) {
    console.error(`Source: ${sourceText(session)}`);
  }
  return done;
}

/** The command has printed the source of its numbers. */
let isSourceStated = false;

/** The service and the data behind printed numbers. */
export function sourceText(session: Session | null): string {
  isSourceStated = true;
  if (session && !session.platform) return session.client.baseUrl;
  const path = resolve(readEnv(LocalEnv).TOUCHSTONE_HOME);
  const inside = relative(process.cwd(), path);
  const home = inside.startsWith('..') ? path : inside || '.';
  if (!session) return `data folder ${home}`;
  return session.temporary
    ? `data folder ${home}, on a platform that ran for this command`
    : `data folder ${home}, platform at ${session.client.baseUrl}`;
}

/** The platform that runs on a data folder; null without one that responds. */
export async function runningPlatform(home: string): Promise<PlatformInfo | null> {
  try {
    const info = JSON.parse(readFileSync(join(home, PLATFORM_FILE), 'utf8')) as PlatformInfo;
    const health = await fetch(`${info.backend_url}/api/v1/health`, { signal: AbortSignal.timeout(5_000) });
    return health.ok ? info : null;
  } catch {
    return null;
  }
}

/** Exit code of a command that Ctrl-C ended, as shells have it. */
export const INTERRUPTED = 130;

/** States that a job or challenge continues without being watched, and the command to watch it again. */
export function resumeHint({ temporary }: Session, command: string): string {
  return temporary
    ? `The platform stops with this command. To resume, run npm start or: ${TOUCHSTONE} ${command}`
    : `It continues. To watch it again: ${TOUCHSTONE} ${command}`;
}
