import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Plugin, type PluginOption } from 'vite';
import { FILE_CANDLES_MARK, FILE_DATA_MARK, FILE_PAGE_NAME } from '../src/contract/backtests/report-file.ts';

/** The page of a report that is one file, built with the dashboard and put among its files. */
export function reportFile(plugins: PluginOption[]): Plugin {
  return {
    name: 'report-file',
    apply: 'build',
    async generateBundle() {
      this.emitFile({ type: 'asset', fileName: FILE_PAGE_NAME, source: pageOf(await bundle(plugins)) });
    },
  };
}

/** The largest library, in a script of its own: a file without trades leaves it out. */
const CANDLES = { package: 'lightweight-charts', global: 'LightweightCharts' } as const;

interface Bundle {
  readonly code: string;
  readonly candles: string;
  readonly style: string;
}

/** One script and one style: a file has nothing to load later. */
async function bundle(plugins: PluginOption[]): Promise<Bundle> {
  const built = await build({
    root: import.meta.dirname,
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    plugins,
    build: {
      write: false,
      target: 'es2023',
      modulePreload: false,
      cssCodeSplit: false,
      rolldownOptions: {
        input: join(import.meta.dirname, 'src/report-file/main.tsx'),
        external: [CANDLES.package],
        output: { codeSplitting: false, format: 'iife', globals: { [CANDLES.package]: CANDLES.global } },
        onLog: (level, log, next) => {
          // React's server directives, and the address of the script in vite's loader of further scripts: there are none.
          if (log.code !== 'MODULE_LEVEL_DIRECTIVE' && log.code !== 'EMPTY_IMPORT_META') next(level, log);
        },
      },
    },
  });
  const outputs = [built].flat().flatMap((each) => ('output' in each ? each.output : []));
  const code = outputs.flatMap((each) => (each.type === 'chunk' ? [each.code] : []));
  const style = outputs.flatMap((each) =>
    each.type === 'asset' && each.fileName.endsWith('.css') ? [String(each.source)] : [],
  );
  if (code.length !== 1 || style.length !== 1 || outputs.length !== 2) {
    throw new Error(
      `The page of a report must be one script and one style, not ${outputs.map(({ fileName }) => fileName)}`,
    );
  }
  const folder = createRequire(import.meta.url).resolve(`${CANDLES.package}/package.json`);
  const standalone = join(folder, `../dist/${CANDLES.package}.standalone.production.js`);
  return { code: code[0]!, candles: await readFile(standalone, 'utf8'), style: style[0]! };
}

/** Adds the style and the scripts, whose hashes the policy allows: compressed, they are a third of their size. */
const LOADER = `
const read = (id) => {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
};
// The policy of the page runs no script but those whose hash it names, whatever comes through here.
const policy = globalThis.trustedTypes?.createPolicy('report', { createScript: (text) => text });
const run = async (id) => {
  const code = await read(id);
  const script = document.createElement('script');
  script.text = policy?.createScript(code) ?? code;
  document.head.append(script);
};
const style = document.createElement('style');
style.textContent = await read('style');
document.head.append(style);
if (document.getElementById('candles')) await run('candles');
else globalThis.${CANDLES.global} = {};
await run('code');
`;

/**
 * The page with a mark where the data go. Everything that varies is base64, so no name of a strategy, tag or pair can end an
 * element.
 */
function pageOf({ code, candles, style }: Bundle): string {
  const policy = [
    "default-src 'none'",
    `script-src ${[LOADER, candles, code].map(hashOf).join(' ')}`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types report',
  ];
  return `<!doctype html>
<html lang="en" data-theme="light">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy.join('; ')}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Touchstone report</title>
<link rel="icon" href="data:,">
<div id="root"></div>
<noscript>This report needs JavaScript. It loads nothing from anywhere.</noscript>
<script type="text/plain" id="style">${compressed(style)}</script>
${FILE_CANDLES_MARK}
<script type="text/plain" id="candles">${compressed(candles)}</script>
${FILE_CANDLES_MARK}
<script type="text/plain" id="code">${compressed(code)}</script>
<script type="text/plain" id="data">${FILE_DATA_MARK}</script>
<script type="module">${LOADER}</script>
</html>
`;
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

function compressed(text: string): string {
  return gzipSync(text, { level: 9 }).toString('base64');
}
