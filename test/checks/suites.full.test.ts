import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf, passOf, SUITES } from '../suites/suites.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('digest of the sources of a suite', () => {
  const root = mkdtempSync(join(tmpdir(), 'touchstone-suites-'));
  const write = (file: string, content: string) => writeFileSync(join(root, file), content);
  const digest = () => digestOf({ sources: ['tested', 'tool.json'] }, root);
  beforeAll(() => {
    mkdirSync(join(root, 'tested'));
    mkdirSync(join(root, 'other'));
    write('tested/a.ts', 'one');
    write('tool.json', '1.0.0');
    write('.gitignore', '*.log');
    execFileSync('git', ['init', '--quiet'], { cwd: root });
  });
  afterAll(() => rmSync(root, { recursive: true }));

  it('changes with every byte, name and new file below the sources', () => {
    const digests = [digest()];
    const changes: [string, string][] = [
      ['tested/a.ts', 'two'],
      ['tool.json', '1.0.1'],
      ['tested/b.ts', ''],
    ];
    for (const [file, content] of changes) {
      write(file, content);
      digests.push(digest());
    }
    rmSync(join(root, 'tested/b.ts'));
    write('tested/c.ts', '');
    digests.push(digest());
    expect(new Set(digests).size).toBe(digests.length);
  });

  it('stays with other files and with those that git ignores', () => {
    const before = digest();
    write('other/a.ts', 'one');
    write('tested/run.log', 'a line');
    expect(digest()).toBe(before);
  });

  it('is unknown outside of a git repository, so that the suite runs', () => {
    rmSync(join(root, '.git'), { recursive: true });
    expect(digest()).toBeUndefined();
  });
});

describe.each(SUITES)('suite $name', (suite) => {
  it('names sources that exist', () => {
    expect(suite.sources.filter((source) => !existsSync(join(ROOT, source)))).toEqual([]);
  });

  it('counts as passed with the digest of the present sources only', () => {
    const pass = { digest: digestOf(suite)!, date: '2026-01-02' };
    expect(passOf(suite, { [suite.name]: pass })).toEqual(pass);
    expect(passOf(suite, { [suite.name]: { ...pass, digest: '0123456789abcdef' } })).toBeUndefined();
    expect(passOf(suite, {})).toBeUndefined();
  });
});
