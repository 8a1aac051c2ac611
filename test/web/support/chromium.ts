import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserServer, LaunchOptions } from 'playwright-core';

const OF_THE_MACHINE = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The browser of npm runs on Linux for x64 only. */
const isPacked = process.platform === 'linux' && process.arch === 'x64';

/** Chromium to start: `TOUCHSTONE_CHROMIUM` (empty: none), the one of npm, the machine's own, or none. */
const installed = process.env.TOUCHSTONE_CHROMIUM ?? (isPacked ? 'npm' : OF_THE_MACHINE.find(existsSync));

/** False: there is no Chromium, and tests of the dashboard are skipped. */
export const hasChromium = Boolean(installed);

/** Address of the browser that all files of a run share: each start takes a second. */
const SHARED = 'TOUCHSTONE_BROWSER';

/**
 * Starts a headless Chromium.
 *
 * @throws Error without one; set TOUCHSTONE_CHROMIUM
 */
export async function launchChromium(): Promise<Browser> {
  const { chromium } = await import('playwright-core');
  return chromium.launch(await launchOptions());
}

/** Starts the Chromium that {@link openChromium} uses in this process and in those that it starts. */
export async function shareChromium(): Promise<BrowserServer> {
  const { chromium } = await import('playwright-core');
  const server = await chromium.launchServer(await launchOptions());
  process.env[SHARED] = server.wsEndpoint();
  return server;
}

/** The shared Chromium, else one of its own. To close it closes the contexts that were opened with it. */
export async function openChromium(): Promise<Browser> {
  const address = process.env[SHARED];
  if (!address) return launchChromium();
  const { chromium } = await import('playwright-core');
  return chromium.connect(address);
}

async function launchOptions(): Promise<LaunchOptions> {
  if (!installed) throw new Error('No Chromium: set TOUCHSTONE_CHROMIUM to its path');
  return {
    executablePath: installed === 'npm' ? await unpacked() : installed,
    // Not the arguments of the package: one of its own ends the browser at the second context, another disables the policy.
    // A page that a test answers itself counts as one of the Internet, which could not call the identity provider of the test.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-features=LocalNetworkAccessChecks'],
  };
}

/** Path of the browser of npm, unpacked into the temporary folder once. */
async function unpacked(): Promise<string> {
  // Read when the package is loaded: it then unpacks its libraries and names them in LD_LIBRARY_PATH.
  process.env.AWS_EXECUTION_ENV ??= 'AWS_Lambda_nodejs22.x';
  const { default: packed } = await import('@sparticuz/chromium');
  const path = await packed.executablePath();
  process.env.FONTCONFIG_FILE = await fontsOfNpm();
  return path;
}

/** Configuration of the fonts next to the browser. The package's own names /tmp, and the browser ends where it finds no font. */
async function fontsOfNpm(): Promise<string> {
  const file = join(tmpdir(), 'touchstone-fonts.conf');
  const folders = `<dir>${join(tmpdir(), 'fonts')}</dir><cachedir>${join(tmpdir(), 'fonts-cache')}</cachedir>`;
  await writeFile(file, `<?xml version="1.0"?><fontconfig>${folders}</fontconfig>`);
  return file;
}
