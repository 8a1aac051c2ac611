import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('long run frees unused columns after the V8 flags are restored', () => {
  const most = execFileSync(process.execPath, [join(import.meta.dirname, 'fixtures/churn-columns.ts')]);
  expect(Number(most)).toBeGreaterThan(1);
  expect(Number(most)).toBeLessThan(3.5);
});
