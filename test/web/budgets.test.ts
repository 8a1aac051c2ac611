import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import type { Manifest } from 'vite';
import { beforeAll, describe, expect, inject, test } from 'vitest';

const ENTRY = 'index.html';
const HOME = 'src/pages/home/home-page.tsx';
const REPORT = 'src/pages/report/report-page.tsx';
/** JavaScript of a page, KB of 1,000 bytes in Brotli. */
const BUDGETS = { first: 140, report: 224, other: 180 } as const;

describe('size of the built dashboard', () => {
  const folder = inject('dashboard');
  const read = (file: string) => readFileSync(join(folder, file));
  const manifest: Manifest = JSON.parse(read('.vite/manifest.json').toString());
  const isPage = (chunk: string) => chunk.startsWith('src/pages/');
  const pages = manifest[ENTRY]!.dynamicImports!.filter(isPage);
  /** KB of each script. */
  const sizes = new Map<string, number>();

  beforeAll(async () => {
    const scripts = Object.values(manifest).map(({ file }) => file);
    await Promise.all(
      [...new Set(scripts)]
        .filter((file) => file.endsWith('.js'))
        .map(async (file) => {
          sizes.set(file, (await promisify(brotliCompress)(read(file))).length / 1_000);
        }),
    );
  });

  /** Loaded by a click, such as all figures, for the few runs with models, protections, informative series, a universe, adjusted trades, a slippage model or tests of robustness, or instead of the report. */
  const isRare = (chunk: string) =>
    /(-dialog|\/rare-panels|\/all-figures|\/order-table|\/slippage-figures|\/requested-tests|\/job-progress)\.tsx$/.test(
      chunk,
    );

  /** Chunks that the browser loads for the given ones without a click: not other pages, and no dialogs. */
  function loadedFor(chunks: readonly string[], found = new Set<string>()): Set<string> {
    for (const chunk of chunks) {
      if (found.has(chunk)) continue;
      found.add(chunk);
      const { imports = [], dynamicImports = [] } = manifest[chunk]!;
      const lazy = dynamicImports.filter((each) => !pages.includes(each) && !isRare(each));
      loadedFor([...imports, ...lazy], found);
    }
    return found;
  }

  const scriptOf = (page: string) =>
    [...loadedFor([ENTRY, page])].reduce((sum, chunk) => sum + (sizes.get(manifest[chunk]!.file) ?? 0), 0);

  test('every page is a chunk of its own', () => {
    expect(pages).toEqual(expect.arrayContaining([HOME, REPORT]));
    expect(pages.length).toBeGreaterThan(10);
    expect([...loadedFor([ENTRY])].filter(isPage)).toEqual([]);
  });

  test(`the first page has at most ${BUDGETS.first} KB of JavaScript`, () => {
    expect(scriptOf(HOME)).toBeLessThanOrEqual(BUDGETS.first);
  });

  test(`the report with its candles has at most ${BUDGETS.report} KB`, () => {
    expect(loadedFor([REPORT])).toContain('src/charts/candles.tsx');
    expect(scriptOf(REPORT)).toBeLessThanOrEqual(BUDGETS.report);
  });

  test(`any other page has at most ${BUDGETS.other} KB`, () => {
    const large = pages.filter((page) => page !== REPORT && scriptOf(page) > BUDGETS.other);
    expect(large.map((page) => `${page}: ${scriptOf(page).toFixed(1)} KB`)).toEqual([]);
  });

  test('no script, style, font or picture comes from another host', () => {
    const styles = readdirSync(join(folder, 'assets')).filter((file) => file.endsWith('.css'));
    const inStyles = styles.flatMap((file) =>
      [
        ...read(`assets/${file}`)
          .toString()
          .matchAll(/url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)/g),
      ].map(([, url, imported]) => url ?? imported!),
    );
    const inPage = [
      ...read(ENTRY)
        .toString()
        .matchAll(/(?:src|href)="([^"]+)"/g),
    ].map(([, url]) => url!);
    expect(inStyles.some((url) => url.endsWith('.woff2'))).toBe(true);
    expect(inPage.some((url) => url.endsWith('.js'))).toBe(true);
    const own = /^(\/(?!\/)|\.\/|data:image\/)/;
    expect([...inStyles, ...inPage].filter((url) => !own.test(url))).toEqual([]);
  });
});
