import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import type { TestProject } from 'vitest/node';
import { hasChromium, shareChromium } from './chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the built dashboard. */
    dashboard: string;
  }
}

/** Builds the dashboard into a new temporary folder. */
export async function buildDashboard(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-dashboard-'));
  // Vitest's own `test` would build React for development, which is twice as large and much slower.
  const { NODE_ENV } = process.env;
  process.env.NODE_ENV = 'production';
  try {
    await build({
      configFile: join(import.meta.dirname, '../../../web/vite.config.ts'),
      configLoader: 'native',
      logLevel: 'warn',
      build: { outDir: folder },
    });
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = NODE_ENV;
  }
  return folder;
}

/**
 * Global set-up of test/web: builds the dashboard and starts a browser once for all files. Without a Chromium it counts, at the end, what was skipped.
 *
 * @throws Error without a Chromium if `TOUCHSTONE_REQUIRE_CHROMIUM` is set, as CI does
 */
export default async function setup(project: TestProject): Promise<() => void | Promise<void>> {
  if (!hasChromium) {
    if (process.env.TOUCHSTONE_REQUIRE_CHROMIUM) {
      throw new Error(
        'No Chromium, and TOUCHSTONE_REQUIRE_CHROMIUM is set: set TOUCHSTONE_CHROMIUM to its path',
      );
    }
    return () => sayWhatWasSkipped(project);
  }
  const browser = await shareChromium();
  const folder = await buildDashboard();
  project.provide('dashboard', folder);
  return async () => {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  };
}

function sayWhatWasSkipped({ name, vitest }: TestProject): void {
  const modules = vitest.state.getTestModules().filter(({ project }) => project.name === name);
  const skipped = modules
    .filter(({ moduleId }) => moduleId.includes('/test/web/'))
    .reduce((sum, { children }) => sum + [...children.allTests('skipped')].length, 0);
  if (skipped > 0) {
    console.warn(`web tests skipped: no Chromium (${skipped} tests). Set TOUCHSTONE_CHROMIUM to its path`);
  }
}
