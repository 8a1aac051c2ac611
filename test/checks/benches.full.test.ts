import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { hasChromium } from '../web/support/chromium.ts';

const names = readdirSync('bench')
  .filter((file) => /^(?!run\.).*\.ts$/.test(file))
  .map((file) => file.replace(/\.ts$/, ''));

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const ended = promisify(execFile)(process.execPath, ['bench/run.ts', ...args]);
  return ended.then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
    ({ code, stdout, stderr }) => ({ code, out: stdout, err: stderr }),
  );
}

describe('benchmarks', () => {
  test.each(names.filter((name) => name !== 'web' || hasChromium))('%s runs', async (name) => {
    const { code, out, err } = await run('--quick', name);
    expect(code, `${out}${err}`).toBe(0);
    const rows = out.split('\n').filter((line) => line.startsWith(`│ ${name} `));
    expect(rows.length).toBeGreaterThan(0);
    // Every value is a number, and none is compared with its target.
    for (const row of rows) {
      const [, , , value, target] = row.split('│');
      expect(value, row).toMatch(/^ -?\d/);
      expect(target, row).toMatch(/^ *$/);
    }
  });

  test('an unknown benchmark is named, with those that exist', async () => {
    const { code, err } = await run('--quick', 'none');
    expect(code).toBe(2);
    expect(err).toContain(`Unknown benchmark: none. Use one of: ${names.join(', ')}`);
  });
});
