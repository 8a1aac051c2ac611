import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createProgram, FAMILIES } from '../../bin/cli/program.ts';
import { runScript } from '../support/command.ts';

it('each family of commands defines exactly the commands that it names', async () => {
  for (const family of FAMILIES) {
    const { commands } = await createProgram([family]);
    expect(commands.map((command) => command.name())).toEqual(family.commands);
  }
});

it('command loads neither schemas, SDKs nor the engine before its first request', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-start-'));
  const list = join(folder, 'loaded');
  const hook = `import { registerHooks } from 'node:module';
    import { appendFileSync } from 'node:fs';
    registerHooks({ load(url, context, next) { appendFileSync(${JSON.stringify(list)}, url + '\\n'); return next(url, context); } });`;
  try {
    const { code } = await runScript(folder, 'bin/touchstone.ts', ['jobs', '--url', 'http://127.0.0.1:1'], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}`,
    });
    expect(code).toBe(1);
    const loaded = readFileSync(list, 'utf8');
    expect(loaded).toContain('/bin/cli/backtest.ts');
    expect(loaded).not.toMatch(
      /node_modules\/(zod|@aws-sdk|@smithy)\/|\/src\/(domain|engine|adapters)\/|cli\/registry/,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
