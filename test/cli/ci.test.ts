import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { writeComment } from '../../bin/cli/ci/github.ts';
import { code, markdownOf } from '../../bin/cli/ci/markdown.ts';
import { ciFixture, crossing, type FakeGitHub, fakeGitHub, LEAK, pullRequest, SHORT } from './ci-fixture.ts';

let github: FakeGitHub;
beforeEach(async () => {
  github = await fakeGitHub();
});
afterEach(() => github.close());

const HOSTILE = 'z@all |<img src=x onerror=alert(1)>`[x](http:⁄⁄x)`\n::error::#1';

describe('touchstone ci', () => {
  /** A repository with four strategies, and its commit. */
  function folder() {
    const fixture = ciFixture();
    const { write, commit } = fixture;
    write('touchstone.config.json', { ci: SHORT });
    for (const name of ['changed', 'gone', 'old_name', 'still'])
      write(`strategies/${name}.ts`, crossing(name));
    return { ...fixture, base: commit() };
  }

  it('ci of an unchanged folder says so, runs nothing and does not comment', async () => {
    const { outside, ci, base } = folder();
    const environment = pullRequest(join(outside, 'event.json'), base, github.url);
    const { code: exit, out, err } = await ci(['--comment'], environment);
    expect([exit, out]).toEqual([
      0,
      `No strategies changed between ${base.slice(0, 9)} (base, main) and the head (${base.slice(0, 9)}); 4 unchanged\nResult: passed\n`,
    ]);
    expect(err).toContain('Comment not needed');
    expect(github.comments).toEqual([]);
  });

  it('ci compares each changed strategy with the base, fails on look-ahead bias, and escapes names', async () => {
    const { root, outside, write, commit, ci, base } = folder();
    write('strategies/changed.ts', crossing('changed', 30));
    write('strategies/leak.ts', crossing('leak', 20, LEAK));
    write('strategies/new_name.ts', crossing('new_name'));
    write(`strategies/${HOSTILE.replaceAll('/', '')}.ts`, `throw new Error(${JSON.stringify(HOSTILE)});`);
    for (const name of ['gone', 'old_name']) rmSync(join(root, `strategies/${name}.ts`));
    commit();
    const [markdown, summary] = [join(outside, 'report.md'), join(outside, 'summary.md')];
    const environment = {
      ...pullRequest(join(outside, 'event.json'), base, github.url),
      GITHUB_STEP_SUMMARY: summary,
    };
    const { code: exit, out, err } = await ci(['--json', '--comment', '--markdown', markdown], environment);
    expect(exit, err).toBe(1);
    const report = JSON.parse(out);
    expect(report).toMatchObject({ failed: true, unchanged: 1, base: { commit: base } });
    const of = Object.fromEntries(report.strategies.map((each: any) => [each.strategy, each]));
    expect(Object.keys(of)).toEqual(['changed', 'gone', 'leak', 'new_name']);
    expect(of.changed).toMatchObject({
      change: 'changed',
      certificate: { state: 'certified' },
      failures: [],
      comparison: { candles: 'same', same_result: false },
    });
    const { data_digest } = of.changed.head.provenance;
    expect(of.changed.base.provenance.data_digest).toBe(data_digest);
    const { same, other_exit, only_base, only_head } = of.changed.comparison.trades;
    const trades = (run: any) => run.metrics.closed_trades.total_trades;
    expect(same + other_exit + only_base).toBe(trades(of.changed.base));
    expect(same + other_exit + only_head).toBe(trades(of.changed.head));
    expect(only_head).toBeGreaterThan(0);
    const [low, high] = of.changed.head.sharpe_interval_95;
    expect(low).toBeLessThan(of.changed.head.metrics.equity.sharpe_ratio);
    expect(high).toBeGreaterThan(of.changed.head.metrics.equity.sharpe_ratio);
    expect(of.leak).toMatchObject({ change: 'new', base: null, certificate: { state: 'look_ahead' } });
    expect(of.leak.failures[0]).toMatch(/^Look-ahead bias: .*customExit.*3 rows beyond index/);
    expect(of.gone).toMatchObject({ change: 'deleted', file: null, failures: [] });
    // Git detects the renamed file; its name and nothing else changed.
    expect(of.new_name).toMatchObject({
      change: 'renamed',
      before: { strategy: 'old_name', file: 'old_name.ts' },
      comparison: { same_result: true },
    });
    expect(report.broken).toHaveLength(1);

    const text = readFileSync(markdown, 'utf8');
    expect(readFileSync(summary, 'utf8')).toBe(`${text}\n`);
    expect(github.comments).toHaveLength(1);
    expect(github.comments[0]!.body).toMatch(/^<!-- touchstone-ci \w{12} -->\n## ❌ Touchstone/);
    expect(text.match(/^```mermaid$/gm)).toHaveLength(3);
    expect(text).toMatch(/^ {4}line \[[\d., ]+\]\n {4}line \[/m);
    // Names are in code, where each punctuation mark is a character reference.
    for (const [, inside] of text.matchAll(/<code>(.*?)<\/code>/gs)) {
      expect(inside).toMatch(/^(?:[A-Za-z0-9 ]|&#\d+;|[^\p{ASCII}])*$/u);
    }
    expect(text.replaceAll(/<code>.*?<\/code>/gs, '')).not.toMatch(/@|<img|\]\(|::|error/);
  });

  it('ci outside of a repository, of an unknown base, or of wrong settings exits with code 2', async () => {
    const { outside, write, ci } = folder();
    const unknown = await ci(['--base', 'nowhere']);
    expect([unknown.code, unknown.err]).toEqual([
      2,
      'Commit nowhere is not in this repository. Fetch it, or pass another --base.\n',
    ]);
    write('touchstone.config.json', { ci: { guardrails: { maxDrawdwn: 10 } } });
    const wrong = await ci();
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('ci.guardrails.maxDrawdwn')]);
    const noRepository = await ci([], { STRATEGIES_DIRECTORY: outside });
    expect([noRepository.code, noRepository.err]).toEqual([
      2,
      expect.stringContaining('is not in a Git repository'),
    ]);
  });
});

describe('comment of a pull request', () => {
  const write = async (text: string, worthNew = true) => {
    const { outside } = ciFixture();
    for (const [name, value] of Object.entries(
      pullRequest(join(outside, 'event.json'), 'a'.repeat(40), github.url),
    )) {
      vi.stubEnv(name, value);
    }
    return writeComment(text, 'strategies', worthNew);
  };

  it('first push creates the comment, later ones update it, whatever others wrote', async () => {
    expect(await write('first')).toMatchObject({ state: 'created' });
    const own = github.comments.at(-1)!;
    const marker = own.body.split('\n')[0]!;
    // A user's comment with the marker, before ours in the list, on the first of two pages.
    const foreign = { id: 900, body: `${marker}\nmine`, user: { type: 'User', login: 'eve' } };
    const others = Array.from({ length: 100 }, (_, i) => ({ ...foreign, id: 1000 + i, body: 'hello' }));
    github.comments.unshift(foreign, ...others);
    expect(await write('second')).toMatchObject({ state: 'updated' });
    expect([own.body, foreign.body]).toEqual([`${marker}\nsecond`, `${marker}\nmine`]);
    // An existing comment is corrected when the change was taken back.
    expect(await write('nothing', false)).toMatchObject({ state: 'updated' });
    expect(await writeComment('x', 'elsewhere', false)).toMatchObject({ state: 'not_needed' });
  });

  it('token that may only read leaves the report to the summary', async () => {
    github.status = 403;
    const { state, message } = await write('third');
    expect(state).toBe('failed');
    expect(message).toMatch(
      /status 403 to GET; a pull request of a fork .* The job summary has the report\.$/,
    );
    expect(message).not.toContain('secret-token');
    vi.stubEnv('GITHUB_API_URL', 'http://127.0.0.1:1');
    expect(await writeComment('x', 'strategies', true)).toMatchObject({ state: 'failed' });
  });
});

it.each([
  ['@all', '<code>&#64;all</code>'],
  ['a|b\nc', '<code>a&#124;b&#92;u&#123;a&#125;c</code>'],
  ['</code><b>&amp;`', '<code>&#60;&#47;code&#62;&#60;b&#62;&#38;amp&#59;&#96;</code>'],
  ['\u202Egpj', '<code>&#92;u&#123;202e&#125;gpj</code>'],
])('name %j is written without markup', (name, expected) => {
  expect(code(name)).toBe(expected);
});

it('report that GitHub would not accept is cut between lines, and says so', () => {
  const broken = Array.from({ length: 500 }, (_, i) => ({
    file: `${'@'.repeat(50)}${i}.ts`,
    error: 'No default export',
  }));
  const none = { folder: 'strategies', base: null, head: null, settings: {}, formerSettings: undefined };
  const report = { ...none, strategies: [], unchanged: 0, broken, failed: true };
  const whole = markdownOf(report, 10_000_000);
  expect(whole).toContain('499&#46;ts');
  const text = markdownOf(report, 5_000);
  expect(text.length).toBeLessThanOrEqual(5_000);
  const [lines, note] = text.split('\n\n\n');
  expect(whole.startsWith(`${lines}\n`)).toBe(true);
  expect(note).toMatch(/^The report is longer than GitHub accepts/);
});

describe('workflow of a strategy folder', () => {
  const workflow = parse(readFileSync('templates/strategy-folder/.github/workflows/strategies.yml', 'utf8'));
  const [job] = Object.values<any>(workflow.jobs);

  it('workflow may read the repository and write comments, and gives its token to one step', () => {
    expect(Object.keys(workflow.on)).toEqual(['push', 'pull_request']);
    expect([workflow.permissions, job.permissions]).toEqual([
      {},
      { contents: 'read', 'pull-requests': 'write' },
    ]);
    const withToken = job.steps.filter((step: any) => JSON.stringify(step).includes('github.token'));
    expect(withToken.map(({ run }: any) => run)).toEqual(['npx --no-install touchstone ci --comment']);
    expect(Object.keys(withToken[0].env)).toEqual(['GITHUB_TOKEN']);
  });

  it('workflow has the history, pins actions by commit, and has no expression in a shell command', () => {
    for (const step of job.steps) {
      expect(Object.keys(step).every((key) => ['uses', 'with', 'run', 'env', 'if'].includes(key))).toBe(true);
      if (step.uses) expect(step.uses).toMatch(/^actions\/[\w-]+@[0-9a-f]{40}$/);
      else {
        expect(step.run).not.toContain('${{');
        expect(spawnSync('bash', ['-n', '-c', step.run]).status).toBe(0);
      }
    }
    expect(job.steps[0].with).toEqual({ 'fetch-depth': 0, 'persist-credentials': false });
  });
});
