import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { stripStrategies } from '#adapters/definitions/stripped-sources.ts';
import { checkStrategyFolder, type SandboxGrants, sandboxArguments } from '#adapters/processes/sandbox.ts';
import { strippedFile, strippedSources } from '#adapters/processes/stripped-file.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'touchstone-sandbox-')));
const [folder, own] = [join(root, 'strategies'), join(root, 'own')];
for (const each of [folder, own]) mkdirSync(each);
writeFileSync(join(root, 'secret.json'), '{"key": 1}');
const database = new DatabaseSync(join(root, 'database.sqlite'));
database.exec('CREATE TABLE t (a)');
database.close();
afterAll(() => rmSync(root, { recursive: true }));

const TARGETS = {
  secret: join(root, 'secret.json'),
  database: join(root, 'database.sqlite'),
  outside: join(root, 'planted'),
  folder,
  own,
};

/** Output of Node running a file with these arguments and an empty environment. */
async function run(args: readonly string[], file: string, ...more: string[]): Promise<string> {
  const child: ChildProcess = spawn(process.execPath, ['--no-warnings', ...args, file, ...more], { env: {} });
  const [output, errors] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
  return output + errors;
}

const STRATEGY_FILES = join(import.meta.dirname, '../../src/adapters/strategies/strategy-files.ts');
const STRATEGY_ESCAPES = join(import.meta.dirname, 'fixtures/strategy-escapes.ts');
const ESCAPES = join(import.meta.dirname, 'fixtures/escapes.ts');
const granted = (grants: SandboxGrants) => sandboxArguments({ read: [ESCAPES], ...grants });

describe('sandboxed process', () => {
  it('every known escape is blocked', async () => {
    const output = await run(granted({ strategies: folder, write: [own] }), ESCAPES, JSON.stringify(TARGETS));
    expect(JSON.parse(output)).toEqual({ tried: 43, open: [] });
  });

  it('escapes succeed without the sandbox arguments', async () => {
    const only = [
      'read a file',
      'follow a link that it makes',
      'change folder',
      'open a database',
      'start a process',
    ];
    only.push('write a database', 'start a thread', 'use internals of processes', 'end another process');
    const output = await run([], ESCAPES, JSON.stringify({ ...TARGETS, only }));
    expect(new Set(JSON.parse(output).open)).toEqual(new Set(only));
  });

  it('process reads and writes only what it is granted, with its own environment only', async () => {
    const file = join(root, 'works.ts');
    writeFileSync(
      file,
      `const fs: any = process.getBuiltinModule('node:fs');
       fs.writeFileSync(${JSON.stringify(join(own, 'result'))}, fs.readFileSync(${JSON.stringify(TARGETS.secret)}));
       console.log(JSON.stringify(Object.keys(process.env)));`,
    );
    const output = await run(
      sandboxArguments({ strategies: folder, write: [own], read: [TARGETS.secret, file] }),
      file,
    );
    expect(JSON.parse(output)).toEqual([]);
    expect(readFileSync(join(own, 'result'), 'utf8')).toBe('{"key": 1}');
  });
});

describe('code in the strategy folder', () => {
  /** Output of a process that imports a strategy file with this source. */
  async function importing(code: string): Promise<string> {
    const file = join(folder, 'subject.ts');
    writeFileSync(file, code);
    const main = join(root, 'main.mjs');
    const load = `import(${JSON.stringify(pathToFileURL(file).href)})`;
    writeFileSync(main, `await ${load}.then((m) => console.log(m.default), (e) => console.log(e.message))`);
    return (await run(sandboxArguments({ strategies: folder, read: [main] }), main)).trim();
  }

  it('strategy imports the engine and its own folder', async () => {
    mkdirSync(join(folder, 'shared'), { recursive: true });
    writeFileSync(
      join(folder, 'shared/one.ts'),
      "import { sma } from '#engine/indicators/index.ts'; export const one = sma.name;",
    );
    expect(await importing("import { one } from './shared/one.ts'; export default one;")).toBe('sma');
  });

  it.each([
    ['a module of Node', "import 'node:fs';", 'node:fs'],
    ['a module of Node without its scheme', "import 'fs';", 'fs'],
    ['a package', "import 'zod';", 'zod'],
    ['other code of the project', "import '#adapters/ids.ts';", '#adapters/ids.ts'],
    [
      'other code of the project by a path',
      `import '${join(process.cwd(), 'src/adapters/ids.ts')}';`,
      'src/adapters/ids.ts',
    ],
    ['the engine by a relative path', "import '#engine/../adapters/ids.ts';", '#engine/../adapters/ids.ts'],
    ...['.\\t.', '.\\n.', '.\\r.', '%2e%2e', '.%2e', '.\\\\.'].map((up) => [
      `the engine by ${up}`,
      `await import('#engine/${up}/adapters/ids.ts');`,
      'may import only',
    ]),
    [
      'a package by the engine',
      "await import('#engine/.\\t./.\\t./n\\tode_modules/zod/index.js');",
      'may import only',
    ],
    ['a file next to the folder', "import '../main.mjs';", '../main.mjs'],
    ['a URL', "import 'https://example.org/x.js';", 'https://example.org/x.js'],
    ['a data URL', "import 'data:text/javascript,export default 1';", 'data:text/javascript'],
    ['at run time', "await import('node:' + 'fs');", 'node:fs'],
    ['CommonJS', "import './common.cjs';", './common.cjs'],
    ['CommonJS with types', "import './common.cts';", './common.cts'],
    ['a file of another kind', "import './notes.txt';", './notes.txt'],
    ['re-exported', "export * from 'node:fs';", 'node:fs'],
  ])('strategy import is rejected: %s', async (_, code, named) => {
    const output = await importing(`${code}\nexport default 'imported';`);
    expect(output).toContain('subject.ts');
    expect(output).toContain(named);
    expect(output).not.toContain('imported');
  });

  it('strategy cannot change what the engine exports', async () => {
    const code = `import { TIMEFRAME_MS } from '#engine/timeframe.ts';
      import * as engine from 'touchstone/engine';
      const changes = [() => { TIMEFRAME_MS['1h'] = 1; }, () => { engine.ema.call = () => 888; }];
      const worked = changes.filter((change) => { try { change(); return true; } catch { return false; } });
      export default [worked.length, TIMEFRAME_MS['1h'], engine.ema([1, 2, 3], 2).length].join();`;
    expect(await importing(code)).toBe('0,3600000,3');
  });

  it('file without imports and exports is no CommonJS module', async () => {
    writeFileSync(join(folder, 'common.ts'), "module.exports = { fs: module.constructor._load('fs') };");
    writeFileSync(join(folder, 'common.js'), "globalThis.found = module.constructor._load('fs');");
    for (const file of ['common.ts', 'common.js']) {
      expect(await importing(`import './${file}';\nexport default 'imported';`)).toBe(
        'module is not defined in ES module scope',
      );
    }
  });

  it('import out of the folder does not say whether the file exists', async () => {
    const tries = [
      '../secret.json',
      '../absent.json',
      './../secret.json',
      './%2e%2e/secret.json',
      `${root}/secret.json`,
    ];
    const said = await importing(
      `const said = async (path: string) => import(path).then(() => 'read', ({ code, message }) => [code, message.replaceAll(path, '')].join(' '));
       export default JSON.stringify(await Promise.all(${JSON.stringify(tries)}.map(said)));`,
    );
    const [first, ...others] = JSON.parse(said) as string[];
    expect(first).toContain('may import only');
    expect(new Set(others)).toEqual(new Set([first]));
  });

  it('every known escape of strategy code is blocked, after a reload too', async () => {
    writeFileSync(join(folder, 'escapes.ts'), readFileSync(STRATEGY_ESCAPES));
    const main = join(root, 'main.mjs');
    writeFileSync(
      main,
      `const { findStrategyFile } = await import(${JSON.stringify(STRATEGY_FILES)});
       const { definition, load } = await findStrategyFile('escapes', ${JSON.stringify(folder)});
       console.log(JSON.stringify([definition, await load()]));`,
    );
    const args = sandboxArguments({ strategies: folder, read: [main] });
    const blocked = { name: 'escapes', open: [], tried: 51 };
    expect(JSON.parse(await run(args, main))).toEqual([blocked, blocked]);
    const [outside] = JSON.parse(await run([], main));
    expect(outside.open).toHaveLength(outside.tried);
  });

  it.each([
    ['a class', "import { DrawdownScan as of } from '#engine/stats/drawdown.ts';", 'of.prototype.kept = 1;'],
    ['an array', "import { TIMEFRAMES as of } from 'touchstone/engine';", "of.push('2m');"],
    [
      'a built-in strategy',
      "import { buyAndHold as of } from '#engine/strategies/buy-and-hold.ts';",
      'of.signals = 1;',
    ],
    [
      'a function of another instance',
      "import { sma as of } from '#engine/indicators/index.ts?own';",
      'of.kept = 1;',
    ],
    [
      'a class of what it imports itself',
      "const { Order: of } = await import('#engine/simulator/state/order.ts#own');",
      'of.kept = 1;',
    ],
  ])('strategy cannot change what the engine exports: %s', async (_, imports, change) => {
    expect(await importing(`${imports}\n(of as any);\n${change}\nexport default 'changed';`)).toMatch(
      /^Cannot (add|assign)/,
    );
  });

  it('timers that a strategy leaves are counted, also those of its load', async () => {
    const file = join(folder, 'timers.ts');
    writeFileSync(
      file,
      `const ended = [setTimeout(() => {}, 1e6), setInterval(() => {}, 1e6), setImmediate(() => {})];
       clearTimeout(ended[0]); clearInterval(ended[1]); clearImmediate(ended[2]);
       setTimeout(() => {}, 0); setImmediate(() => {});
       const left = [setTimeout(() => {}, 1e6), setInterval(() => {}, 1)];
       export default left.length;`,
    );
    const main = join(root, 'timers.mjs');
    const globals = pathToFileURL(
      join(import.meta.dirname, '../../src/adapters/processes/strategy-globals.ts'),
    );
    writeFileSync(
      main,
      `import { strategyTimers } from ${JSON.stringify(globals.href)};
       import process from 'node:process';
       import { setTimeout } from 'node:timers/promises';
       const { default: left } = await import(${JSON.stringify(pathToFileURL(file).href)});
       await setTimeout(50);
       console.log(left, strategyTimers());
       process.exit();`,
    );
    expect(await run(sandboxArguments({ strategies: folder, read: [main] }), main)).toBe('2 2\n');
  });

  it.each([
    [
      'a function of JavaScript that throws',
      "setTimeout(JSON.parse, 0, '{')",
      'strategy: Expected property name',
    ],
    ['a class', 'setImmediate(Float64Array)', "strategy: Constructor Float64Array requires 'new'"],
    ['no function', 'setInterval(undefined as any)', 'The callback of a timer must be a function'],
  ])('timer with %s is an error of the strategy', async (_, code, said) => {
    const file = join(folder, 'calls.ts');
    writeFileSync(file, `${code};\nexport default 'set';`);
    const main = join(root, 'calls.mjs');
    const errors = pathToFileURL(
      join(import.meta.dirname, '../../src/adapters/processes/unhandled-errors.ts'),
    );
    writeFileSync(
      main,
      `import { catchUnhandledErrors } from ${JSON.stringify(errors.href)};
       import process from 'node:process';
       import { setTimeout } from 'node:timers/promises';
       const unhandled = catchUnhandledErrors(${JSON.stringify(folder)}, ({ message }) => console.log('own:', message));
       unhandled.blame('calls');
       try {
         await import(${JSON.stringify(pathToFileURL(file).href)});
         await setTimeout(50);
         unhandled.check();
       } catch ({ message }) {
         console.log(message.replace(/^.* in a timer or an unhandled promise/, 'strategy'));
       }
       process.exit();`,
    );
    expect(await run(sandboxArguments({ strategies: folder, read: [main] }), main)).toContain(said);
  });

  it('promise that a strategy rejects is its error, also one that looks like the platform', async () => {
    const file = join(folder, 'forged.ts');
    writeFileSync(
      file,
      `const stack = 'Error: full\\n    at write (node:fs:1:1)\\n    at file:///platform/src/adapters/store.ts:1:1';
       Promise.reject(Object.assign(new Error('full'), { errno: -28, code: 'ENOSPC', syscall: 'write', stack }));
       export default 'set';`,
    );
    const main = join(root, 'forged.mjs');
    const errors = pathToFileURL(
      join(import.meta.dirname, '../../src/adapters/processes/unhandled-errors.ts'),
    );
    writeFileSync(
      main,
      `import { catchUnhandledErrors, ofPlatform } from ${JSON.stringify(errors.href)};
       import process from 'node:process';
       import { setTimeout } from 'node:timers/promises';
       const own = [];
       const unhandled = catchUnhandledErrors(${JSON.stringify(folder)}, ({ message }) => own.push(message));
       unhandled.blame('forged');
       const full = () => void Promise.reject(Object.assign(new Error('disk full'), { errno: -28 }));
       const { store } = ofPlatform({ store: { write: full } });
       const said = [];
       await unhandled.run(async () => {
         store.write();
         await import(${JSON.stringify(pathToFileURL(file).href)});
         await setTimeout(20);
         try {
           unhandled.check();
         } catch ({ message }) {
           said.push(message);
         }
       });
       console.log(JSON.stringify([own, said]));
       process.exit();`,
    );
    const [own, said] = JSON.parse(await run(sandboxArguments({ strategies: folder, read: [main] }), main));
    expect(own).toEqual(['disk full']);
    expect(said).toEqual([
      expect.stringMatching(/^Strategy forged failed in a timer or an unhandled promise: .*full/),
    ]);
  });

  it('strategy imports another one only by the name that its digest covers', async () => {
    writeFileSync(join(folder, 'other.ts'), "export default 'imported';");
    expect(await importing("export { default } from './other.ts';")).toBe('imported');
    for (const path of ["'./oth' + 'er.ts'", "'./oth\\x65r.ts'", "'./oth%65r.ts'"]) {
      expect(await importing(`export default (await import(${path})).default;`)).toContain('may import only');
    }
    writeFileSync(join(folder, 'other.ts'), `export default 'imported';${' '.repeat(4 * 1024 * 1024)}`);
    expect(await importing("export { default } from './other.ts';")).toContain('may import only');
    rmSync(join(folder, 'other.ts'));
  });

  it('strategy imports no file that is too large for its digest', async () => {
    const data = join(folder, 'data.json');
    const source = "export { default } from './data.json' with { type: 'json' };";
    writeFileSync(data, '"read"');
    expect(await importing(source)).toBe('read');
    writeFileSync(data, `"read"${' '.repeat(64 * 1024 * 1024)}`);
    expect(await importing(source)).toContain('may import only');
    rmSync(data);
  });

  it('a file writes nothing by flags of V8', async () => {
    const flags = [
      '--log-all',
      `--logfile=${join(root, 'planted.log')}`,
      '--trace-turbo',
      `--trace-turbo-path=${root}`,
    ];
    const before = readdirSync(root).sort();
    const said = await importing(
      `(globalThis as any).process.getBuiltinModule('node:v8').setFlagsFromString(${JSON.stringify(flags.join(' '))});
       for (let i = 0, sum = 0; i < 1e6; i++) sum += i;
       export default 'set';`,
    );
    expect(said).not.toContain('set');
    // Nor does the platform's own code.
    const main = join(root, 'flags.mjs');
    writeFileSync(
      main,
      `import v8 from 'node:v8'; v8.setFlagsFromString(${JSON.stringify(flags.join(' '))}); console.log('set');`,
    );
    expect(await run(sandboxArguments({ strategies: folder, read: [main] }), main)).not.toContain('set\n');
    rmSync(main);
    expect(readdirSync(root).sort()).toEqual([...new Set([...before, 'main.mjs'])].sort());
  });
});

describe('type-stripped strategy sources', () => {
  const compiled = join(root, 'compiled');
  const kept = strippedSources(compiled);
  const source =
    "interface Row { close: number }\nexport default (row: Row): number => { throw new Error('here'); };\n";
  const typed = join(folder, 'typed.ts');
  const main = join(root, 'typed-main.mjs');
  const keptFile = () =>
    join(kept, strippedFile(createHash('sha256').update(readFileSync(typed)).digest('hex')));

  /** Output of a task that loads the file: the stack of its error. */
  async function load(): Promise<string> {
    writeFileSync(
      main,
      `const { default: run } = await import(${JSON.stringify(`${pathToFileURL(typed).href}?run=1`)});
       try { console.log(run()) } catch ({ stack }) { console.log(stack) }`,
    );
    return run(sandboxArguments({ strategies: folder, read: [main] }, compiled), main);
  }

  /** Replaces the code of the stored stripped source. */
  const forge = (code: string) => {
    const end = readFileSync(keptFile(), 'utf8').split('\n').slice(-2).join('\n');
    writeFileSync(keptFile(), `${code}\n${end}`);
  };

  beforeEach(async () => {
    rmSync(kept, { recursive: true, force: true });
    writeFileSync(typed, source);
    await stripStrategies(folder, kept);
  });

  it('task loads the stripped source with the lines and columns of the original', async () => {
    const without = await load();
    expect(without).toContain('typed.ts?run=1:2:46');
    expect(await run(sandboxArguments({ strategies: folder, read: [main] }), main)).toBe(without);
    forge("export default () => 'kept';");
    expect(await load()).toBe('kept\n');
  });

  it('stripped source is ignored when the original changed or the file is truncated', async () => {
    forge("export default () => 'kept';");
    writeFileSync(typed, `${source} `);
    expect(await load()).toContain('Error: here');
    writeFileSync(typed, source);
    writeFileSync(keptFile(), "export default () => 'cut';");
    expect(await load()).toContain('Error: here');
  });

  it('source with a syntax error is loaded and reported by the task', async () => {
    writeFileSync(typed, 'export default (: number) => 1;');
    await stripStrategies(folder, kept);
    expect(existsSync(keptFile())).toBe(false);
    expect(await load()).toContain('typed.ts');
  });

  it('task cannot write stripped sources', async () => {
    const path = JSON.stringify(join(kept, 'planted.js'));
    writeFileSync(
      main,
      `const fs = process.getBuiltinModule('node:fs');
       await import(${JSON.stringify(pathToFileURL(typed).href)});
       try { fs.writeFileSync(${path}, '') } catch ({ message }) { console.log(message) }`,
    );
    expect(await run(sandboxArguments({ strategies: folder, read: [main] }, compiled), main)).toContain(
      'Use --allow-fs-write',
    );
  });
});

describe('names of folders that tasks could not tell apart', () => {
  it.each(['desk-data', 'desk_2', 'desk.data'])('a platform does not start with desk and %s', (name) => {
    const [strategies, data] = ['desk', name].map((each) => join(root, 'named', each)) as [string, string];
    for (const each of [strategies, data]) mkdirSync(each, { recursive: true });
    expect(() => checkStrategyFolder(strategies, data)).toThrow(
      `Tasks cannot read the strategy folder ${strategies}, because the path ${data} begins with its name. Rename one of them`,
    );
    // The other way round, beside each other, and one within the other.
    checkStrategyFolder(data, strategies);
    checkStrategyFolder(join(root, 'named'), data);
    checkStrategyFolder(join(root, 'named', 'absent'), data);
  });
});
