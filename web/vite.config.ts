import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vite';
import { OPERATIONS } from '../src/contract/operations.ts';
import { METRIC_DEFINITIONS, METRIC_NOTATION } from '../src/engine/metrics/catalogue.ts';
import { REPORT_DEFINITIONS } from '../src/engine/metrics/report-catalogue.ts';

/** Modules made at build time from tables of the platform, so that neither zod nor a second copy of a table is in the bundle. */
const TABLES: Readonly<Record<string, () => unknown>> = {
  /** Operation id -> service, method and path. */
  'virtual:operations': () =>
    Object.fromEntries(OPERATIONS.map(({ id, service, method, path }) => [id, [service, method, path]])),
  /** Labels, units and formulas of the report, and the symbols of the formulas. */
  'virtual:metrics': () => ({
    definitions: { ...METRIC_DEFINITIONS, ...REPORT_DEFINITIONS },
    notation: METRIC_NOTATION,
  }),
};

function tables(): Plugin {
  return {
    name: 'tables',
    resolveId: (source) => (Object.hasOwn(TABLES, source) ? `\0${source}` : undefined),
    load(id) {
      const make = TABLES[id.slice(1)];
      return make && `export default ${JSON.stringify(make())}`;
    },
  };
}

/** The platform of `npm start`, which serves all of the dashboard's requests at one address. */
const PLATFORM = `http://127.0.0.1:${process.env.BACKEND_PORT ?? 8000}`;

export default defineConfig({
  root: import.meta.dirname,
  plugins: [tables()],
  server: { proxy: { '/services/': PLATFORM, '/config.json': PLATFORM } },
  build: {
    outDir: join(import.meta.dirname, '../dist/web'),
    emptyOutDir: true,
    target: 'es2023',
    manifest: true,
    // The policy forbids data URLs for all but images, and a file of its own is kept by the browser.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // React's server directives mean nothing to a browser.
      onLog: (level, log, next) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') next(level, log);
      },
    },
  },
});
