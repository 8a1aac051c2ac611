import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EventType } from '#contract/values/event-types.ts';
import { ApiClient } from '../../bin/cli/client.ts';
import { followEvents } from '../../bin/cli/events.ts';
import { accessClaims, openIssuerKey, signToken } from '../../src/local/issuer-key.ts';
import { runInProcess } from '../support/command.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

const M = 'ema_crossover';
const RANGE = ['--start', '2026-01-01', '--end', '2026-02-01'];
const home = mkdtempSync(join(tmpdir(), 'touchstone-approvals-'));
const tokenOf = (user: string, role: 'researcher' | 'approver', groups: string[] = []) => {
  const claims = accessClaims({ user, role, groups, lifetime: 600, now: Date.now() });
  return signToken(openIssuerKey(home), claims);
};

let platform: TestPlatform;
let ann: (...args: string[]) => ReturnType<typeof runInProcess>;
let amy: typeof ann;
beforeAll(async () => {
  const token = tokenOf('ann', 'researcher', ['desk']);
  const asUser =
    (own: string) =>
    (...args: string[]) =>
      runInProcess(home, args, { TOUCHSTONE_TOKEN: own });
  platform = await startTestPlatform({ home, auth: true, token });
  [ann, amy] = [asUser(token), asUser(tokenOf('amy', 'approver', ['desk']))];
  const range = { start: '2026-01-01', end: '2026-03-01' };
  const { job_id } = await platform.run({ strategy: M, timeframe: '1h', date_range: range });
  expect((await ann('register', M, '--run', job_id)).code).toBe(0);
  expect((await ann('share', M, '--with', 'group:desk', '--write')).code).toBe(0);
});
afterAll(async () => {
  await platform?.stop();
  rmSync(home, { recursive: true, force: true });
});

it('request is made, listed, shown, declined, withdrawn and approved', async () => {
  const args = ['approvals', 'request', 'stage', M, '1', '--reason', 'First\ncandidate\u202e'];
  const made = await ann(...args);
  expect([made.code, made.err]).toEqual([0, '']);
  const [, first] = /^(ap-\w+): stage 1 of ema_crossover, requested\n/.exec(made.out)!;
  // Words of a user cannot imitate a line of the program.
  expect(made.out).toContain(': First\\u{a}candidate\\u{202e}\n');
  const again = await ann(...args);
  expect([again.code, again.err]).toEqual([1, expect.stringContaining(`Request ${first} is open`)]);

  expect((await amy('approvals', 'decline', first!)).err).toContain('declined with a reason');
  const declined = await amy('approvals', 'decline', first!, '--reason', 'Too short', '--json');
  expect(JSON.parse(declined.out)).toMatchObject({ status: 'declined', decided_by: 'amy' });
  expect((await ann('approvals', 'show', first!)).out).toContain('Reason of the decision: Too short\n');

  const second = JSON.parse((await ann(...args, '--json')).out).approval_id;
  expect((await ann('approvals', 'withdraw', second)).out).toContain('withdrawn by ann');
  const late = JSON.parse((await ann(...args, '--due', '2099-01-01', '--json')).err).error;
  expect(late.message).toContain('due_at must be a time from one minute to 30 days');

  const { approval_id } = JSON.parse((await ann(...args, '--json')).out);
  expect((await ann('approvals', 'list', '--mine')).out).toBe('No requests.\n');
  expect((await amy('approvals', 'list', '--mine')).out).toMatch(
    new RegExp(`${approval_id}.*stage 1.*requested`),
  );
  expect((await ann('approvals', 'approve', approval_id)).err).toContain(
    'Nobody approves a request of their own',
  );
  expect((await amy('approvals', 'approve', approval_id)).out).toContain(', approved by amy at ');
  const all = await amy('approvals', 'list', M, '--limit', '2', '--json');
  expect(JSON.parse(all.out).items.map(({ status }: { status: string }) => status)).toEqual([
    'approved',
    'withdrawn',
  ]);
  expect((await amy('approvals', 'list', M, '--status', 'declined')).out).toContain(first);
  const both = await amy('approvals', 'list', M, '--mine');
  expect([both.code, both.err]).toEqual([2, expect.stringContaining('--mine')]);
});

it('members of a group see its requests and the end of the checks as events, other users do not', async () => {
  const begun = Date.now() - 600_000;
  const wanted: EventType[] = [
    'approval.requested',
    'approval.declined',
    'approval.withdrawn',
    'approval.approved',
    'version.ready_to_promote',
  ];
  const zoe = await typesUntil(tokenOf('zoe', 'approver', ['desk']), wanted, begun);
  expect(zoe).toEqual(expect.arrayContaining(wanted));
  // A backtest of eve's own is the last that her stream shows.
  const eve = tokenOf('eve', 'researcher', ['other']);
  const run = await runInProcess(home, ['backtest', 'buy_and_hold', '--timeframe', '1h', ...RANGE], {
    TOUCHSTONE_TOKEN: eve,
  });
  expect([run.code, run.err]).toEqual([0, '']);
  const seen = await typesUntil(eve, ['backtest.completed'], begun);
  expect(seen.filter((type) => /^(approval|version)\./.test(type))).toEqual([]);
});

/** Types of the events that a user sees, until each of `last` has arrived. */
async function typesUntil(token: string, last: readonly EventType[], from: number): Promise<EventType[]> {
  const types: EventType[] = [];
  const stop = new AbortController();
  const client = new ApiClient(platform.info.backend_url, token);
  await followEvents(client, { types: '*', from: String(from), signal: stop.signal }, ({ type }) => {
    types.push(type);
    if (last.every((each) => types.includes(each))) stop.abort();
  });
  return types;
}
