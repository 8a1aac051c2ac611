/**
 * Program of a definition process. It loads one strategy file and writes the definition or the error. Then it returns startup
 * candles for each line of parameters on standard input. Strategy code runs in this process, so the platform validates every
 * reply.
 */
import { readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { defaultParameters } from '#engine/definitions/parameters.ts';
import { definitionData, definitionProblems } from '#engine/definitions/validate-definition.ts';
import { startupCandles } from '#engine/run/history.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { MAX_ERROR, MAX_REPLY, REPLY_FD } from './limits.ts';

const [folder, file] = process.argv.slice(2) as [string, string];
const { stringify } = JSON;

function reply(value: unknown): void {
  writeSync(REPLY_FD, `${stringify(value)}\n`);
}

/** Loads and reports the definition. Undefined when the definition is not valid: the error is reported then. */
async function load(): Promise<StrategyDefinition | undefined> {
  const source = readFileSync(join(folder, file), 'utf8');
  const reject = (error: string, line: number | null) => reply({ error: error.slice(0, MAX_ERROR), line });
  try {
    const { default: definition } = await import(pathToFileURL(join(folder, file)).href);
    if (definition === undefined || definition === null) {
      reject('it has no default export; write export default defineStrategy({...})', null);
      return undefined;
    }
    const problems = definitionProblems(definition);
    if (problems.length > 0) {
      reject(problems.join('; '), lineNaming(source, problems[0]!));
      return undefined;
    }
    const startup = startupCandles(definition, defaultParameters(definition.parameters));
    const loaded = { definition: definitionData(definition), startup };
    const { length } = stringify(loaded);
    if (length > MAX_REPLY) {
      reject(`its data is too large: ${length} characters of JSON, at most ${MAX_REPLY}`, null);
      return undefined;
    }
    reply(loaded);
    return definition;
  } catch (thrown) {
    const { line, elsewhere } = placeIn(thrown, folder, file, source);
    const text = errorText(thrown)
      .replaceAll(`${folder}/`, '')
      .slice(0, MAX_ERROR - 200);
    reject(elsewhere ? `${text} (${elsewhere})` : text, line);
    return undefined;
  }
}

function handleRequest(definition: StrategyDefinition, line: string): void {
  const { id, params } = JSON.parse(line);
  try {
    reply({ id, startup: startupCandles(definition, params) });
  } catch (thrown) {
    reply({ id, error: errorText(thrown).slice(0, MAX_ERROR) });
  }
}

function errorText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

interface ErrorPlace {
  /** Line of the strategy file, from 1; null when unknown. */
  readonly line: number | null;
  /** `file:line` of another file in the folder where the error was thrown. */
  readonly elsewhere?: string;
}

/**
 * Position of an error that was thrown while `file` in `folder` was loaded. Syntax errors have it in the first line of their
 * stack, other errors in their frames. For an unresolved import the source is searched.
 */
function placeIn(thrown: unknown, folder: string, file: string, source: string): ErrorPlace {
  const stack = thrown instanceof Error ? String(thrown.stack) : '';
  const places = stack.split('\n').flatMap((line) => {
    const start = line.indexOf(`${folder}/`);
    const found = start >= 0 && /^(.+?\.ts):(\d+)/.exec(line.slice(start + folder.length + 1));
    return found ? [{ file: found[1]!, line: Number(found[2]) }] : [];
  });
  const [first] = places;
  const own =
    places.find((place) => place.file === file)?.line ??
    lineOfImport(first?.file ?? quotedPath(errorText(thrown)), source);
  if (!first || first.file === file) return { line: own };
  return { line: own, elsewhere: `${first.file}:${first.line}` };
}

/** Path that the error of an import quotes. */
function quotedPath(text: string): string {
  const [, missing, rejected] = /Cannot find (?:module|package) '([^']+)'|imports "([^"]+)"/.exec(text) ?? [];
  return missing ?? rejected ?? '';
}

/** Line that imports a file of that path. */
function lineOfImport(path: string, source: string): number | null {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const imports = (line: string) => /\b(import|from)\b/.test(line) && line.includes(name);
  return name === '' ? null : lineMatching(source, imports);
}

/** Line of the field with which the problem of a definition begins; else the line of the export. */
function lineNaming(source: string, problem: string): number | null {
  const [path = ''] = /^[\w.]+/.exec(problem) ?? [];
  const field = path.slice(path.lastIndexOf('.') + 1);
  const ofField = field && lineMatching(source, (line) => declares(line, field));
  return ofField || lineMatching(source, (line) => /^\s*export\s+default\b/.test(line));
}

/** True if the line declares the field: its name, quoted or not, before `:`, `(` or `,`. */
function declares(line: string, field: string): boolean {
  for (let at = line.indexOf(field); at >= 0; at = line.indexOf(field, at + 1)) {
    const [before = ' ', after = ''] = [line[at - 1], line.slice(at + field.length)];
    const [next = ''] = after.replace(/^['"]/, '').trimStart();
    if (!/[\w.$]/.test(before) && [':', '(', ','].includes(next)) return true;
  }
  return false;
}

function lineMatching(source: string, matches: (line: string) => boolean): number | null {
  const index = source.split('\n').findIndex(matches);
  return index < 0 ? null : index + 1;
}

const definition = await load();
if (!definition) process.exit();
for await (const line of createInterface({ input: process.stdin })) handleRequest(definition, line);
process.exit();
