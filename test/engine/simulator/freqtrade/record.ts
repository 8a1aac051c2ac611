import { writeFileSync } from 'node:fs';
import { pythonWith } from '../../../support/python.ts';
import { startFreqtrade } from './freqtrade.ts';
import { RECORDS } from './recorded.ts';

/** Records what freqtrade makes of the random scenarios: `npm run record-freqtrade`, or `-- 100` for so many. */

const SCENARIOS = Number(process.argv[2] ?? 360);

const found = await pythonWith('bench/support/freqtrade/requirements.txt');
if ('missing' in found) throw new Error(found.missing);
const freqtrade = startFreqtrade(found.python);
const lines: string[] = [];
for (let seed = 1; seed <= SCENARIOS; seed++) lines.push(JSON.stringify(await freqtrade.record(seed)));
freqtrade.stop();
writeFileSync(RECORDS, `${lines.join('\n')}\n`);
