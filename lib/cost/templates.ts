import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { addTouchstone } from '../add-touchstone.ts';
import type { StageConfig } from '../settings/config.ts';

const ROOT = join(import.meta.dirname, '../..');

/** CloudFormation resource. */
export interface Resource {
  readonly Type: string;
  readonly Properties?: Properties;
}

// biome-ignore lint/suspicious/noExplicitAny: the properties depend on the resource type.
export type Properties = Readonly<Record<string, any>>;

/** Resources of both stacks by logical ID. */
export type Resources = ReadonlyMap<string, Resource>;

/** Synthesizes a stage as bin/app.ts does, with placeholders for the bundles: neither a build nor Docker is needed. */
export function resourcesOf(config: StageConfig): Resources {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-cost-'));
  try {
    const { context } = JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8'));
    const app = new App({ outdir: join(folder, 'cdk.out'), context });
    addTouchstone(app, config, placeholderBundles(folder));
    const templates = app.synth().stacks.map((stack) => stack.template as { Resources: object });
    const entries = templates.flatMap(({ Resources }) => Object.entries(Resources));
    const resources = new Map(entries);
    if (resources.size < entries.length) throw new Error('Two stacks have a resource of the same logical ID');
    return resources;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Writes what bin/build/build.ts builds, without content; returns the folder. */
export function placeholderBundles(folder: string): string {
  const dist = join(folder, 'dist');
  for (const file of readdirSync(join(ROOT, 'lambdas')).filter((each) => each.endsWith('.ts'))) {
    const name = basename(file, '.ts');
    mkdirSync(join(dist, 'lambdas', name), { recursive: true });
    writeFileSync(join(dist, 'lambdas', name, 'index.mjs'), `export const handler = '${name}';\n`);
  }
  mkdirSync(join(dist, 'tasks'), { recursive: true });
  writeFileSync(join(dist, 'tasks', 'Dockerfile'), 'FROM scratch\n');
  return dist;
}
