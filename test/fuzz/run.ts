/** Starts platforms and fuzzes them by the OpenAPI documents that they serve: `npm run fuzz`. */
import { parseArgs } from 'node:util';
import { type FuzzResult, fuzzPlatform } from './fuzz.ts';
import { countsTable, describeBreach, neverSucceeded } from './report.ts';

const USAGE = `npm run fuzz -- [--seed <n>] [--requests <n>] [--operation <id>]
  --seed       repeats a run; default a new one, which is printed
  --requests   to both platforms together; default 6000
  --operation  only this operation, by its operationId`;

/** Number of breaches printed in full. */
const SHOWN = 20;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    requests: { type: 'string', default: '6000' },
    operation: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const [seed, requests] = [values.seed, values.requests].map(Number) as [number, number];
if (values.help || !Number.isSafeInteger(seed) || !(requests >= 1)) {
  console.log(USAGE);
  process.exit(values.help ? 0 : 2);
}

console.log(
  `seed ${seed}, ${requests} requests: repeat with npm run fuzz -- --seed ${seed} --requests ${requests}`,
);
const results: FuzzResult[] = [];
// The second platform requires tokens.
for (const [enforced, share] of [
  [false, 0.55],
  [true, 0.45],
] as const) {
  results.push(await fuzz(enforced, Math.ceil(requests * share)));
}
console.log(`\n${countsTable(results)}`);
const unreached = neverSucceeded(results);
if (unreached.length > 0) console.log(`Never succeeded: ${unreached.join(', ')}`);
const breaches = results.flatMap((result) => result.breaches);
for (const breach of breaches.slice(0, SHOWN)) console.log(`\n${describeBreach(breach)}`);
const ailments = results.flatMap((result) => result.ailments);
for (const ailment of ailments.slice(0, SHOWN)) console.log(`\n${ailment}`);
const sent = results.reduce((sum, result) => sum + result.requests, 0);
console.log(
  `\n${sent} requests, ${breaches.length} breaches, ${ailments.length} ailments of the platforms; seed ${seed}`,
);
process.exitCode = breaches.length + ailments.length > 0 ? 1 : 0;

async function fuzz(enforced: boolean, share: number): Promise<FuzzResult> {
  const name = enforced ? 'tokens enforced' : 'tokens optional';
  let next = share / 10;
  const result = await fuzzPlatform(enforced, {
    seed: enforced ? seed + 1 : seed,
    requests: share,
    operation: values.operation,
    onProgress: (done, found) => {
      if (done < next) return;
      next += share / 10;
      console.log(`${name}: ${done} of ${share} requests, ${found} breaches`);
    },
  });
  const { before, after } = result.memoryMb;
  console.log(`${name}: memory ${before} MB before, ${after} MB after`);
  return result;
}
