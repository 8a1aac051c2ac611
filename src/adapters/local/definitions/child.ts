/**
 * Program of a definition process: loads one strategy file and writes what it defines, or what is wrong with it. Then it
 * returns startup candles for each line of parameters on standard input.
 * Code of the strategy shares this process: the platform believes none of its replies without a check.
 */
import { readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { startupCandles } from '#engine/run/history.ts';
import { defaultParameters } from '#engine/strategies/parameters.ts';
import { definitionData, definitionProblems } from '#engine/strategies/validate-definition.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { errorText, lineNaming, placeIn } from './error-place.ts';
import { MAX_ERROR, MAX_REPLY, REPLY_FD } from './limits.ts';

const [folder, file] = process.argv.slice(2) as [string, string];
const { stringify } = JSON;

function reply(value: unknown): void {
  writeSync(REPLY_FD, `${stringify(value)}\n`);
}

/** The definition, if it is sound; otherwise what is wrong with it was written. */
async function load(): Promise<StrategyDefinition | undefined> {
  const source = readFileSync(join(folder, file), 'utf8');
  const refuse = (error: string, line: number | null) => reply({ error: error.slice(0, MAX_ERROR), line });
  try {
    const { default: definition } = await import(pathToFileURL(join(folder, file)).href);
    if (definition === undefined || definition === null) {
      refuse('it has no default export; write export default defineStrategy({...})', null);
      return undefined;
    }
    const problems = definitionProblems(definition);
    if (problems.length > 0) {
      refuse(problems.join('; '), lineNaming(source, problems[0]!));
      return undefined;
    }
    const startup = startupCandles(definition, defaultParameters(definition.parameters));
    const loaded = { definition: definitionData(definition), startup };
    const { length } = stringify(loaded);
    if (length > MAX_REPLY) {
      refuse(`its data is too large: ${length} characters of JSON, at most ${MAX_REPLY}`, null);
      return undefined;
    }
    reply(loaded);
    return definition;
  } catch (thrown) {
    const { line, elsewhere } = placeIn(thrown, folder, file, source);
    const text = errorText(thrown)
      .replaceAll(`${folder}/`, '')
      .slice(0, MAX_ERROR - 200);
    refuse(elsewhere ? `${text} (${elsewhere})` : text, line);
    return undefined;
  }
}

function answer(definition: StrategyDefinition, line: string): void {
  const { id, params } = JSON.parse(line);
  try {
    reply({ id, startup: startupCandles(definition, params) });
  } catch (thrown) {
    reply({ id, error: errorText(thrown).slice(0, MAX_ERROR) });
  }
}

const definition = await load();
if (!definition) process.exit();
for await (const line of createInterface({ input: process.stdin })) answer(definition, line);
process.exit();
