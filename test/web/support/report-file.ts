import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, inject } from 'vitest';
import type { TestPlatformOptions } from '../../support/platform.ts';
import { type Dashboard, type OpenOptions, type OpenPage, startDashboard } from './dashboard.ts';
import { seedBacktest } from './seed.ts';

/** Headings of the report, in its order. */
export const HEADINGS = [
  'Equity and drawdown',
  'Monthly returns, %',
  'Trades, USDT',
  'Distribution of the results, %',
  'Trades by group, USDT',
  'Drawdowns, USDT',
  'Costs, USDT',
  'Provenance',
];
/** Ends a script and a title, and runs a script, wherever it is not text. */
export const HOSTILE = `</script></title><img src=x onerror=alert(1)>$&"'<!--\u2028`;

/** The report of a backtest as a file, and a folder for others. */
export interface ReportFileScene {
  dashboard: Dashboard;
  /** Folder of the platform and of the files. */
  home: string;
  job: string;
  html: string;
  /** The report of a backtest as one file. */
  exported(id: string): Promise<string>;
  save(file: string, text: string): Promise<void>;
  /** Opens a saved file from the disk. */
  open(file: string, options?: OpenOptions): Promise<OpenPage>;
}

/** Starts a platform before the tests of a file, exports a backtest to `report.html`, and removes all after them. */
export function reportFileScene(options: TestPlatformOptions = {}): ReportFileScene {
  const scene = {
    exported: async (id) =>
      (await fetch(`${scene.dashboard.url}/api/v1/backtests/${id}/export?format=html`)).text(),
    save: (file, text) => writeFile(join(scene.home, file), text),
    open: (file, view) => scene.dashboard.open(pathToFileURL(join(scene.home, file)).href, view),
  } as ReportFileScene;
  beforeAll(async () => {
    scene.home = await mkdtemp(join(tmpdir(), 'touchstone-report-'));
    scene.dashboard = await startDashboard(inject('dashboard'), { home: scene.home, ...options });
    scene.job = await seedBacktest(scene.dashboard.platform, {}, { experiment_name: HOSTILE });
    scene.html = await scene.exported(scene.job);
    await scene.save('report.html', scene.html);
  });
  afterAll(async () => {
    await scene.dashboard?.stop();
    await rm(scene.home, { recursive: true });
  });
  return scene;
}
