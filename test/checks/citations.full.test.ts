import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const CHECK = join(import.meta.dirname, '../../bin/check/citations.ts');

/** What citations of the planted files may name. */
const EXISTING = {
  'README.md':
    '# Title\n\n[Rules](docs/rules.md#order-of-events), [here](#title)\n\n```sh\ncat docs/none.md\n```\n',
  'docs/rules.md':
    '# Rules\n\n## Order of `events`\n\nAs [decided](decisions/001-one-clock.md). A stake of (1.5).\n',
  'docs/decisions/001-one-clock.md': '# 001 One clock\n',
  'src/engine/loop.ts': "export const path = 'src/none.ts';\n",
  'test/loop.test.ts': '',
};

/** What a comment cites, and the comment. */
const ACCEPTED: readonly (readonly [cited: string, comment: string])[] = [
  ['files', '// See src/engine/loop.ts, engine/loop.ts, loop.ts and docs/rules.md.'],
  ['folders', '// See src/engine/ and src/engine/*.ts.'],
  ['a test without its ending', '// See test/loop.'],
  ['a heading', '/** docs/rules.md#order-of-events */'],
  ['decisions', '// Decision 001, docs/decisions/001, docs/decisions/001-one-clock.md.'],
  ['a standard', '// RFC 9110, section 5.6.1.'],
  ['addresses', '// github.com/a/b/c.md, https://a.org/src/c.md'],
  ['numbers', '// Half of it: 0.5, or (0.25).'],
];

/** What a comment cites, the comment, and the problem that is reported after its line. */
const REJECTED: readonly (readonly [cited: string, comment: string, problem: string])[] = [
  ['a missing file', '// See src/engine/loops.ts.', '1: src/engine/loops.ts does not exist'],
  ['a missing end of a path', '/** See loop/loop.ts. */', '1: loop/loop.ts does not exist'],
  ['a missing folder', '/**\n * Two\n * lines: src/engines.\n */', '3: src/engines does not exist'],
  ['a missing heading', '// docs/rules.md#events', '1: docs/rules.md has no heading #events'],
  ['a missing decision', '// Decision 002 says why.', '1: docs/decisions/002 does not exist'],
  ['the path of a missing decision', '// Why: docs/decisions/003.', '1: docs/decisions/003 does not exist'],
  ['a reference', '// The order of reference 3.1.', '1: "reference 3.1" is not in the repository'],
  [
    'a release',
    '/** As in (reference 2026.9, 1.0). */',
    '1: "reference 2026.9, 1.0" is not in the repository',
  ],
  ['over two lines', '/**\n * Of the reference\n * 4.\n */', '2: "reference 4" is not in the repository'],
  ['a section', '// By section 4 of the reference.', '1: "section 4" is not in the repository'],
  ['a design', '// The model of design section 6.', '1: "design section 6" is not in the repository'],
  ['rules', '// See freqtrade rules 1.7 to 1.9.', '1: "rules 1.7" is not in the repository'],
  ['a number', '/** The slots in their order (1.14). */', '1: "1.14" is not in the repository'],
  ['a document', '// By freqtrade-2026.md.', '1: freqtrade-2026.md does not exist'],
];

/** What a page cites, the page, and the problem that is reported after its line. */
const PAGES: readonly (readonly [cited: string, text: string, problem: string])[] = [
  ['a missing page', '[rules](rule.md)', '1: rule.md does not exist'],
  ['a missing heading', '[rules](rules.md#none)', '1: docs/rules.md has no heading #none'],
  ['a missing heading of its own', '# Page\n\n[above](#pages)', '3: docs/2.md has no heading #pages'],
  ['a missing path', 'The loop is `src/engine/loop.js`.', '1: src/engine/loop.js does not exist'],
  ['a missing name', 'The loop is in `lop.ts` there.', '1: lop.ts does not exist'],
  ['a section', 'By section 4 of the reference.', '1: "section 4" is not in the repository'],
];

const codeOf = (comment: string) => `${comment}\nexport const a = 1;\n`;

let folder: string;
let lines: string[];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'touchstone-citations-'));
  const files: Readonly<Record<string, string>> = {
    ...EXISTING,
    ...Object.fromEntries(ACCEPTED.map(([, comment], n) => [`src/accepted/${n}.ts`, codeOf(comment)])),
    ...Object.fromEntries(REJECTED.map(([, comment], n) => [`src/rejected/${n}.ts`, codeOf(comment)])),
    ...Object.fromEntries(PAGES.map(([, text], n) => [`docs/${n}.md`, text])),
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const script = `import(${JSON.stringify(CHECK)}).then(({ citationProblems }) =>
    console.log(citationProblems(${JSON.stringify(Object.keys(files))}).join('\\n')))`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], { cwd: folder, encoding: 'utf8' });
  expect(stderr).toBe('');
  lines = stdout.trim().split('\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const linesOf = (file: string) => lines.filter((line) => line.startsWith(`${file}:`));
const indexed = <T extends readonly unknown[]>(rows: readonly T[]) =>
  rows.map((row, n) => [n, ...row] as const);

test.each(Object.keys(EXISTING))('citation check accepts %s', (file) => {
  expect(linesOf(file)).toEqual([]);
});

test.each(indexed(ACCEPTED))('citation check accepts comment %i, which cites %s', (n) => {
  expect(linesOf(`src/accepted/${n}.ts`)).toEqual([]);
});

test.each(indexed(REJECTED))(
  'citation check reports comment %i, which cites %s',
  (n, _cited, _comment, problem) => {
    expect(linesOf(`src/rejected/${n}.ts`)).toEqual([`src/rejected/${n}.ts:${problem}`]);
  },
);

test.each(indexed(PAGES))('citation check reports page %i, which cites %s', (n, _cited, _text, problem) => {
  expect(linesOf(`docs/${n}.md`)).toEqual([`docs/${n}.md:${problem}`]);
});
