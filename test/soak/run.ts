/** Kills processes of a test platform under load and checks its guarantees: `npm run soak`. Linux only. */
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { soakPlatform } from './soak.ts';

const USAGE = `npm run soak -- [--kills <n>] [--seed <n>] [--keep]
  --kills  processes to kill; default 60
  --seed   chooses the load and the order of the kills; default a new one, which is printed
  --keep   keep the data folder; after a breach it is always kept`;

/** Maximum number of breaches that are printed. */
const SHOWN = 20;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const [kills, seed] = [values.kills, values.seed].map(Number) as [number, number];
if (values.help || !Number.isSafeInteger(seed) || !(kills >= 1)) {
  console.log(USAGE);
  process.exit(values.help ? 0 : 2);
}
if (process.platform !== 'linux') {
  console.error('The soak finds the processes to kill in /proc: run it on Linux.');
  process.exit(2);
}

console.log(`seed ${seed}, ${kills} kills: repeat with npm run soak -- --seed ${seed} --kills ${kills}`);
const keep = values.keep;
const result = await soakPlatform({ kills, seed, keep, onProgress: (text) => console.log(text) });
const table = new Table({ head: ['killed', 'times'], style: { head: [], border: [] } });
table.push(...Object.entries(result.kills).map(([victim, times]) => [victim, times]));
console.log(table.toString());
const ends = Object.entries(result.ends).map(([status, count]) => `${count} ${status}`);
console.log(`${result.jobs} jobs (${ends.join(', ')}), ${2 * result.trades} trades, ${result.starts} starts`);
for (const breach of result.breaches.slice(0, SHOWN)) console.log(`\n${breach}`);
if (keep || result.breaches.length > 0) console.log(`\nThe data folder is ${result.home}`);
console.log(`\n${result.breaches.length} breaches; seed ${seed}`);
process.exitCode = result.breaches.length > 0 ? 1 : 0;
