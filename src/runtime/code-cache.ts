/**
 * Starts a bundled program from V8's code cache: the compiled functions of an earlier run, in the file `<program>.cache`. Node's
 * own compile cache has only the functions that are compiled while modules load. See
 * docs/decisions/093-a-code-cache-of-the-backtest-task.md.
 *
 * The file is code. Only {@link recordProgram} writes it, which runs trusted code alone, and tasks cannot write to its folder.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import v8 from 'node:v8';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

/** V8's version, flags and processor; checksums of the program and of the code. V8 itself compares no content. */
const HEADER_BYTES = 12;

const cacheOf = (file: string) => file.replace(/\.cjs$/, '.cache');
/** Bundles are ASCII, which is read faster as Latin-1. */
const readSource = (file: string) => readFileSync(file, 'latin1');

function headerOf(source: string, code: Uint8Array): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  [v8.cachedDataVersionTag(), crc32(source), crc32(code)].forEach((value, index) => {
    header.writeUInt32LE(value, 4 * index);
  });
  return header;
}

/** The program as the function that Node makes of a CommonJS module. */
function scriptOf(file: string, source: string, cachedData?: Buffer): Script {
  const text = `(function (exports, require, module, __filename, __dirname) {${source}\n})`;
  return new Script(text, { filename: file, ...(cachedData && { cachedData }) });
}

/** Script with the code that a run on this version of Node and such a processor has recorded; undefined without any. */
function recordedScript(file: string): Script | undefined {
  try {
    const bytes = readFileSync(cacheOf(file));
    const code = bytes.subarray(HEADER_BYTES);
    const source = readSource(file);
    if (!headerOf(source, code).equals(bytes.subarray(0, HEADER_BYTES))) return undefined;
    const script = scriptOf(file, source, code);
    return script.cachedDataRejected ? undefined : script;
  } catch {
    return undefined;
  }
}

function evaluate<Exports>(file: string, script: Script): Exports {
  const module = { exports: {} as Exports };
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file));
  return module.exports;
}

/** True if {@link loadProgram} would use the program's code cache in a process with the flags of this one. */
export const hasCode = (file: string): boolean => recordedScript(file) !== undefined;

/**
 * Evaluates a bundled CommonJS program (`.cjs`) and returns its exports. Without a code cache that fits this process it is
 * compiled as any module. A program from the cache cannot call `import()`.
 */
export function loadProgram<Exports>(file: string): Exports {
  const script = recordedScript(file);
  return script ? evaluate(file, script) : createRequire(file)(file);
}

/**
 * Evaluates a program as {@link loadProgram} does. The functions that the process has compiled until it exits, or loaded from the
 * cache, become the code cache. The process must run trusted code only.
 */
export function recordProgram<Exports>(file: string): Exports {
  const source = readSource(file);
  const script = recordedScript(file) ?? scriptOf(file, source);
  process.once('exit', (status) => {
    if (status !== 0) return;
    const code = script.createCachedData();
    const draft = `${cacheOf(file)}.${process.pid}`;
    writeFileSync(draft, Buffer.concat([headerOf(source, code), code]));
    renameSync(draft, cacheOf(file));
  });
  return evaluate(file, script);
}
