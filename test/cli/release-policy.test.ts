import { describe, expect, it } from 'vitest';
import { M, releasePolicyFixture } from './release-policy-fixture.ts';

/** Release policy in commands that run in separate processes. */

let run: string;
const touchstone = releasePolicyFixture((completed) => {
  run = completed;
});

describe('release policy in commands', () => {
  it('register prints the checks that a version misses', async () => {
    const { code, out } = await touchstone('register', M, '--run', run);
    expect(code).toBe(0);
    expect(out).toContain('It fails the release policy');
    expect(out).toMatch(/min_trades +│ failed +│ +1 │ +2 │ 1 trade; at least 2 are required/);
    expect(out).not.toContain('Warning:');
    // Staging the version would be rejected.
    expect(out).not.toContain('Next:');
  });
});
