/** The command line: `npx --no-install touchstone <command>`, started by touchstone.cjs. */
import { keepCompiled } from './build/compile-cache.ts';
import { useProject } from './cli/strategy/project.ts';

keepCompiled();
useProject();
const { runProgram } = await import('./cli/program.ts');
await runProgram();
