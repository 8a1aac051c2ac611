/**
 * The file of the bundled backtest task that Node runs, next to its program: `node backtest.mjs`. With `--record-code` as the
 * argument it writes the program's code cache at its end: only for jobs of built-in strategies. With `--has-code` it exits with code 0
 * if there is a code cache for a process with the flags of this one.
 */
import { dirname, join } from 'node:path';
import { importModule } from '#adapters/strategies/import-module.ts';
import { hasCode, loadProgram, recordProgram } from '#runtime/code-cache.ts';

interface Program {
  readonly run: (importer: typeof importModule) => Promise<void>;
}

/** Not by `import.meta`, which the bundle of local mode replaces by addresses of the sources. */
const file = join(dirname(process.argv[1]!), 'backtest.cjs');
const [, , action] = process.argv;
if (action === '--has-code') process.exit(hasCode(file) ? 0 : 1);
const program: Program = action === '--record-code' ? recordProgram(file) : loadProgram(file);
await program.run(importModule);
