/** A backtest from request to report: `npm run demo`, which is `touchstone demo`. */
import { keepCompiled } from './build/compile-cache.ts';

keepCompiled();
process.argv.splice(2, 0, 'demo');
const { runProgram } = await import('./cli/program.ts');
await runProgram();
