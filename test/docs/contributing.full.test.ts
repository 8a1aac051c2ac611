import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

/** The section of the example, and each of its fences with the file that the paragraph before it names first. */
const [section = ''] = /^### Example: [\s\S]*?(?=^###? )/m.exec(read('CONTRIBUTING.md')) ?? [];
const fences = [...section.matchAll(/^\w[\w ]*, `([^`]+)`[\s\S]*?^```ts\n([\s\S]*?)^```$/gm)];

const squashed = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

test('example of a request has a row, a handler, a use case and a store', () => {
  expect(fences).toHaveLength(4);
  expect(section.match(/^```ts$/gm)).toHaveLength(4);
});

test.each(fences.map(([, file, code]) => [file!, code!]))(
  '%s has the code that the example shows',
  (file, code) => {
    expect(squashed(read(file))).toContain(squashed(code));
  },
);
