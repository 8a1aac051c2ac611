import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { pageHeaders } from '#contract/values/security-headers.ts';
import { poll } from '../support/poll.ts';
import { isAlive } from '../support/processes.ts';
import { dashboardFixture } from './dashboard-fixture.ts';

const fixture = dashboardFixture();

it('concurrent starts serve the same complete build', async () => {
  const starts = await Promise.all([fixture.start(), fixture.start(), fixture.start()]);
  const states = await Promise.all(starts.map(({ dashboard }) => dashboard.open()));
  expect(states.map(({ status }) => status)).toEqual(['ready', 'ready', 'ready']);
  for (const { script } of starts) expect(await script()).toContain('first');
  expect(fixture.cached()).toHaveLength(1);
});

it.each([
  ['changed', () => fixture.write('web/main.js', "document.title = 'second';"), 'second'],
  ['new', () => fixture.write('src/contract/b.ts', ''), 'first'],
  ['deleted', () => fixture.write('src/contract/a.ts', null), 'first'],
])('start after a %s source builds again', async (_, change, content) => {
  await (await fixture.start()).dashboard.open();
  const before = fixture.cached();
  change();
  const { dashboard, script } = await fixture.start();
  expect(await dashboard.open()).toMatchObject({ status: 'ready' });
  expect(await script()).toContain(content);
  expect(fixture.cached()).not.toEqual(before);
});

it.each([
  ['empty', () => ''],
  ['changed', (text: string) => text.replace('first', 'other')],
  ['missing', () => null],
])('start with a cached build whose script is %s builds again', async (_, corrupt) => {
  await (await fixture.start()).dashboard.open();
  const assets = join(fixture.cache, fixture.cached()[0]!, 'assets');
  const script = join(assets, readdirSync(assets).find((name) => name.endsWith('.js'))!);
  const text = corrupt(readFileSync(script, 'utf8'));
  if (text === null) rmSync(script);
  else writeFileSync(script, text);
  const starts = await Promise.all([fixture.start(), fixture.start()]);
  for (const { dashboard } of starts) expect(await dashboard.open()).toMatchObject({ status: 'ready' });
  for (const each of starts) expect(await each.script()).toContain('first');
  expect(fixture.cached()).toHaveLength(1);
});

it('source that changes during a build is in the build that is served', async () => {
  fixture.write(
    'web/vite.config.ts',
    `import { existsSync, writeFileSync } from 'node:fs';
    const main = import.meta.dirname + '/main.js';
    const done = import.meta.dirname + '/../done';
    const closeBundle = () => {
      if (!existsSync(done)) writeFileSync(main, "document.title = 'later';");
      writeFileSync(done, '');
    };
    export default { plugins: [{ name: 'edit', closeBundle }] };`,
  );
  const { dashboard, script } = await fixture.start();
  await dashboard.open();
  expect(await script()).toContain('later');
  expect(fixture.cached()).toHaveLength(1);
});

/** A build that does not end, and reports its process ID. */
const endless = () =>
  fixture.write(
    'web/vite.config.ts',
    `import { writeFileSync } from 'node:fs';
    const buildStart = () => {
      writeFileSync(import.meta.dirname + '/../pid', String(process.pid));
      return new Promise(() => setInterval(() => {}, 1000));
    };
    export default { plugins: [{ name: 'endless', buildStart }] };`,
  );
const buildProcess = async () => {
  const { readFile } = await import('node:fs/promises');
  const read = () => readFile(join(fixture.root, 'pid'), 'utf8').catch(() => '');
  return Number(await poll(read, (text) => text !== ''));
};

it('stop ends a build in progress', async () => {
  endless();
  const { dashboard } = await fixture.start();
  const opened = dashboard.open();
  const pid = await buildProcess();
  await dashboard.stop();
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  // Not a failure: nothing is reported.
  expect(await opened).toEqual({ status: 'building' });
});

it('build ends with the platform that started it', async () => {
  endless();
  const code = `import { Dashboard } from './bin/build/dashboard.ts';
    await new Dashboard(${JSON.stringify({ root: fixture.root, cache: fixture.cache })}).open();`;
  const platform = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: 'inherit' });
  const pid = await buildProcess();
  platform.kill('SIGKILL');
  await poll(
    async () => isAlive(pid),
    (alive) => !alive,
  );
});

it('killed build is reported, and what it left is never served and is deleted after a day', async () => {
  endless();
  const { dashboard } = await fixture.start();
  const opened = dashboard.open();
  process.kill(await buildProcess(), 'SIGKILL');
  expect(await opened).toMatchObject({ status: 'failed', reason: 'The build was killed' });
  const [draft] = fixture.cached();
  expect(draft).toMatch(/^draft-/);

  fixture.write('web/vite.config.ts', 'export default {};');
  await (await fixture.start()).dashboard.open();
  // The build of another start may be in progress there.
  expect(fixture.cached()).toContain(draft);
  utimesSync(join(fixture.cache, draft!), 0, 0);
  fixture.write('web/main.js', "document.title = 'second';");
  const { dashboard: next, script } = await fixture.start();
  await next.open();
  expect(await script()).toContain('second');
  expect(fixture.cached()).not.toContain(draft);
});

it('cache that cannot be written is reported', async () => {
  mkdirSync(join(fixture.root, 'cache'));
  writeFileSync(fixture.cache, 'a file');
  const { dashboard } = await fixture.start();
  expect(await dashboard.open()).toMatchObject({
    status: 'failed',
    reason: expect.stringContaining(fixture.cache),
  });
});

it('npm start serves the real dashboard at the address that it prints', async () => {
  const home = mkdtempSync(join(tmpdir(), 'touchstone-start-'));
  const ports = { BACKEND_PORT: '0', STRATEGY_PORT: '0', DATA_COLLECTION_PORT: '0' };
  const child = spawn(process.execPath, ['bin/local.ts'], {
    env: { TOUCHSTONE_HOME: home, TMPDIR: tmpdir(), ...ports },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let url: string | undefined;
    for await (const line of createInterface({ input: child.stdout })) {
      url = /dashboard +(http:\/\/127\.0\.0\.1:\d+)$/.exec(line)?.[1];
      if (url) break;
    }
    const open = (path: string) => fetch(url + path, { headers: { accept: 'text/html' } });
    const page = await poll(
      () => open('/backtests/bt-1'),
      ({ status }) => status === 200,
    );
    for (const [name, value] of Object.entries(pageHeaders())) expect(page.headers.get(name)).toBe(value);
    const html = await page.text();
    // The policy allows neither inline code nor inline style.
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/);
    const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link!);
    expect(links.length).toBeGreaterThanOrEqual(2);
    for (const link of links) {
      expect(link).toMatch(/^\//);
      const file = await open(link);
      expect([link, file.status]).toEqual([link, 200]);
      await file.body?.cancel();
    }
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
    rmSync(home, { recursive: true, force: true });
  }
});
