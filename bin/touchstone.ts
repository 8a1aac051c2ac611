#!/usr/bin/env node
/** The command line: `npx touchstone <command>`. */
import { keepCompiled } from './compile-cache.ts';

keepCompiled();
const { runProgram } = await import('./cli/program.ts');
await runProgram();
