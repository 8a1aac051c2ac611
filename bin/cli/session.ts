import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LocalEnv } from '#contract/env.ts';
import { readEnv } from '#runtime/env.ts';
import {
  PLATFORM_FILE,
  type PlatformInfo,
  platformOptions,
  startPlatform,
} from '../../src/local/platform.ts';
import { ApiClient } from './client.ts';

/** Where commands send their requests, and where imported data goes. */
export interface Session {
  readonly client: ApiClient;
  /** The platform's own storage, when it runs on this machine. */
  readonly platform: PlatformInfo | null;
}

/**
 * Runs `work` against the service at `url`; without one, against the platform that runs on this data folder,
 * or one started for the occasion on free ports and stopped afterwards.
 */
export async function withSession<T>(
  url: string | undefined,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  if (url) return work({ client: new ApiClient(url), platform: null });
  const env = readEnv(LocalEnv);
  const running = await runningPlatform(env.TOUCHSTONE_HOME);
  if (running) return work({ client: new ApiClient(running.backend_url), platform: running });
  const platform = await startPlatform({
    ...platformOptions(env),
    ports: { backend: 0, strategy: 0, dataCollection: 0 },
  });
  try {
    return await work({ client: new ApiClient(platform.info.backend_url), platform: platform.info });
  } finally {
    await platform.stop();
  }
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
