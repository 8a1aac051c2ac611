import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('a run that turns out to be long frees the columns that nobody needs any more', () => {
  const most = execFileSync(process.execPath, [join(import.meta.dirname, 'fixtures/churn-columns.ts')]);
  expect(Number(most)).toBeGreaterThan(1);
  expect(Number(most)).toBeLessThan(3.5);
});
