import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { runScript } from '../support/command.ts';

/** Two months of hourly candles: enough for an entry signal, little to simulate. */
export const SHORT = {
  config: { date_range: { start: '2024-11-01T00:00:00Z', end: '2025-01-01T00:00:00Z' } },
};

/** Strategy that trades price crossings of an average of `period` candles. */
export const crossing = (name: string, period = 20, more = '', before = '') =>
  `import { crossedAbove, crossedBelow, sma } from 'touchstone/engine';
${before}
export default {
  name: ${JSON.stringify(name)}, description: 'For the check.', timeframe: '1h', pairs: ['BTC/USDT:USDT'], stakeAmount: 100,
  parameters: {}, startupCandles: () => 60, stoploss: -0.2,
  indicators: ({ close }) => ({ average: sma(close, ${period}) }),
  signals: ({ close }, { average }) => ({ enterLong: crossedAbove(close, average), exitLong: crossedBelow(close, average) }),
  ${more}
};
`;

/** A callback that reads a later candle. */
export const LEAK =
  "callbacks: { customExit: ({ candles, index }, t, price) => (candles.close[index + 3]! < price ? 'x' : null) },";

/** A strategy folder in a new Git repository, and `touchstone ci` on it, for one test. */
export function ciFixture() {
  const [root, outside] = ['folder', 'outside'].map((name) =>
    mkdtempSync(join(tmpdir(), `touchstone-ci-${name}-`)),
  ) as [string, string];
  onTestFinished(() => {
    for (const folder of [root, outside]) rmSync(folder, { recursive: true, force: true });
  });
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', root, '-c', 'user.name=Ada', '-c', 'user.email=ada@localhost', ...args], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: '1' },
    }).trim();
  const write = (file: string, content: string | object) => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), typeof content === 'string' ? content : JSON.stringify(content));
  };
  const commit = () => {
    git('add', '-A');
    git('commit', '-q', '-m', 'Change');
    return git('rev-parse', 'HEAD');
  };
  const ci = (args: readonly string[] = [], environment: Readonly<Record<string, string>> = {}) =>
    runScript(join(root, '.touchstone'), 'bin/touchstone.ts', ['ci', ...args], {
      PATH: process.env.PATH!,
      HOME: root,
      STRATEGIES_DIRECTORY: join(root, 'strategies'),
      ...environment,
    });
  git('init', '-q', '-b', 'main');
  write('.gitignore', '.touchstone/\n');
  return { root, outside, git, write, commit, ci };
}

export interface FakeGitHub {
  readonly url: string;
  readonly comments: { id: number; body: string; user: { type: string; login: string } }[];
  /** Method and path of each request. */
  readonly requests: string[];
  /** Status of each request instead of its result. */
  status: number | undefined;
  close(): void;
}

/** The three operations of GitHub's REST API for comments of issues of `ada/strategies`. */
export async function fakeGitHub(): Promise<FakeGitHub> {
  const github: Omit<FakeGitHub, 'url' | 'close'> = { comments: [], requests: [], status: undefined };
  const { comments, requests } = github;
  const server = createServer(async (request, response) => {
    const respond = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const { pathname, searchParams } = new URL(request.url!, 'http://localhost');
    requests.push(`${request.method} ${pathname}`);
    const body = await text(request);
    if (request.headers.authorization !== 'Bearer secret-token')
      return respond(401, { message: 'Bad credentials' });
    if (github.status) return respond(github.status, { message: 'Resource not accessible by integration' });
    if (request.method === 'GET') {
      const [page, size] = ['page', 'per_page'].map((name) => Number(searchParams.get(name))) as [
        number,
        number,
      ];
      return respond(200, comments.slice((page - 1) * size, page * size));
    }
    const user = { type: 'Bot', login: 'github-actions[bot]' };
    const found = comments.find(({ id }) => pathname.endsWith(`/comments/${id}`));
    if (request.method === 'PATCH' && found) found.body = JSON.parse(body).body;
    if (request.method === 'POST')
      comments.push({ id: comments.length + 1, body: JSON.parse(body).body, user });
    return respond(200, found ?? comments.at(-1));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(github, { url, close: () => void server.close() });
}

/** Environment of a workflow of a pull request. */
export function pullRequest(file: string, base: string, api: string): Record<string, string> {
  writeFileSync(file, JSON.stringify({ pull_request: { number: 7, base: { sha: base, ref: 'main' } } }));
  return {
    GITHUB_EVENT_PATH: file,
    GITHUB_API_URL: api,
    GITHUB_REPOSITORY: 'ada/strategies',
    GITHUB_TOKEN: 'secret-token',
  };
}
