import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Metafile } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';
import { build } from '../../bin/build/build.ts';

type Output = Metafile['outputs'][string];

/** Bundles that a test file builds. */
export function bundlesFixture() {
  const outdir = mkdtempSync(join(tmpdir(), 'touchstone-bundles-'));
  const outputs = new Map<string, Output>();
  const fixture = {
    outdir,
    metafile: {} as Metafile,
    /** All written files by path below the output folder. */
    outputs,
    /** Entry files of them. */
    bundles: new Map<string, Output>(),
    /** Path of a bundle's file with those that it imports: at its start, or also at run time. */
    filesOf: (bundle: string, when: 'start' | 'ever'): string[] => {
      const found = new Set([bundle]);
      for (const path of found) {
        for (const { path: imported, kind, external } of outputs.get(path)!.imports) {
          if (!external && (when === 'ever' || kind !== 'dynamic-import')) found.add(below(imported));
        }
      }
      return [...found];
    },
  };
  const below = (path: string) => path.slice(path.indexOf(basename(outdir)) + basename(outdir).length + 1);
  beforeAll(async () => {
    fixture.metafile = await build(outdir);
    for (const [path, output] of Object.entries(fixture.metafile.outputs)) {
      outputs.set(below(path), output);
      if (/^(lambdas\/[\w-]+\/index|tasks\/[\w-]+)\.mjs$/.test(below(path))) {
        fixture.bundles.set(below(path), output);
      }
    }
  });
  afterAll(() => rmSync(outdir, { recursive: true, force: true }));
  return fixture;
}
