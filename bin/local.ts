/** Runs Touchstone in local mode: `npm start`, which is `touchstone start`. */
import { keepCompiled } from './build/compile-cache.ts';

keepCompiled();
process.argv.splice(2, 0, 'start');
const { runProgram } = await import('./cli/program.ts');
await runProgram();
