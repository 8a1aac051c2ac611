import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SERVICES } from '#contract/values/names.ts';
import { pythonWith } from '../support/python.ts';

/**
 * OpenAPI Generator with its defaults over the committed documents, and the compiler of each language over what it writes. Needs Java
 * and Maven for the generator; a language without a compiler is skipped.
 */

const GENERATOR = 'org.openapitools:openapi-generator-cli:7.17.0';
const LIMIT_MS = 900_000;
const ROOT = join(import.meta.dirname, '../..');
const DOCUMENTS = Object.values(SERVICES).map(({ document }) => document);
/** Generators by the language of this test. */
const GENERATORS = {
  java: 'java',
  typescript: 'typescript-fetch',
  go: 'go',
  rust: 'rust',
  python: 'python',
} as const;
type Language = keyof typeof GENERATORS;

const work = mkdtempSync(join(existsSync('/var/tmp') ? '/var/tmp' : tmpdir(), 'touchstone-openapi-'));
afterAll(() => rmSync(work, { recursive: true, force: true }));
const folderOf = (language: Language, document: string) => join(work, language, document);

const execute = promisify(execFile);

/** Output of a program. Throws with what it said when it fails. */
async function run(cwd: string, command: string, ...args: readonly string[]): Promise<string> {
  const options = { cwd, maxBuffer: 64 * 1024 ** 2, timeout: LIMIT_MS };
  const { stdout } = await execute(command, [...args], options).catch((error) => {
    throw new Error(
      `${command} ${args.slice(0, 6).join(' ')}\n${`${error.stdout}\n${error.stderr}`.slice(-6_000)}`,
    );
  });
  return stdout;
}

/** The reason why a program is not there; undefined when it is. */
async function missing(command: string, ...args: readonly string[]): Promise<string | undefined> {
  return run(work, command, ...args).then(
    () => undefined,
    () => `${command} is not installed`,
  );
}

async function missingGenerator(): Promise<string | undefined> {
  const tools = (await missing('java', '-version')) ?? (await missing('mvn', '--version'));
  if (tools !== undefined) return tools;
  const copy = ['dependency:copy', `-Dartifact=${GENERATOR}`, `-DoutputDirectory=${work}`];
  return run(work, 'mvn', '--batch-mode', '--quiet', ...copy).then(
    () => undefined,
    () => `Maven cannot download ${GENERATOR}`,
  );
}

const withoutGenerator = await missingGenerator();
const python = withoutGenerator ?? (await pythonWith('test/generators/requirements.txt'));
const lacking: Record<Language, string | undefined> = {
  java: await missing('javac', '-version'),
  typescript: undefined,
  go: await missing('go', 'version'),
  rust: await missing('cargo', '--version'),
  python: typeof python === 'object' && 'missing' in python ? python.missing : undefined,
};
if (withoutGenerator !== undefined)
  console.warn(`Skipped: clients of OpenAPI Generator. ${withoutGenerator}.`);
for (const [language, reason] of Object.entries(lacking))
  if (reason !== undefined)
    console.warn(`Skipped: the client of OpenAPI Generator for ${language}. ${reason}.`);

/** All files below a folder with that ending. */
function filesOf(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}

/** Compiles what was generated for a language. */
const compile: Record<Language, () => Promise<void>> = {
  java: async () => {
    const [first = ''] = DOCUMENTS.map((document) => folderOf('java', document));
    const list = join(work, 'classpath.txt');
    await run(
      first,
      'mvn',
      '--batch-mode',
      '--quiet',
      'dependency:build-classpath',
      `-Dmdep.outputFile=${list}`,
    );
    for (const document of DOCUMENTS) {
      const folder = folderOf('java', document);
      const sources = join(folder, 'sources.txt');
      writeFileSync(sources, filesOf(join(folder, 'src/main'), '.java').join('\n'));
      const classes = join(folder, 'classes');
      await run(folder, 'javac', '-nowarn', '-d', classes, '-cp', `@${list}`, `@${sources}`);
    }
  },
  typescript: async () => {
    const files = DOCUMENTS.map((document) => join(folderOf('typescript', document), 'index.ts'));
    const modules = ['--module', 'esnext', '--moduleResolution', 'bundler', '--target', 'es2022'];
    const options = ['--noEmit', '--strict', '--lib', 'es2022,dom', ...modules];
    await run(work, join(ROOT, 'node_modules/.bin/tsc'), ...options, ...files);
  },
  go: async () => {
    for (const document of DOCUMENTS) {
      const folder = folderOf('go', document);
      await run(folder, 'go', 'mod', 'tidy');
      await run(folder, 'go', 'build', '.');
    }
  },
  rust: async () => {
    const members = DOCUMENTS.map((document) => JSON.stringify(document)).join(', ');
    const folder = join(work, 'rust');
    writeFileSync(join(folder, 'Cargo.toml'), `[workspace]\nresolver = "2"\nmembers = [${members}]\n`);
    // Without TLS, which would need a compiler of C.
    await run(folder, 'cargo', 'check', '--quiet', '--no-default-features');
  },
  python: async () => {
    const program = [
      'import importlib, pkgutil, openapi_client as client',
      'for each in pkgutil.walk_packages(client.__path__, "openapi_client."): importlib.import_module(each.name)',
    ];
    for (const document of DOCUMENTS)
      await run(
        folderOf('python', document),
        (python as { python: string }).python,
        '-c',
        program.join('\n'),
      );
  },
};

describe.skipIf(withoutGenerator !== undefined)('clients of OpenAPI Generator', () => {
  beforeAll(async () => {
    const [jar = ''] = filesOf(work, '.jar');
    const languages = (Object.keys(GENERATORS) as Language[]).filter((name) => lacking[name] === undefined);
    const configs = languages.flatMap((language) =>
      DOCUMENTS.map((document) => {
        const path = join(work, `${language}-${document}.json`);
        const packaged = { packageName: `touchstone-${document}` };
        const config = {
          generatorName: GENERATORS[language],
          inputSpec: join(ROOT, `docs/openapi/${document}.json`),
          outputDir: folderOf(language, document),
          ...(language === 'rust' && { additionalProperties: packaged }),
        };
        mkdirSync(config.outputDir, { recursive: true });
        writeFileSync(path, JSON.stringify(config));
        return path;
      }),
    );
    // Its threads share maps: two at once end with a ConcurrentModificationException.
    await run(work, 'java', '-jar', jar, 'batch', '--fail-fast', '--threads', '1', ...configs);
  }, LIMIT_MS);

  for (const language of Object.keys(GENERATORS) as Language[]) {
    it.skipIf(lacking[language] !== undefined)(
      `${language} compiles the client of every service`,
      async () => {
        await expect(compile[language]()).resolves.toBeUndefined();
      },
      LIMIT_MS,
    );
  }
});
