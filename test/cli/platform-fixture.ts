import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { runInProcess } from '../support/command.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

type PlatformOptions = Omit<Parameters<typeof startTestPlatform>[0] & {}, 'home'>;

/** Platform of a test file; `prepare` runs before its tests. Returns a function that runs a command. */
export function platformFixture(
  prefix: string,
  options: PlatformOptions,
  prepare: (platform: TestPlatform) => Promise<void>,
) {
  const home = mkdtempSync(join(tmpdir(), prefix));
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform({ home, ...options });
    await prepare(platform);
  });
  afterAll(async () => {
    await platform?.stop();
    rmSync(home, { recursive: true, force: true });
  });
  return (...args: string[]) => runInProcess(home, args);
}
