import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LocalEnv } from '#contract/env.ts';
import { readEnv } from '#runtime/env.ts';
import { PLATFORM_FILE, type PlatformInfo } from '../../src/local/platform-info.ts';
import { ApiClient } from './client.ts';
import { UsageError } from './usage.ts';

/** Where commands send their requests, and where imported data goes. */
export interface Session {
  /** Of the service that was asked for. */
  readonly client: ApiClient;
  /** The platform's own storage, when it runs on this machine. */
  readonly platform: PlatformInfo | null;
  /** Whether that platform was started for the occasion, and what it runs stops with the command. */
  readonly temporary: boolean;
}

/** Options that say which deployed services are meant. */
export interface Addresses {
  readonly url?: string;
  readonly strategyUrl?: string;
}

/** The strategy service's address; undefined: this machine's. Throws {@link UsageError} where only the backend's is given. */
export function strategyAddress({ url, strategyUrl }: Addresses, what: string): string | undefined {
  if (!url || strategyUrl) return strategyUrl;
  throw new UsageError(`${what} is answered by the strategy service: give its address with --strategy-url`);
}

const ADDRESSES = {
  backend: 'backend_url',
  strategy: 'strategy_service_url',
  data_collection: 'data_collection_url',
} as const;

/** Of whom to call as; absent where nobody asks. */
export const userToken = () => process.env.TOUCHSTONE_TOKEN || undefined;

/**
 * Runs `work` against the service at `url`; without one, against the platform that runs on this data folder,
 * or one started for the occasion on free ports and stopped afterwards.
 */
export async function withSession<T>(
  url: string | undefined,
  work: (session: Session) => Promise<T>,
  service: keyof typeof ADDRESSES = 'backend',
): Promise<T> {
  if (url) return work({ client: new ApiClient(url, userToken()), platform: null, temporary: false });
  const env = readEnv(LocalEnv);
  const running = await runningPlatform(env.TOUCHSTONE_HOME);
  if (running) return work(sessionOn(running, service, false));
  // The whole platform, with its database and exchanges: it takes longer to load than most commands to run.
  const { startPlatform } = await import('../../src/local/platform.ts');
  const { platformOptions } = await import('../../src/local/platform-options.ts');
  const platform = await startPlatform({
    ...platformOptions(env),
    ports: { backend: 0, strategy: 0, dataCollection: 0 },
  });
  try {
    return await work(sessionOn(platform.info, service, true));
  } finally {
    await platform.stop();
  }
}

function sessionOn(platform: PlatformInfo, service: keyof typeof ADDRESSES, temporary: boolean): Session {
  // A platform that asks for no token can verify none, and refuses all.
  const token = platform.issuer_url ? userToken() : undefined;
  return { client: new ApiClient(platform[ADDRESSES[service]], token), platform, temporary };
}

async function runningPlatform(home: string): Promise<PlatformInfo | null> {
  try {
    const info = JSON.parse(readFileSync(join(home, PLATFORM_FILE), 'utf8')) as PlatformInfo;
    const health = await fetch(`${info.backend_url}/api/v1/health`, { signal: AbortSignal.timeout(5_000) });
    return health.ok ? info : null;
  } catch {
    return null;
  }
}
