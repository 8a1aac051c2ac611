import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import type { App, Stack } from 'aws-cdk-lib';
import { addTouchstone } from './add-touchstone.ts';
import { checkDeployable, type StageConfig } from './settings/config.ts';
import { readStageConfig } from './settings/settings-file.ts';

export interface TouchstoneProps {
  /** Folder of the strategies that the stage runs, relative to the working directory. */
  readonly strategies: string;
  /** `dev`, `test` or `prod`. @default - the context value `stage` (-c stage=prod), else `dev` */
  readonly stage?: string;
  /** Settings file. @default - the context value `config`, else touchstone.config.json of the working directory, if it exists */
  readonly settings?: string;
}

/** The settings file of a strategy folder. */
const SETTINGS = 'touchstone.config.json';
/** In a clone the bundles of the package are built by `npm run package`. */
const DIST = join(import.meta.dirname, extname(import.meta.url) === '.ts' ? '../dist' : '..');

/**
 * A stage of Touchstone: the stack that holds state and the stack that computes, with the strategies of a folder.
 *
 * @throws SettingsError that names every wrong setting
 * @throws Error that names a broken strategy file
 */
export class Touchstone {
  readonly config: StageConfig;
  /** Tables, buckets, users. */
  readonly data: Stack;
  /** Services, workflows, tasks. */
  readonly platform: Stack;

  constructor(app: App, { strategies, stage, settings }: TouchstoneProps) {
    const file: string | undefined = settings ?? app.node.tryGetContext('config');
    this.config = readStageConfig(
      stage ?? app.node.tryGetContext('stage') ?? 'dev',
      file ?? (existsSync(SETTINGS) ? SETTINGS : undefined),
    );
    checkDeployable(this.config);
    const bundles = mkdtempSync(join(tmpdir(), 'touchstone-bundles-'));
    try {
      bundle(resolve(strategies), bundles);
      // Both stacks stage their assets, so the bundles are not needed after this.
      ({ data: this.data, platform: this.platform } = addTouchstone(app, this.config, bundles));
    } finally {
      rmSync(bundles, { recursive: true, force: true });
    }
  }
}

/** In a process of its own: a constructor cannot wait, and bundling loads each strategy in a sandbox. */
function bundle(strategies: string, outdir: string): void {
  const program = join(DIST, 'bin/build/bundle-strategies.js');
  const { status, stderr, error } = spawnSync(process.execPath, [program, strategies, outdir], {
    encoding: 'utf8',
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  if (status === 0) return;
  const isMissing = stderr?.includes("Cannot find package 'esbuild'");
  throw new Error(
    isMissing
      ? 'Deploying needs esbuild: run npm i -D esbuild in this folder.'
      : `The strategies could not be bundled: ${error?.message ?? stderr.trim()}`,
  );
}
