import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRandom } from '#engine/random.ts';
import { addChallengeCommands } from '../../bin/cli/challenge/commands.ts';
import { intervalChart } from '../../bin/cli/challenge/interval-chart.ts';
import { loadChallenge, showSnapshot, watchChallenge } from '../../bin/cli/challenge/status.ts';
import { type ChallengeSnapshot, timeText } from '../../bin/cli/challenge/status-text.ts';
import { parseTrades } from '../../bin/cli/challenge/trades.ts';
import { ApiClient } from '../../bin/cli/client.ts';
import { type ChallengeFixture, challengeFixture, generated } from '../support/challenge-fixture.ts';
import { runScript } from '../support/command.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { MODEL, registryFixture } from '../support/registry-fixture.ts';

/** Challenge commands against the services behind a server on loopback. */

let engine: TestEngine;
let fixture: ChallengeFixture;
const home = mkdtempSync(join(tmpdir(), 'touchstone-cli-challenges-'));
const server = createServer((request, response) => void forward(request, response));
let url: string;
/** Number of the next calls without a response. */
let unanswered = 0;

beforeAll(async () => {
  engine = await startEngine();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await engine?.stop();
  rmSync(home, { recursive: true, force: true });
});
const newFixture = async () => {
  fixture = await challengeFixture(engine);
};

async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (unanswered > 0) {
    unanswered--;
    request.socket.destroy();
    return;
  }
  const text = await new Response(request as never).text();
  const method = request.method as 'GET' | 'POST';
  const { status, body } = await fixture.strategy(method, request.url!, text ? JSON.parse(text) : undefined);
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

interface Ended {
  readonly code: number;
  readonly out: string;
}

/** Runs a command in this process. Rejects with the error that the command line prints. */
async function challenge(...args: readonly string[]): Promise<Ended> {
  const lines: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(String(line)));
  const program = new Command().option('--url <url>').option('--strategy-url <url>').exitOverride();
  addChallengeCommands(program);
  try {
    process.exitCode = 0;
    await program.parseAsync(['--strategy-url', url, 'challenge', ...args], { from: 'user' });
    return { code: Number(process.exitCode), out: lines.join('\n') };
  } finally {
    log.mockRestore();
    process.exitCode = 0;
  }
}

function fileOf(name: string, text: string): string {
  const path = join(home, name);
  writeFileSync(path, text);
  return path;
}

/** Maximum drawdown, with the start as the first peak. */
function drawdownOf(profits: readonly number[]): number {
  let [equity, peak, drawdown] = [0, 0, 0];
  for (const profit of profits) {
    equity += profit;
    peak = Math.max(peak, equity);
    drawdown = Math.max(drawdown, peak - equity);
  }
  return drawdown;
}

/** Trades of vector T3 of test/engine/stats/welch.test.ts: the challenger wins with 120 trades per variant. */
function winningTrades(): string {
  const variants = [
    { variant: 'champion', profits: generated(12345, 120, 0) },
    { variant: 'challenger', profits: generated(67890, 120, 0.6) },
  ];
  const rows = variants.flatMap(({ variant, profits }) =>
    profits.map((profit, index) => `${variant}-${index},${variant},${profit.toFixed(2)}`),
  );
  return `trade_id,variant,profit_pct\n${rows.join('\n')}\n`;
}

describe('challenge commands', () => {
  beforeEach(newFixture);

  it('create, log, status and promote lead to a promoted challenger', async () => {
    const created = await challenge('create', MODEL, '2', '--no-canary', '--min-trades', '120');
    const [id] = /ch-\w+/.exec(created.out)!;
    expect(created.out).toContain('version 2 against 1, with 50 % of the traffic\n');
    expect(created.out).toContain(`Next: npx --no-install touchstone challenge log ${id} trades.csv`);

    const file = fileOf('won.csv', winningTrades());
    const logged = await challenge('log', id!, file);
    expect(logged.out).toBe(
      `240 new, 0 duplicates, 0 rejected\n${id} is completed, with 120 and 120 closed trades: PROMOTE_CHALLENGER\nNext: npx --no-install touchstone challenge status ${id}`,
    );
    expect((await challenge('log', MODEL, file)).out).toContain('0 new, 240 duplicates, 0 rejected');

    const { out } = await challenge('status', MODEL);
    // T3: the difference is 0.78575, p 0.000705; the confidence sequence, tuned to 480, is 0.78575 ± 0.70586.
    expect(out).toContain(`${id} of ${MODEL}: version 2 against 1\nCompleted: the challenger has won.\n`);
    expect(out).toMatch(/Mean profit, % +│ +\+0\.41 │ +\+1\.19 │/);
    expect(out).toMatch(/Criteria at the end\n {2}✓ p-value +0\.0007 +below 0\.05/);
    expect(out).toMatch(/ {2}✓ improvement +193\.3 % +above 10 %/);
    expect(out).toMatch(/ {2}✓ closed trades of each variant +120 +at least 120/);
    expect(out).toMatch(/\n +│ +├─+●─+┤\n +\+0\.08 +\+0\.79 +\+1\.49\n/);
    expect(out).toContain(`  npx --no-install touchstone challenge promote ${id}`);
    expect(Math.max(...out.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);

    const check = await challenge('promote', id!, '--dry-run');
    expect([check.code, check.out]).toEqual([0, expect.stringContaining('Nothing was changed')]);
    expect((await fixture.read(id!)).body.promoted_at).toBeNull();
    const promoted = await challenge('promote', id!, '--comment', 'it has won');
    expect(promoted.out).toContain('version 2 to Production, in place of 1');
    expect(promoted.out).toContain('improvement 193.3 %, p-value 0.0007');
    expect(promoted.out).toContain(`To roll back: npx --no-install touchstone rollback ${MODEL} 1`);
    expect((await challenge('promote', id!)).out).toContain('was promoted before');
    expect((await challenge('status', id!)).out).toContain('Traffic: all to the challenger, version 2');
    expect((await challenge('events', id!)).out).toMatch(/promote +│ stage_4/);
  });

  it('status prints why an automatic promotion was rejected', async () => {
    await fixture.register();
    const settings = ['--no-canary', '--min-trades', '120', '--auto-promote'];
    const created = await challenge('create', MODEL, '3', ...settings);
    expect(created.out).toContain('Warning: challenger_not_in_staging: it is in None');
    await challenge('log', MODEL, fileOf('won.csv', winningTrades()));
    const { out } = await challenge('status', MODEL);
    expect(out).toMatch(/Automatic promotion was rejected: RES\d{3}: .*\nPromote version 3:/s);
    expect(out).toContain('Warning: challenger_not_in_staging');
  });

  it('hold, resume, advance and rollback change the status', async () => {
    const settings = ['--approval-stages', 'stage_3, stage_4', '--max-hours', '48', '--max-drawdown', '12.5'];
    const policy = [
      '--analysis-unit',
      'assignment_key',
      '--on-rollback',
      'close',
      '--auto-promote',
      '--max-errors',
      '3',
    ];
    const { out } = await challenge('create', MODEL, 'latest', ...settings, ...policy, '--json');
    const { challenge_id: id, ...created } = JSON.parse(out);
    expect(created).toMatchObject({
      champion_version: '1',
      challenger_version: '2',
      max_duration_hours: 48,
      max_drawdown_pct: 12.5,
      approval_stages: ['stage_3', 'stage_4'],
      enable_canary: true,
      analysis_unit: 'assignment_key',
      on_rollback: 'close',
      auto_promote: true,
      max_errors: 3,
      require_assignment: false,
    });
    const before = (await challenge('status', id)).out;
    expect(before).toContain('(2 d 00 h left)');
    expect(before).toContain('[5 %] ──▶ 10 % ──▶ 25 % ──▶ 50 %\nNext 10 %: in 1 h 00 min; 0 of 20 trades');
    expect(before).toContain('No interval yet');
    expect(before).toContain('Required to recommend the challenger\n  ✗ p-value');
    expect(before).toContain('missing:\n100 of the champion, 100 of the challenger.');

    await fixture.log(id, 'challenger', generated(1, 20, 0));
    fixture.clock.forward(3_600_000);
    await challenge('log', id, '--trade-id', 'open', '--variant', 'champion', '--status', 'open');
    const failed = ['--status', 'error', '--error-message', 'no price'];
    await challenge('log', id, '--trade-id', 'failed', '--variant', 'challenger', ...failed);
    expect((await challenge('trades', id, '--limit', '1')).out).toMatch(
      /failed │ challenger .* error +│ no price/,
    );
    const next = (await challenge('status', id)).out;
    expect(next).toContain('5 % ──▶ [10 %] ──▶ 25 % ──▶ 50 %\nNext 25 %: in 1 h 00 min; 0 of 20');
    expect(next).toContain('; an approval');
    expect(next).toMatch(/Open trades +│ +1 │ +0 │/);
    expect(next).toMatch(/Errors +│ +0 │ +1 \(at most 3\) │/);
    expect(next).toContain(`${drawdownOf(generated(1, 20, 0)).toFixed(2)} (at most 12.5)`);

    const held = await challenge('hold', id, '--reason', 'maintenance\u001b[31m');
    expect(held.out).toContain('(manual): held by a user: maintenance\\u{1b}[31m.');
    expect(held.out).toContain(`  npx --no-install touchstone challenge resume ${id}`);
    expect((await challenge('list', MODEL)).out).toContain('active, held');
    expect((await challenge('resume', id)).out).not.toContain('Held');
    expect((await challenge('advance', id)).out).toContain('75 % to version 1, 25 % to version 2');
    const ended = await challenge('rollback', MODEL, '--reason', 'slippage');
    expect(ended.out).toContain('is rolled back: rolled back by a user\nTraffic: 100 % to version 1');
    expect((await challenge('events', id)).out).toMatch(/roll_back +│ stage_3 │ rolled_back +│ slippage/);
    const check = await challenge('promote', id, '--dry-run');
    expect([check.code, check.out]).toEqual([1, expect.stringContaining('cannot be promoted: it is rolled')]);
    expect((await challenge('status', id)).out).toContain('Traffic: all to the champion, version 1');
  });

  it('log prints the reason and line of each rejected trade', async () => {
    await challenge('create', MODEL, '2', '--no-canary');
    const lines = [
      { trade_id: 'a', variant: 'champion', profit_pct: 0.5, source: 'bot' },
      { trade_id: 'b', version: 2, profit_pct: 'much' },
      { trade_id: 'c', variant: 'challenger', profit_pct: -101 },
      { trade_id: 'd', profit_pct: 1 },
      { trade_id: 'a', variant: 'champion', profit_pct: 0.6 },
      { trade_id: 'e', version: 2, profit_pct: 1.5, pair: 'BTC/USDT:USDT' },
    ];
    const file = fileOf('some.jsonl', lines.map((line) => JSON.stringify(line)).join('\n\n'));
    const { code, out } = await challenge('log', MODEL, file);
    expect(code).toBe(1);
    expect(out).toContain('Ignored fields: source');
    expect(out).toMatch(/Line 3, trade b: profit_pct: .*number/);
    expect(out).toMatch(/Line 5, trade c: VAL005: profit_pct must be a number from -100 to /);
    expect(out).toMatch(/Line 7, trade d: VAL004: variant and version are missing/);
    expect(out).toMatch(/Line 9, trade a: RES005: .* different content/);
    expect(out).toMatch(
      /2 new, 0 duplicates, 4 rejected\nch-\w+ is active, with 1 and 1 closed trades: CONTINUE/,
    );
    const again = JSON.parse((await challenge('log', MODEL, file, '--json')).out);
    expect(again).toMatchObject({ logged: 0, duplicates: 2, snapshot: { champion_trades: 1 } });
    expect(again.rejected.map(({ line }: any) => line)).toEqual([3, 5, 7, 9]);
    const trades = (await challenge('trades', MODEL)).out;
    expect(trades).toMatch(/2 │ e +│ challenger │ stage_4 │ +1\.50 │ BTC\/USDT:USDT │ - +│ 2026-06-01 00:00/);
    const page = JSON.parse((await challenge('trades', MODEL, '--limit', '1', '--json')).out);
    expect([page.items.length, page.items[0].trade_id]).toEqual([1, 'e']);
    expect((await challenge('trades', MODEL, '--limit', '1', '--cursor', page.next_cursor)).out).toMatch(
      /1 │ a/,
    );
  });

  it('create --require-assignment counts trades of assigned keys only, and log says so', async () => {
    const { out } = await challenge('create', MODEL, '2', '--require-assignment');
    expect(out).toContain('needs 100 closed trades of each variant with assigned keys.');
    const typed = ['--trade-id', 'y', '--variant', 'champion', '--profit-pct', '1', '--assignment-key', 'k'];
    expect((await challenge('log', MODEL, ...typed)).out).toContain(
      '1 new, 0 duplicates, 0 rejected\nNot counted: 1 without a key that was assigned before',
    );
    expect((await challenge('trades', MODEL)).out).toMatch(/ y +│ champion .* unassigned/);
    await challenge('rollback', MODEL);
    const off = (await challenge('create', MODEL, '2', '--no-require-assignment', '--json')).out;
    expect(JSON.parse(off)).toMatchObject({ require_assignment: false });
    await challenge('rollback', MODEL);
  });

  it('log stops after 20 invalid trades, and counts trades after the end as late', async () => {
    await challenge('create', MODEL, '2');
    const wrong = Array.from({ length: 200 }, (_, index) => `${index},champion,-1000`).join('\n');
    const file = fileOf('wrong.csv', `trade_id,variant,profit_pct\n${wrong}`);
    await expect(challenge('log', MODEL, file)).rejects.toThrow(
      /^20 trades are invalid; 0 are logged\. [\s\S]*Line 21/,
    );
    await challenge('rollback', MODEL);
    const late = await challenge(
      'log',
      MODEL,
      '--trade-id',
      'z',
      '--model-version',
      '1',
      '--profit-pct',
      '1',
    );
    expect(late.out).toContain(
      '1 new, 0 duplicates, 0 rejected\nNot counted: 1 opened before the start or logged after the end of the challenge',
    );
  });

  it('errors without a champion or challenge print the next step', async () => {
    await expect(challenge('status', MODEL)).rejects.toThrow(`challenge create ${MODEL} <challenger>`);
    expect((await challenge('list', MODEL)).out).toContain('No challenge.');
    await expect(challenge('status', 'nothing')).rejects.toThrow('RES002');
    await expect(challenge('create', MODEL, '9')).rejects.toThrow('RES003');
    await expect(challenge('create', MODEL, '1')).rejects.toThrow('VAL005');
    const unpromoted = await registryFixture(engine);
    await unpromoted.register();
    fixture = { ...fixture, strategy: unpromoted.strategy };
    await expect(challenge('create', MODEL, '1')).rejects.toThrow(
      `No version of ${MODEL} is in Production. Promote one (npx --no-install touchstone promote ${MODEL} <version>)`,
    );
  });
});

describe('challenge status --watch', () => {
  beforeEach(newFixture);

  it('watch continues after failed requests and stays with the first challenge', async () => {
    const { body } = await fixture.create();
    const client = new ApiClient(url);
    const statuses: string[] = [];
    const show = ({ challenge: { status } }: ChallengeSnapshot) => {
      statuses.push(status);
      if (statuses.length === 1) unanswered = 3;
      if (statuses.length === 2)
        void fixture.post(body.challenge_id, 'rollback').then(() => fixture.create());
    };
    const ended = await watchChallenge(client, MODEL, show, new AbortController().signal, 5);
    expect(ended?.challenge).toMatchObject({ challenge_id: body.challenge_id, status: 'rolled_back' });
    expect(new Set(statuses)).toEqual(new Set(['active', 'rolled_back']));
    unanswered = 1;
    await expect(watchChallenge(client, MODEL, show, new AbortController().signal, 5)).rejects.toThrow(
      'No response',
    );
  });

  it('watch redraws the page on a terminal within its width', async () => {
    const { body } = await fixture.create();
    await fixture.log(body.challenge_id, 'champion', generated(1, 30, 0));
    await fixture.log(body.challenge_id, 'challenger', generated(2, 10, 0));
    const written: string[] = [];
    const output = { isTTY: true, columns: 66, write: (text: string) => written.push(text) };
    const show = showSnapshot(output as never);
    show(await loadChallenge(new ApiClient(url), MODEL));
    expect(written.join('')).toContain(`\u001b[1;1H\u001b[0J${body.challenge_id}`);
    const [page, foot] = written.at(-1)!.split('\n\nRead at ') as [string, string];
    expect(foot).toContain('Ctrl-C stops watching');
    expect(page).toMatch(/├─.*●.*┤/);
    expect(Math.max(...page.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(66);
  });
});

describe('challenge command as a process', () => {
  const touchstone = (...args: string[]) =>
    runScript(home, 'bin/touchstone.ts', ['--strategy-url', url, ...args]);

  it('errors exit with 1, usage errors with 2', async () => {
    const [unknown, empty] = await Promise.all([
      touchstone('challenge', 'status', 'ch-none'),
      touchstone('challenge', 'log', 'ch-1'),
    ]);
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('CHL001')]);
    expect([empty.code, empty.err]).toEqual([2, expect.stringContaining('Pass a file of trades')]);
    for (const { err } of [unknown, empty]) expect(err).not.toMatch(/ at .*\.ts:\d+/);
  });

  it('status --watch exits with 130 on Ctrl-C', async () => {
    await newFixture();
    const { body } = await fixture.create();
    const args = ['bin/touchstone.ts', '--strategy-url', url, 'challenge', 'status', MODEL, '--watch'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
    expect(line).toMatch(/active, stage_1, 0 and 0 trades, p-value 1\.0000, CONTINUE\n/);
    child.kill('SIGINT');
    const [hint] = await once(child.stderr.setEncoding('utf8'), 'data');
    expect(hint).toContain(`challenge status ${MODEL} --watch`);
    expect(await once(child, 'close')).toEqual([130, null]);
    await fixture.post(body.challenge_id, 'rollback');
    const ended = await challenge('status', MODEL, '--watch');
    expect([ended.code, ended.out]).toEqual([0, expect.stringContaining('Recommendation: ROLLBACK')]);
  });
});

describe('intervalChart', () => {
  it.each([
    {
      interval: [-0.21, 0.55],
      width: 64,
      lines: [
        '       -0.2          0            +0.2         +0.4',
        '       ├─────────────┼───────────●────────────────────────┤',
        '     -0.21                     +0.17                    +0.55',
      ],
    },
    {
      interval: [100, 100.5],
      width: 64,
      lines: [
        '       0      +100.0           +100.2           +100.4',
        '       │ ──╱╱── ├────────────────────●────────────────────┤',
        '            +100.000             +100.250             +100.500',
      ],
    },
  ])('chart draws the interval $interval', ({ interval, width, lines }) => {
    const drawn = intervalChart(interval as [number, number], width).split('\n');
    expect(drawn).toEqual(lines);
  });

  it('chart shows any interval on its side of zero within the width', () => {
    const random = createRandom(7);
    for (let round = 0; round < 500; round++) {
      const width = 40 + Math.floor(random() * 41);
      const size = 10 ** (random() * 12 - 8);
      const low = (random() - 0.5) * size * 10 ** (random() * 4 - 2);
      const high = low + size * random();
      const drawn = intervalChart([low, high], width);
      const [scale, bar, values] = drawn.split('\n') as [string, string, string];
      const what = `${low} ${high} ${width}\n${drawn}`;
      expect(Math.max(...[scale, bar, values].map(({ length }) => length)), what).toBeLessThanOrEqual(width);
      const zero = bar.search(/[│┼]/);
      const [from, middle, to] = ['├', '●', '┤'].map((mark) => bar.indexOf(mark)) as [number, number, number];
      expect(from < middle && middle < to, what).toBe(true);
      if (zero === -1) expect(low < 0 && high > 0, what).toBe(true);
      else {
        expect(scale[zero], what).toBe('0');
        expect(bar[zero], what).toBe(low <= 0 && high >= 0 ? '┼' : '│');
        expect([zero < from, zero > to], what).toEqual([low > 0, high < 0]);
      }
      const numbers = values.trim().split(/ +/);
      expect(numbers, what).toHaveLength(3);
      expect(values, what).not.toMatch(/NaN|Infinity/);
      const signs = numbers.map((text) => Math.sign(Number(text.replaceAll(',', ''))));
      expect(signs, what).toEqual([Math.sign(low), Math.sign(low + (high - low) / 2), Math.sign(high)]);
    }
  });

  it('chart draws an interval of width 0 as a point', () => {
    expect(intervalChart([0, 0], 60).split('\n')[1]!.trim()).toBe('●');
    expect(intervalChart([0.2, 0.2], 60)).toMatch(/\n +│ +●\n +\+0\.200$/);
    expect(intervalChart([-3, -3], 60)).toMatch(/\n +● +│\n +-3\.00$/);
  });
});

describe('parseTrades', () => {
  it('parseTrades reads CSV of RFC 4180', () => {
    const text =
      '\ufefftrade_id, variant,profit_pct,exit_reason,note\r\na,champion,1.5,"stop, ""hard""\r\nsecond line",x\r\n\r\nb,challenger,-2e-1,,\r\nc,champion,much,roi,';
    const { rows, ignored } = parseTrades(text, 'f');
    expect(ignored).toEqual(['note']);
    expect(rows).toEqual([
      {
        line: 2,
        trade: {
          trade_id: 'a',
          variant: 'champion',
          profit_pct: 1.5,
          exit_reason: 'stop, "hard"\r\nsecond line',
        },
      },
      { line: 5, trade: { trade_id: 'b', variant: 'challenger', profit_pct: -0.2 } },
      {
        line: 6,
        trade: { trade_id: 'c', variant: 'champion', profit_pct: 'much', exit_reason: 'roi' },
      },
    ]);
  });

  it.each([
    ['', 'no header'],
    ['variant,profit_pct\nchampion,1', 'no header'],
    ['trade_id,variant\n', 'contains no trades'],
    ['trade_id,variant\na,b\na', 'line 3 has 1 cells where the header has 2'],
    ['trade_id,variant\na,"b"c', 'line 2 is not valid CSV'],
    ['{"trade_id":"a"}\n{', 'line 2 is not valid JSON'],
    ['{"trade_id":"a"}\n[1]', 'line 2 is not a JSON object'],
  ])('parseTrades rejects %j', (text, message) => {
    expect(() => parseTrades(text, 'f')).toThrow(message);
  });
});

it.each([
  [-5, '0 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [3_600_000, '1 h 00 min'],
  [86_399_999, '23 h 59 min'],
  [86_400_000, '1 d 00 h'],
])('timeText prints %d ms as %s', (ms, text) => {
  expect(timeText(ms)).toBe(text);
});
