import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { databaseMissing } from '#adapters/local/dynoxide.ts';
import { TOUCHSTONE } from '#contract/values/names.ts';
import { JSON_OPTION, UsageError } from '../options.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** In the package, the manifest of npm is above the compiled files. */
const MANIFEST = join(ROOT, import.meta.filename.endsWith('.ts') ? '' : '..', 'package.json');
const TEMPLATES = join(ROOT, 'templates');
/** Names that npm leaves out of a package, by their name in the templates. */
const RENAMED: Readonly<Record<string, string>> = { gitignore: '.gitignore' };
/** Node before 22 finds no test in TypeScript and succeeds, so the tests begin with a command that needs Node 24. */
const SCRIPTS = { start: 'touchstone start', test: 'touchstone --version && node --test' };
/** Packages of an editor: they complete and check what runs without them. */
const EDITOR_PACKAGES = ['@types/node', 'typescript'];
/** Packages of a deployment. */
const AWS_PACKAGES = ['aws-cdk', 'aws-cdk-lib', 'cdk-nag', 'constructs', 'esbuild'];

interface Manifest {
  type?: string;
  main?: string;
  private?: boolean;
  scripts?: Record<string, string>;
  devDependencies?: Record<string, string>;
  dependencies?: Record<string, string>;
}

export function addInitCommand(program: Command): void {
  program
    .command('init')
    .description(
      'make a strategy folder: a strategy that runs, a test that certifies it, settings, types, CI',
    )
    .argument('[folder]', 'created when absent', '.')
    .option('--aws', 'also a CDK app that deploys the strategies')
    .option(...JSON_OPTION)
    .action(
      (
        folder: string,
        { aws = false, json = false }: { readonly aws?: boolean; readonly json?: boolean },
      ) => {
        const files = initFolder(resolve(folder), aws);
        if (json) console.log(JSON.stringify({ folder: resolve(folder), files }));
        else printFiles(resolve(folder), files, aws);
      },
    );
}

/** A file of the folder; not `created`: it was there and is kept. */
interface WrittenFile {
  readonly file: string;
  readonly created: boolean;
}

/** Writes what is absent; existing files are kept. */
function initFolder(folder: string, aws: boolean): WrittenFile[] {
  // First, because it throws for a folder that has another use.
  const manifest = complete(readManifest(folder), folder, aws);
  const templates = [join(TEMPLATES, 'strategy-folder'), ...(aws ? [join(TEMPLATES, 'aws')] : [])];
  const files = templates.flatMap((source) =>
    filesOf(source).map((file) => {
      const target = join(folder, RENAMED[file] ?? file);
      return write(target, folder, () => cpSync(join(source, file), target));
    }),
  );
  if (aws) files.push(write(join(folder, 'cdk.json'), folder, (path) => writeJson(path, cdkSettings())));
  writeJson(join(folder, 'package.json'), manifest);
  return files;
}

function printFiles(folder: string, files: readonly WrittenFile[], aws: boolean): void {
  for (const { file, created } of files) console.log(`${created ? 'created' : 'kept   '}  ${file}`);
  const enter = relative(process.cwd(), folder);
  console.log(`\nNext${enter ? `, in ${enter}` : ''}:`);
  console.log('  npm install                                        types for your editor');
  console.log('  npm test                                           certifies strategies/*.ts');
  console.log(`  ${TOUCHSTONE} backtest my_pullback   on simulated candles`);
  console.log('  npm start                                          the dashboard: http://127.0.0.1:8000');
  if (aws)
    console.log('  npx --no-install cdk deploy --all -c stage=dev     see docs/deploy.md of the package');
  const missing = databaseMissing();
  if (missing) console.log(`\n${missing}`);
}

function write(path: string, folder: string, create: (path: string) => void): WrittenFile {
  const created = !existsSync(path);
  if (created) {
    mkdirSync(dirname(path), { recursive: true });
    create(path);
  }
  return { file: relative(folder, path), created };
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .sort();
}

function readManifest(folder: string): Manifest {
  const path = join(folder, 'package.json');
  if (!existsSync(path)) return {};
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Manifest;
  } catch (error) {
    throw new UsageError(
      `${path} is not JSON: ${(error as Error).message}. Fix it, then run the command again.`,
    );
  }
}

/** The manifest with what a strategy folder needs; values that it has are kept. */
function complete(manifest: Manifest, folder: string, aws: boolean): Manifest {
  const { devDependencies: versions } = JSON.parse(readFileSync(MANIFEST, 'utf8'));
  const added = [...EDITOR_PACKAGES, ...(aws ? AWS_PACKAGES : [])].map((name) => [name, versions[name]]);
  return {
    private: true,
    ...manifest,
    type: moduleType(manifest, folder),
    scripts: { ...SCRIPTS, ...withoutPlaceholder(manifest.scripts) },
    devDependencies: { ...Object.fromEntries(added), ...manifest.devDependencies },
  };
}

/** `npm init` writes a test that fails. */
function withoutPlaceholder({ test, ...scripts }: Record<string, string> = {}): Record<string, string> {
  return test === undefined || test.includes('no test specified') ? scripts : { test, ...scripts };
}

/** Strategies are ES modules. `npm init` writes `commonjs`, which means nothing while its `main` does not exist. */
function moduleType({ type, main = 'index.js' }: Manifest, folder: string): string {
  if (type !== 'commonjs') return type ?? 'module';
  if (!existsSync(join(folder, main))) return 'module';
  throw new UsageError(
    `package.json has "type": "commonjs" and ${main}, and strategies are ES modules. Choose another folder: touchstone init strategies-of-mine`,
  );
}

/** The behavior of the CDK for which the stacks are written. */
function cdkSettings(): object {
  const { context } = JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8'));
  return { app: 'node deploy.ts', versionReporting: false, context };
}

function writeJson(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
