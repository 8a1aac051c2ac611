import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import type { TestProject } from 'vitest/node';
import { hasChromium, launchChromium } from './chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the built dashboard. */
    dashboard: string;
  }
}

/** Builds the dashboard into a new temporary folder. */
export async function buildDashboard(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-dashboard-'));
  await build({
    configFile: join(import.meta.dirname, '../../../web/vite.config.ts'),
    configLoader: 'native',
    logLevel: 'warn',
    build: { outDir: folder },
  });
  return folder;
}

/** Global set-up of test/web: builds the dashboard once for all files. */
export default async function setup(project: TestProject): Promise<() => void> {
  if (!hasChromium) console.warn('web tests skipped: no Chromium. Set TOUCHSTONE_CHROMIUM to its path');
  // Unpacks the browser before files that run at the same time would each do so.
  else await (await launchChromium()).close();
  const folder = await buildDashboard();
  project.provide('dashboard', folder);
  return () => rmSync(folder, { recursive: true });
}
