import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeEach } from 'vitest';
import { type RunningServer, serve } from '#runtime/serve.ts';
import { Dashboard } from '../../bin/build/dashboard.ts';
import { withDashboard } from '../../src/local/dashboard.ts';
import { backendApp, memoryLog } from '../support/backend.ts';

const PACKAGES = resolve(import.meta.dirname, '../../node_modules');
const SOURCES: Readonly<Record<string, string>> = {
  'web/index.html': '<!doctype html><title>small</title><script type="module" src="/main.js"></script>',
  'web/main.js': "document.title = 'first';",
  'web/vite.config.ts': 'export default { build: { assetsInlineLimit: 0 } };',
  'src/contract/a.ts': '',
  'src/engine/metrics/a.ts': '',
  'src/engine/walk-forward/objectives.ts': '',
  'package.json': '{"type":"module"}',
  'package-lock.json': '{}',
  'tsconfig.json': '{}',
};

/** A small project with its own cache for each test, built by the real vite in the real build process. */
export function dashboardFixture() {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-dashboard-'));
  const running: { stop(): Promise<unknown> }[] = [];
  let count = 0;
  const fixture = {
    root: '',
    cache: '',
    /** Writes a file of the project; null deletes it. */
    write(path: string, text: string | null) {
      if (text === null) rmSync(join(fixture.root, path), { recursive: true });
      else writeFileSync(join(fixture.root, path), text);
    },
    /** Names in the cache. */
    cached: () => readdirSync(fixture.cache).sort(),
    /** As `npm start` has it: a dashboard that is not opened yet, before the API of the backend. */
    async start() {
      const dashboard = new Dashboard({ root: fixture.root, cache: fixture.cache });
      const config = { stage: 'local', version: '1', exchange: 'sim', auth: null };
      const server: RunningServer = await serve(withDashboard(backendApp().app, config, dashboard.state), {
        port: 0,
        hostname: '127.0.0.1',
        log: memoryLog().log,
      });
      running.push({ stop: () => Promise.all([dashboard.stop(), server.close()]) });
      const get = async (path: string) => {
        const response = await fetch(server.url + path, { headers: { accept: 'text/html' } });
        return { status: response.status, text: await response.text() };
      };
      return {
        dashboard,
        get,
        /** Content of the built script. */
        async script() {
          const { text } = await get('/');
          return (await get(/src="([^"]+)"/.exec(text)![1]!)).text;
        },
      };
    },
  };
  beforeEach(() => {
    fixture.root = join(folder, String(count++));
    fixture.cache = join(fixture.root, 'cache/web');
    for (const path of ['web', 'src/contract', 'src/engine/metrics', 'src/engine/walk-forward'])
      mkdirSync(join(fixture.root, path), { recursive: true });
    for (const [path, text] of Object.entries(SOURCES)) fixture.write(path, text);
    symlinkSync(PACKAGES, join(fixture.root, 'node_modules'));
  });
  afterAll(async () => {
    await Promise.all(running.map((each) => each.stop()));
    rmSync(folder, { recursive: true, force: true });
  });
  return fixture;
}
