import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Metafile } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';
import { build } from '../../bin/build.ts';

/** Bundles that a test file builds. */
export function bundlesFixture() {
  const outdir = mkdtempSync(join(tmpdir(), 'touchstone-bundles-'));
  const fixture = {
    outdir,
    metafile: {} as Metafile,
    /** Metafile entries by path below the output folder. */
    bundles: new Map<string, Metafile['outputs'][string]>(),
  };
  beforeAll(async () => {
    fixture.metafile = await build(outdir);
    for (const [path, output] of Object.entries(fixture.metafile.outputs)) {
      if (!output.entryPoint) continue;
      fixture.bundles.set(path.slice(path.indexOf(basename(outdir)) + basename(outdir).length + 1), output);
    }
  });
  afterAll(() => rmSync(outdir, { recursive: true, force: true }));
  return fixture;
}
