import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { runScript } from '../support/command.ts';

it('each registry command has help', async () => {
  const names = ['register', 'stage', 'promote', 'rollback', 'versions', 'compare'];
  const responses = await Promise.all(
    names.map((name) => runScript(tmpdir(), 'bin/touchstone.ts', [name, '--help'])),
  );
  for (const [index, name] of names.entries()) {
    const { code, out } = responses[index]!;
    expect([code, out]).toEqual([0, expect.stringMatching(new RegExp(`Usage: touchstone ${name} .*<`))]);
  }
});
