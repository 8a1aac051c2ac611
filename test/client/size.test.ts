import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import * as client from '../../src/client/index.ts';

/** A program for a browser with some exports of the client, minified. */
async function bundle(names: readonly string[]) {
  const { outputFiles, metafile } = await build({
    stdin: {
      contents: `import { ${names.join(', ')} } from './src/client/index.ts';\nglobalThis.use(${names.join(', ')});`,
      resolveDir: process.cwd(),
      loader: 'ts',
    },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    logLevel: 'silent',
    platform: 'browser',
    target: 'es2022',
  });
  const { contents, text } = outputFiles[0]!;
  return {
    bytes: contents.length,
    gzip: gzipSync(contents).length,
    text,
    inputs: Object.keys(metafile.inputs),
  };
}

describe('client in a program', () => {
  it('whole client has at most 12,000 bytes, without packages', async () => {
    const whole = await bundle(Object.keys(client));
    expect(whole.bytes).toBeLessThanOrEqual(12_000);
    expect(whole.inputs.filter((path) => !/^src\/client\/|^<stdin>$/.test(path))).toEqual([]);
  });

  it('a program contains only what it uses', async () => {
    const some = await bundle(['connect', 'submitBacktest', 'getBacktest', 'waitFor']);
    expect(some.bytes).toBeLessThanOrEqual(5_000);
    expect(some.text).toContain('/backtests/{job_id}');
    expect(some.text).not.toMatch(/hyperopt|Last-Event-ID|next_cursor/);
  });
});
