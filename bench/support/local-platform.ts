import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PlatformInfo } from '../../src/local/platform-info.ts';
import type { Measurement } from './bench.ts';

/** Runs `work` with a local platform in its own process on an empty folder. Stops the platform and removes the folder. */
export function withPlatform<T>(work: (platform: PlatformInfo) => Promise<T>): Promise<T> {
  return withHome((home) => onPlatform(home, work));
}

/** Runs `work` with an empty folder, then removes the folder. */
export async function withHome<T>(work: (home: string) => Promise<T>): Promise<T> {
  const home = await mkdtemp(join(tmpdir(), 'touchstone-bench-'));
  try {
    return await work(home);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** Runs `work` with a local platform in its own process on that folder, then stops the platform. */
export async function onPlatform<T>(home: string, work: (platform: PlatformInfo) => Promise<T>): Promise<T> {
  const child = fork(join(import.meta.dirname, 'platform-process.ts'), [home], { execArgv: [] });
  try {
    const [info] = await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`The platform ended with code ${code}`))),
    ]);
    return await work(info as PlatformInfo);
  } finally {
    if (child.connected) {
      child.disconnect();
      await once(child, 'exit');
    }
  }
}

/** Parsed response body. @throws Error unless the status is 2xx */
export async function expectOk(response: Response): Promise<unknown> {
  const body = await response.json();
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${JSON.stringify(body)}`);
  return body;
}

/** Quantiles of request times, ms. */
export function requestMeasurements(
  label: string,
  times: readonly number[],
  shares: readonly number[] = [0.5, 0.99],
): Measurement[] {
  const sorted = [...times].sort((a, b) => a - b);
  const detail = `${times.length} requests, load average ${loadavg()[0]!.toFixed(1)}`;
  return shares.map((share) => ({
    label: `${label}, p${share * 100}`,
    value: sorted[Math.floor(share * sorted.length)]!,
    unit: 'ms',
    detail,
  }));
}
