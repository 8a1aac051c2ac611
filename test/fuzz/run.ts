/** Starts platforms and lets schemathesis fuzz them by the OpenAPI documents that they serve: `npm run fuzz`. */
import { parseArgs } from 'node:util';
import { pythonWith } from '../support/python.ts';
import { fuzzPlatform, neverSucceeded, REQUIREMENTS, requestsOf } from './fuzz.ts';

const USAGE = `npm run fuzz -- [--seed <n>] [--seconds <n>] [--examples <n>] [--phases <list>] [--operation <id>]
  --seed       makes the same values again; default a new one, which is printed
  --seconds    of requests to each of the two platforms; default 600
  --examples   requests per operation; default 30
  --phases     of schemathesis: examples, coverage, fuzzing, stateful; default examples,fuzzing
  --operation  only this operation, by its operationId`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    seconds: { type: 'string', default: '600' },
    examples: { type: 'string', default: '30' },
    phases: { type: 'string', default: 'examples,fuzzing' },
    operation: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const { phases, operation } = values;
const [seed, seconds, examples] = [values.seed, values.seconds, values.examples].map(Number) as [
  number,
  number,
  number,
];
if (values.help || !Number.isSafeInteger(seed) || !(seconds >= 1) || !(examples >= 1)) {
  console.log(USAGE);
  process.exit(values.help ? 0 : 2);
}
const found = await pythonWith(REQUIREMENTS);
if ('missing' in found) {
  console.error(`Fuzzing needs Python. ${found.missing}.`);
  process.exit(1);
}
console.log(`seed ${seed}: repeat with npm run fuzz -- --seed ${seed} --examples ${examples}`);
for (const auth of [false, true]) {
  console.log(`\nTokens ${auth ? 'required' : 'optional'}`);
  const result = await fuzzPlatform(found.bin, auth, { seed, seconds, examples, phases, operation });
  console.log(result.report);
  console.log(
    `${requestsOf(result)} requests. Never succeeded: ${neverSucceeded(result).join(', ') || 'none'}`,
  );
  if (!result.passed) process.exitCode = 1;
}
